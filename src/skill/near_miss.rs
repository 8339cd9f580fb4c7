//! Keys that restrict nothing, but are likely meant to: one letter, hyphen or case away from a key
//! that does.

use super::fields::folds_to;
use super::{Fields, Known};

/// The keys that say what a skill may do and who may call it.
const KEYS: [&str; 4] = [
    "allowed-tools",
    "disallowed-tools",
    "disable-model-invocation",
    "user-invocable",
];
/// More than a letter away, but written for them.
const OTHERS: [(&str, &str); 2] = [
    ("allowtools", "allowed-tools"),
    ("disallowtools", "disallowed-tools"),
];

/// The fields that are likely meant to be one of these keys, unless that is there too: each as
/// written, with `metadata.` before it if it stands there, and the key that is likely meant.
pub fn near_misses(fields: &Fields) -> Vec<(String, String)> {
    let top = fields.keys().map(|key| (key.to_owned(), near_miss_of(key)));
    let metadata = fields.value("metadata").and_then(|value| value.as_object());
    let below = metadata.into_iter().flatten().map(|(key, _)| {
        let meant = Known::of(key).map(|field| field.key);
        let meant = meant.filter(|meant| KEYS.contains(meant));
        (format!("metadata.{key}"), meant)
    });
    let is_there = |meant: &str| {
        let mut set = fields.keys().zip(fields.values());
        set.any(|(key, value)| {
            !value.is_null() && Known::of(key).is_some_and(|field| field.key == meant)
        })
    };
    let found = top.chain(below).filter_map(|(written, meant)| {
        let meant = meant.filter(|meant| !is_there(meant))?.to_owned();
        Some((written, meant))
    });
    found.collect()
}

/// The key that a field of this name is likely meant to be; `None` if it is read as it is.
pub fn near_miss_of(key: &str) -> Option<&'static str> {
    if Known::of(key).is_some() {
        return None;
    }
    let letters = key.chars().filter(|c| c.is_alphanumeric());
    let folded: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    let is_near = |meant: &&str| is_one_letter_away(&folded, &meant.replace('-', ""));
    let near = KEYS.into_iter().find(is_near);
    near.or_else(|| {
        let mut others = OTHERS.into_iter();
        let found = others.find(|(other, _)| folds_to(key, other));
        found.map(|(_, meant)| meant)
    })
}

/// Whether one letter added, left out or exchanged makes one of the other.
fn is_one_letter_away(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let same = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
    match long.len() - short.len() {
        0 => same == long.len() || short[same + 1..] == long[same + 1..],
        1 => short[same..] == long[same + 1..],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::mapping;

    fn found(yaml: &str) -> Vec<(String, String)> {
        let fields = Fields::from(mapping::read(yaml).values);
        near_misses(&fields)
    }

    #[test]
    fn a_key_that_is_nearly_one_is_found() {
        for (yaml, written, meant) in [
            ("allow-tools: Read", "allow-tools", "allowed-tools"),
            ("allowed-tool: Read", "allowed-tool", "allowed-tools"),
            ("alowed_tools: Read", "alowed_tools", "allowed-tools"),
            ("Allowed-Toolz: Read", "Allowed-Toolz", "allowed-tools"),
            ("alloweddtools: Read", "alloweddtools", "allowed-tools"),
            (
                "disallowed-tool: Bash",
                "disallowed-tool",
                "disallowed-tools",
            ),
            ("disallow_tools: Bash", "disallow_tools", "disallowed-tools"),
            (
                "disable-model-invocatio: true",
                "disable-model-invocatio",
                "disable-model-invocation",
            ),
            ("user-invocabl: false", "user-invocabl", "user-invocable"),
            (
                "metadata: {allowed-tools: Read}",
                "metadata.allowed-tools",
                "allowed-tools",
            ),
            (
                "allowed-tools:\nallowed-tool: Read",
                "allowed-tool",
                "allowed-tools",
            ),
        ] {
            assert_eq!(found(yaml), [(written.into(), meant.into())], "{yaml}");
        }
    }

    #[test]
    fn what_is_read_or_means_something_else_is_not_near() {
        for yaml in [
            "Allowed-Tools: Read",
            "allowed_tools: Read",
            "allowedTools: Read",
            "tools: Read",
            "user_invocable: false",
            "user-invokable: false",
            "disable-model-invokation: true",
            "allowed-tools: Read\nmetadata: {allowed-tools: Bash}",
            "tool: Read",
            "toolset: Read",
            "permissions: Read",
            "metadata: {tools: x}",
        ] {
            assert!(found(yaml).is_empty(), "{yaml}");
        }
    }
}
