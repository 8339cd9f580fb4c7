//! The globs of policy and configuration: `*` matches any text, `?` any one character, and anything
//! else itself in upper or lower case. A glob has to match the whole name or address.

/// Whether `pattern` matches `text`.
pub fn matches(pattern: &str, text: &str) -> bool {
    matches_exactly(&pattern.to_lowercase(), &text.to_lowercase())
}

/// The same, if upper and lower case are different.
pub fn matches_exactly(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<_>, Vec<_>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to go on after a mismatch: in the pattern after the last `*`, in the text one character
    // further.
    let mut retry = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some('?') => (p, t) = (p + 1, t + 1),
            Some(c) if *c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match retry {
                Some((after, from)) => {
                    retry = Some((after, from + 1));
                    (p, t) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Whether any of `patterns` matches `text`.
pub fn any_matches(patterns: &[String], text: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_texts_in_any_case() {
        for (pattern, text, expected) in [
            ("deploy", "deploy", true),
            ("Deploy*", "deploy-now", true),
            ("*", "", true),
            ("", "x", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbY", false),
            ("?", "é", true),
            ("github.com/acme/*", "github.com/acme/skills", true),
            (
                "github.com/acme/*",
                "evil.example/github.com/acme/skills",
                false,
            ),
            ("github.com/acme/*", "github.com/acme-evil/skills", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_take_no_long_time() {
        assert!(!matches(
            &"*a".repeat(40),
            &"a".repeat(39).repeat(20).replace('a', "b")
        ));
    }
}
