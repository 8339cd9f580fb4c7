//! How a registry wants to be told who asks, and the token that its service gives for it
//! (distribution specification, "token authentication"; OAuth 2 for a refresh token).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use url::form_urlencoded::Serializer;

use crate::marketplace::fetch::http::{Send, send};
use crate::marketplace::fetch::{Class, Failure, Permitted, Tool};
use crate::marketplace::reference::WebUrl;
use crate::marketplace::registry::credentials::Credentials;

/// The most that a token service answers with, in bytes; some tokens have 10 KB.
const TOKEN: u64 = 256 * 1024;
/// What this program calls itself to a token service.
const CLIENT: &str = "agent-skills";

#[derive(Deserialize)]
struct Answer {
    token: Option<String>,
    access_token: Option<String>,
}

/// The `Authorization` header that a registry asks for in these `WWW-Authenticate` headers, by a token
/// if it takes one; `None` if it wants a password and there is none. `scope` is what we are going to
/// do, and not what the registry proposes.
///
/// # Errors
/// When the token service cannot be asked, or gives no token.
pub fn authorization<'h>(
    tool: &Tool,
    registry: &Permitted,
    asked: impl Iterator<Item = &'h str>,
    scope: &str,
    credentials: Option<&Credentials>,
) -> Result<Option<String>, Failure> {
    let (mut takes_password, mut realm, mut service) = (false, None, None);
    for header in asked {
        let (scheme, rest) = header.split_once(' ').unwrap_or((header, ""));
        takes_password |= scheme.eq_ignore_ascii_case("basic");
        if scheme.eq_ignore_ascii_case("bearer") && realm.is_none() {
            let mut fields = fields(rest);
            (realm, service) = (fields.remove("realm"), fields.remove("service"));
        }
    }
    let password = match credentials {
        Some(Credentials::Password(user, password)) => {
            let both = STANDARD.encode(format!("{user}:{password}"));
            Some(format!("Authorization: Basic {both}"))
        }
        _ => None,
    };
    let Some(realm) = realm else {
        return Ok(password.filter(|_| takes_password));
    };
    let mut query = Serializer::new(String::new());
    query.append_pair("scope", scope);
    if let Some(service) = &service {
        query.append_pair("service", service);
    }
    let mut form = None;
    if let Some(Credentials::Refresh(token)) = credentials {
        query.append_pair("grant_type", "refresh_token");
        query.append_pair("client_id", CLIENT);
        query.append_pair("refresh_token", token);
        form = Some(query.finish());
    }
    let address = if form.is_some() {
        realm
    } else {
        let join = if realm.contains('?') { '&' } else { '?' };
        format!("{realm}{join}{}", query.finish())
    };
    let url = registry.named(WebUrl::parse(&address)?)?;
    let sent = form.as_deref().map_or(Send::Get, Send::Form);
    let headers: Vec<String> = password.into_iter().collect();
    let host = format!("the token service {}", url.url().host());
    let body = send(tool, &url, sent, &headers, TOKEN)?.expect(&host, "a token")?;
    let answer: Option<Answer> = serde_json::from_slice(&body).ok();
    let token = answer.and_then(|answer| answer.token.or(answer.access_token));
    let is_plain =
        |token: &String| !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic());
    let no_token = || Failure::new(Class::Other, format!("{host} gives no token"));
    let token = token.filter(is_plain).ok_or_else(no_token)?;
    Ok(Some(format!("Authorization: Bearer {token}")))
}

/// `key="value"` or `key=value`, separated by commas.
fn fields(mut text: &str) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    while let Some((key, rest)) = text.split_once('=') {
        let key = key.trim_matches([' ', ',']).to_ascii_lowercase();
        let (value, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(',').unwrap_or((rest, "")),
        };
        fields.insert(key, value.trim().to_owned());
        text = after;
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_challenge_are_read() {
        let found =
            fields("realm=\"https://a.org/t?x=1\", service=\"r,x\",scope=\"a:b:pull,push\"");
        assert_eq!(found["realm"], "https://a.org/t?x=1");
        assert_eq!(found["service"], "r,x");
        assert_eq!(fields("realm=x")["realm"], "x");
        for none in ["", "realm", "service=\"x\""] {
            assert!(!fields(none).contains_key("realm"), "{none}");
        }
    }
}
