//! How a registry wants to be told who asks: its challenge, and the token that its service gives for
//! it (distribution specification, "token authentication"; OAuth 2 for a refresh token).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use crate::marketplace::fetch::{Class, Failure, Permitted, Tool};
use crate::marketplace::registry::credentials::Credentials;
use crate::marketplace::registry::http::{Request, Send, send};

/// The most that a token service answers with, in bytes; some tokens have 10 KB.
const TOKEN: u64 = 256 * 1024;
/// What this program calls itself to a token service.
const CLIENT: &str = "agent-skills";

/// What a registry asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Challenge {
    /// User and password with each request.
    Basic,
    /// A token of the service at `realm`.
    Bearer {
        /// The address of that service.
        realm: String,
        /// What the registry is called there.
        service: Option<String>,
    },
}

#[derive(Deserialize)]
struct Answer {
    token: Option<String>,
    access_token: Option<String>,
}

impl Challenge {
    /// The challenge in `WWW-Authenticate` headers; a token is preferred.
    pub fn find<'h>(headers: impl Iterator<Item = &'h str>) -> Option<Self> {
        let mut basic = None;
        for header in headers {
            let (scheme, rest) = header.split_once(' ').unwrap_or((header, ""));
            if scheme.eq_ignore_ascii_case("bearer") {
                let mut fields = fields(rest);
                if let Some(realm) = fields.remove("realm") {
                    let service = fields.remove("service");
                    return Some(Self::Bearer { realm, service });
                }
            } else if scheme.eq_ignore_ascii_case("basic") {
                basic = Some(Self::Basic);
            }
        }
        basic
    }

    /// The `Authorization` header that answers it; `None` if it wants a password and there is none.
    /// `scope` is what we are going to do, and not what the registry proposes.
    ///
    /// # Errors
    /// When the service cannot be asked, or gives no token.
    pub fn answer(
        &self,
        tool: &Tool,
        registry: &Permitted,
        scope: &str,
        credentials: Option<&Credentials>,
    ) -> Result<Option<String>, Failure> {
        let (realm, service) = match (self, credentials) {
            (Self::Bearer { realm, service }, _) => (realm, service.as_deref()),
            (Self::Basic, Some(Credentials::Password(user, password))) => {
                return Ok(Some(basic(user, password)));
            }
            (Self::Basic, _) => return Ok(None),
        };
        let realm = registry.named(realm)?;
        let mut query = format!("scope={}", encoded(scope));
        if let Some(service) = service {
            query += "&service=";
            query += &encoded(service);
        }
        let mut headers = Vec::new();
        let mut form = None;
        match credentials {
            Some(Credentials::Password(user, password)) => headers.push(basic(user, password)),
            Some(Credentials::Refresh(token)) => {
                let token = encoded(token);
                form = Some(format!(
                    "grant_type=refresh_token&client_id={CLIENT}&refresh_token={token}&{query}"
                ));
            }
            None => {}
        }
        let join = if realm.url().as_str().contains('?') {
            '&'
        } else {
            '?'
        };
        let url = match &form {
            Some(_) => realm,
            None => registry.named(&format!("{}{join}{query}", realm.url()))?,
        };
        let request = Request {
            url: &url,
            send: form.as_deref().map_or(Send::Nothing, Send::Form),
            headers,
            max: TOKEN,
        };
        let (head, body) = send(tool, &request)?;
        let host = url.url().host();
        let refused = |class: Class, why: String| {
            Failure::new(class, format!("the token service {host} {why}"))
        };
        if head.status != 200 {
            let class = match head.status {
                408 | 429 | 500..=599 => Class::Unreachable,
                _ => Class::NeedsAuthentication,
            };
            return Err(refused(
                class,
                format!("answers with status {}", head.status),
            ));
        }
        let answer: Option<Answer> = serde_json::from_slice(&body).ok();
        let token = answer.and_then(|answer| answer.token.or(answer.access_token));
        let is_plain =
            |token: &String| !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic());
        let token = token.filter(is_plain);
        let token = token.ok_or_else(|| refused(Class::Other, "gives no token".to_owned()))?;
        Ok(Some(format!("Authorization: Bearer {token}")))
    }
}

fn basic(user: &str, password: &str) -> String {
    let both = STANDARD.encode(format!("{user}:{password}"));
    format!("Authorization: Basic {both}")
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
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
    fn a_token_is_preferred_to_a_password() {
        let bearer =
            "Bearer realm=\"https://a.org/t?x=1\", service=\"r,x\",scope=\"a:b:pull,push\"";
        let found = Challenge::find(["Basic realm=\"r\"", bearer].into_iter());
        let expected = Challenge::Bearer {
            realm: "https://a.org/t?x=1".to_owned(),
            service: Some("r,x".to_owned()),
        };
        assert_eq!(found, Some(expected));
        assert_eq!(
            Challenge::find(["basic realm=x"].into_iter()),
            Some(Challenge::Basic)
        );
        for none in [
            "",
            "Bearer",
            "Bearer realm",
            "Negotiate",
            "bearer service=\"x\"",
        ] {
            assert_eq!(Challenge::find([none].into_iter()), None, "{none}");
        }
    }
}
