//! Secrets in what is written down. It masks what looks like one by its name, its form or its
//! place; what looks like nothing in particular it cannot know.

use serde_json::Value;

const MASK: &str = "***";

/// Words that make a name a secret's.
const NAMES: [&str; 10] = [
    "token",
    "secret",
    "passw",
    "passphrase",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authorization",
    "cookie",
];

/// How issued secrets begin.
const FORMS: [&str; 14] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_live_",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "eyJ",
];

/// Masks every text in `value` and cuts it to `max` characters; what has a secret's name is masked
/// whole.
pub fn mask_value(value: &mut Value, max: usize) {
    match value {
        Value::String(text) => *text = clip(&mask(text), max),
        Value::Array(items) => {
            let mut next_is_secret = false;
            for item in items {
                let flag = item.as_str().filter(|word| word.starts_with('-'));
                let names = flag.is_some_and(|flag| !flag.contains('=') && is_secret(flag));
                if next_is_secret {
                    *item = MASK.into();
                } else {
                    mask_value(item, max);
                }
                next_is_secret = names;
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                if is_secret(name) && !field.is_null() {
                    *field = MASK.into();
                } else {
                    mask_value(field, max);
                }
            }
        }
        _ => {}
    }
}

/// A command line or other text with what looks like a secret replaced.
pub fn mask(text: &str) -> String {
    let between = |c: char| {
        let is_mark = matches!(
            c,
            '"' | '\'' | '`' | ',' | ';' | '&' | '?' | '<' | '>' | '|'
        ) || matches!(c, '(' | ')' | '{' | '}' | '[' | ']');
        is_mark || c.is_whitespace()
    };
    let mut masked = String::with_capacity(text.len());
    let mut next_is_secret = false;
    let mut rest = text;
    while !rest.is_empty() {
        // A quoted secret ends with its quote, whatever is in it.
        if next_is_secret
            && let Some(quote) = masked.chars().last().filter(|c| "\"'".contains(*c))
            && let Some(end) = rest.find(quote)
        {
            masked.push_str(MASK);
            rest = &rest[end..];
            next_is_secret = false;
            continue;
        }
        let word = &rest[..rest.find(between).unwrap_or(rest.len())];
        let gap = &rest[word.len()..];
        let gap = &gap[..gap.find(|c| !between(c)).unwrap_or(gap.len())];
        rest = &rest[word.len() + gap.len()..];
        if word.is_empty() {
            masked.push_str(gap);
            continue;
        }
        // `Authorization: Bearer x` has its secret two words on.
        let scheme = ["bearer", "basic"]
            .iter()
            .any(|scheme| word.eq_ignore_ascii_case(scheme));
        if next_is_secret && !scheme {
            masked.push_str(MASK);
        } else {
            masked.push_str(&mask_word(word));
        }
        let flag = word.starts_with('-') && !word.contains('=');
        let names = flag || word.ends_with([':', '=']);
        next_is_secret = scheme || (names && is_secret(word.trim_end_matches([':', '='])));
        masked.push_str(gap);
    }
    masked
}

fn mask_word(word: &str) -> String {
    if FORMS
        .iter()
        .any(|form| word.len() >= form.len() + 12 && word.starts_with(form))
    {
        return MASK.to_owned();
    }
    let value_at = word.find(['=', ':']).map(|at| at + 1);
    if let Some(at) = value_at.filter(|at| *at < word.len() && !word[*at..].starts_with("//")) {
        let (name, value) = word.split_at(at);
        if is_secret(&name[..name.len() - 1]) {
            return format!("{name}{MASK}");
        }
        return format!("{name}{}", mask_word(value));
    }
    // https://user:password@host
    if let Some((scheme, rest)) = word.split_once("://")
        && let Some((_, host)) = rest.split('/').next().unwrap_or_default().rsplit_once('@')
    {
        let path = &rest[rest.find('/').unwrap_or(rest.len())..];
        return format!("{scheme}://{MASK}@{host}{path}");
    }
    word.to_owned()
}

fn is_secret(name: &str) -> bool {
    let folded: String = name
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    ["auth", "pwd", "pat", "pin"].contains(&folded.as_str())
        || NAMES.iter().any(|word| folded.contains(word))
}

fn clip(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        for (text, masked) in [
            ("git push", "git push"),
            (
                "curl --token abc https://x.y/z",
                "curl --token *** https://x.y/z",
            ),
            ("deploy --api-key=abc -v", "deploy --api-key=*** -v"),
            ("API_KEY=abc DEBUG=1 run", "API_KEY=*** DEBUG=1 run"),
            ("PASSWORD='a b' run", "PASSWORD='***' run"),
            (
                "curl -H 'Authorization: Bearer abc.def'",
                "curl -H 'Authorization: Bearer ***'",
            ),
            (
                "git clone https://me:pw@github.com/a/b",
                "git clone https://***@github.com/a/b",
            ),
            (
                "fetch https://h/p?access_token=abc&x=1",
                "fetch https://h/p?access_token=***&x=1",
            ),
            ("echo ghp_0123456789abcdefghij", "echo ***"),
            ("x=sk-0123456789abcdefghij", "x=***"),
            ("", ""),
            (" a  b ", " a  b "),
            ("login --password \"a b\" me", "login --password \"***\" me"),
        ] {
            assert_eq!(mask(text), masked, "{text}");
        }
    }

    #[test]
    fn fields_with_a_secrets_name_are_masked_whole_and_long_texts_cut() {
        let mut value = json!({"env": {"DB_PASSWORD": "x", "A": "b"}, "args": ["--token", "t", "é".repeat(9)], "n": 1});
        mask_value(&mut value, 4);
        assert_eq!(
            value,
            json!({"env": {"DB_PASSWORD": "***", "A": "b"}, "args": ["--to…", "***", "éééé…"], "n": 1})
        );
    }
}
