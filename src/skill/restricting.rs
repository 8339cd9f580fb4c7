//! The keys that restrict a skill, found in text that YAML does not read. What of such a key is not
//! certain leaves the skill with less (docs/spec/restriction.md#absent-null-and-empty).

use std::collections::BTreeSet;

use super::fields::RestrictingKey;
use super::text::lines;

/// Some of these keys.
pub type RestrictingKeys = BTreeSet<RestrictingKey>;

/// The keys that might begin on a line of broken YAML, whatever surrounds them there.
pub fn might_begin_in(text: &str) -> RestrictingKeys {
    let breaks = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];
    let lines = text.split(breaks).filter(|line| !is_comment(line));
    lines.flat_map(might_begin).collect()
}

/// The same in text before the first key, which may be a mapping in braces.
pub fn might_begin_in_braces(text: &str) -> RestrictingKeys {
    let parts = text.split(['{', ',']);
    parts.flat_map(might_begin_in).collect()
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

fn might_begin(line: &str) -> RestrictingKeys {
    let mut rest = line;
    // Marks, quotes, an anchor and a tag may stand before a key.
    loop {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric() && !"&!".contains(c));
        let Some(named) = rest.strip_prefix(['&', '!']) else {
            break;
        };
        rest = named
            .split_once(char::is_whitespace)
            .map_or("", |(_, rest)| rest);
    }
    let marks = &line[..line.len() - rest.len()];
    let merge = marks.trim_start_matches(|c: char| c != '<');
    let merge = merge.strip_prefix("<<").unwrap_or_default();
    if merge.trim_start_matches(['"', '\'', ' ']).starts_with(':') {
        // What a merge key brings is somewhere else.
        return RestrictingKey::ALL.into();
    }
    let before = |sign| rest.split_once(sign).map(|(key, _)| key);
    let mut found: RestrictingKeys = before(':')
        .and_then(RestrictingKey::of)
        .into_iter()
        .collect();
    // Another sign may stand where a colon was meant; a word of prose has no hyphen.
    let others = ['：', '=', ' '].into_iter().filter_map(before);
    let others = others.filter(|key| key.contains(['-', '_']));
    found.extend(others.filter_map(RestrictingKey::of));
    if found.is_empty() && marks.contains('?') {
        found.extend(RestrictingKey::of(rest));
    }
    found
}

/// The keys that begin lines of a text which may be frontmatter still, or Markdown already. A code
/// block, a list and a paragraph that only mention one do not count.
pub fn begun_in_markdown(text: &str) -> RestrictingKeys {
    let mut found = RestrictingKeys::new();
    let mut rest = lines(text).map(|(_, line)| line);
    while let Some(line) = rest.next() {
        let ticks = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| ticks.starts_with(mark));
        if let Some(mark) = mark {
            let mut after = rest.clone();
            if after.any(|line| line.trim_start().starts_with(mark)) {
                rest = after;
            }
            continue;
        }
        found.extend(key_line(line));
    }
    found
}

fn key_line(line: &str) -> Option<RestrictingKey> {
    let (key, value) = line.split_once(':')?;
    let indent = key.len() - key.trim_start_matches(' ').len();
    let key = key.trim().trim_matches(['"', '\'']);
    let is_word = |c: char| c.is_alphanumeric() || "_-".contains(c);
    let is_line = indent < 4
        && key.chars().all(is_word)
        && (value.is_empty() || value.starts_with(char::is_whitespace));
    RestrictingKey::of(key).filter(|_| is_line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use RestrictingKey::{AllowedTools as Allowed, DisableModelInvocation as Hidden};

    #[test]
    fn a_key_might_begin_in_every_form_of_yaml() {
        for text in [
            "  allowed-tools: Read",
            "\tallowed-tools: Read",
            "- allowed_tools : [Read]",
            "? allowed-tools",
            "\"allowed-tools\": Read",
            "\u{feff}allowedTools: Read",
            "&a allowed-tools: Read",
            "!!str 'allowed-tools': Read",
            "name: x\u{85}allowed-tools: Read",
            "name: x\rallowed-tools: Read",
            "allowed\0-tools: Read",
            "allowed-tools:Read",
            "<!-- allowed-tools: Read -->",
            "allowed-tools：Read",
            "allowed-tools = Read",
            "allowed-tools Read",
        ] {
            assert_eq!(might_begin_in(text), [Allowed].into(), "{text:?}");
        }
        assert_eq!(
            might_begin_in_braces("{name: x: y, allowed-tools: Read}"),
            [Allowed].into()
        );
        assert_eq!(might_begin_in("<<: *all"), RestrictingKey::ALL.into());
    }

    #[test]
    fn a_mention_is_no_key() {
        for text in [
            "# allowed-tools: Read",
            "see allowed-tools: it lists tools",
            "tools are listed below",
            "allowed-tools",
            "not-allowed-tools: Read",
            "<<<<<<< HEAD",
        ] {
            assert!(might_begin_in(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn in_markdown_only_a_line_of_its_own_counts() {
        for (text, found) in [
            ("allowed-tools: Read", true),
            ("# T\n\n  \"allowed-tools\" : Read", true),
            ("Allowed_Tools:\n- Read", true),
            ("```\nnever closed\nallowed-tools: Read", true),
            ("```yaml\nallowed-tools: Read\n```\n", false),
            ("~~~\nallowed-tools: Read\n~~~", false),
            ("    allowed-tools: Read", false),
            ("- `allowed-tools`: lists tools", false),
            ("- **allowed-tools:** lists tools", false),
            ("Use allowed-tools: it lists tools", false),
        ] {
            assert_eq!(
                begun_in_markdown(text).contains(&Allowed),
                found,
                "{text:?}"
            );
        }
        assert_eq!(
            begun_in_markdown("disable-model-invocation: true"),
            [Hidden].into()
        );
    }
}
