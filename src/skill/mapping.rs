//! Parses YAML text into a mapping: as a whole if possible, otherwise key by key, so that one
//! broken value does not affect the others (docs/spec/skills.md#yaml).

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::fields::is_tools;
use super::pairs::{self, Pairs};
use super::restricting::{RestrictingKey, RestrictingKeys, might_begin_in, might_begin_in_braces};
use super::text::lines;
use super::{Diagnostic, plain};
use crate::sys::limits;

/// What could be read of a frontmatter.
#[derive(Debug, Default)]
pub struct Mapping {
    /// Key to value, in the order written. Scalars that YAML reads as strings are strings.
    pub values: Map<String, Value>,
    /// What had to be repaired.
    pub diagnostic: Option<Diagnostic>,
    /// What was contradictory.
    pub contradiction: Option<Diagnostic>,
    /// The keys that are there but cannot be read with certainty. Their values are left out.
    pub unread: RestrictingKeys,
}

/// Reads a frontmatter. Text that is not a mapping gives an empty one.
pub fn read(yaml: &str) -> Mapping {
    let mut unread = RestrictingKeys::new();
    let (pairs, diagnostic) = if let Some(reason) = over_limits(yaml) {
        let too_large = Diagnostic::FrontmatterTooLarge(reason);
        (by_key(yaml, false, &mut unread), Some(too_large))
    } else if let Some(pairs) = plain::read(yaml).or_else(|| pairs::parse(yaml)) {
        (pairs, None)
    } else {
        let pairs = by_key(yaml, true, &mut unread);
        (pairs, Some(Diagnostic::YamlRepaired))
    };
    let (values, contradiction) = pairs::settled(pairs);
    Mapping {
        values,
        diagnostic,
        contradiction,
        unread,
    }
}

/// The pairs of the mapping, if the text is YAML within the limits.
pub fn strict(yaml: &str) -> Option<Pairs> {
    let is_within = over_limits(yaml).is_none();
    is_within.then(|| pairs::parse(yaml)).flatten()
}

/// Why the text is too much for the YAML parser, whose time is quadratic in the nesting; `None` if
/// it is not.
pub fn over_limits(yaml: &str) -> Option<String> {
    if yaml.len() > limits::FRONTMATTER {
        return Some(format!("is larger than {} bytes", limits::FRONTMATTER));
    }
    let opened = yaml.bytes().filter(|byte| matches!(byte, b'[' | b'{'));
    let opened = opened.count();
    let most = limits::FRONTMATTER_BRACKETS;
    if opened > most {
        return Some(format!("opens more than {most} brackets"));
    }
    // Indentation opens block nesting, and so does `- ` or `? ` before the first word.
    let marks = |line: &str| {
        let before = line.trim_start_matches([' ', '-', '?', '\t']);
        let before = &line.as_bytes()[..line.len() - before.len()];
        before.iter().filter(|b| matches!(b, b'-' | b'?')).count()
    };
    let deepest = yaml
        .lines()
        .map(marks)
        .fold(deepest_bracket(yaml), usize::max);
    let most = limits::FRONTMATTER_DEPTH;
    (deepest > most).then(|| format!("nests deeper than {most}"))
}

/// How many brackets are open at once, at most.
pub fn deepest_bracket(yaml: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in yaml.bytes() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Parses each top-level key as a document of its own. A key that fails keeps its raw text, but one
/// that restricts is `unread`. Of a duplicate key the first value counts, except that of keys that
/// restrict all do.
fn by_key(yaml: &str, parse: bool, unread: &mut RestrictingKeys) -> Pairs {
    let (mut pairs, mut known) = (Pairs::new(), BTreeSet::new());
    let (before, chunks) = chunks(yaml);
    // What may be such a key counts only if nothing certain is there.
    let mut doubtful = might_begin_in_braces(before);
    for chunk in chunks {
        let Some((key, raw)) = chunk.split_once(':') else {
            continue;
        };
        let key = key_of(key);
        let (restricts, is_list) = (RestrictingKey::of(&key), is_tools(&key));
        let may_parse = parse || restricts.is_some() || is_list;
        if let Some(parsed) = may_parse.then(|| strict(chunk)).flatten() {
            for (key, value) in parsed {
                let counts = RestrictingKey::of(&key).is_some() || is_tools(&key);
                if known.insert(key.clone()) || counts {
                    pairs.push((key, value));
                }
            }
            continue;
        }
        let (first, more) = raw.split_once(['\n', '\r']).unwrap_or((raw, ""));
        doubtful.extend(might_begin_in(more));
        if is_list {
            // Beside `allowed-tools` it means nothing.
            doubtful.insert(RestrictingKey::AllowedTools);
        } else if let Some(key) = restricts {
            unread.insert(key);
        } else if known.insert(key.clone()) {
            // A name has one line; what follows it is something else.
            let raw = if key == "name" { first } else { raw };
            pairs.push((key, raw_value(raw)));
        }
    }
    let is_certain = |key: &RestrictingKey| {
        let mut of_key = pairs
            .iter()
            .filter(|(name, _)| RestrictingKey::of(name) == Some(*key));
        of_key.any(|(_, value)| !value.is_null())
    };
    unread.extend(doubtful.into_iter().filter(|key| !is_certain(key)));
    pairs
}

/// The text before the first line that begins with a key, and the text from each such line to the
/// next.
fn chunks(yaml: &str) -> (&str, Vec<&str>) {
    let starts = lines(yaml).filter(|(_, line)| begins_with_key(line));
    let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    let first = starts.first().copied().unwrap_or(yaml.len());
    let ends = starts.iter().skip(1).copied().chain([yaml.len()]);
    let chunks = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &yaml[*start..end]);
    (&yaml[..first], chunks.collect())
}

/// Whether a line begins with a key, in quotes or not.
pub fn begins_with_key(line: &str) -> bool {
    let Some((key, rest)) = line.split_once(':') else {
        return false;
    };
    let (key, is_quoted) = (key.trim_end(), key.starts_with(['"', '\'']));
    let inside = unquoted(key);
    let word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let is_key = if is_quoted {
        inside != key && !inside.contains(char::is_whitespace)
    } else {
        key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && key.chars().all(word)
    };
    is_key && (rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// The key that is written so, with its escapes resolved.
fn key_of(written: &str) -> String {
    let written = written.trim_end();
    let alone = written
        .contains('\\')
        .then(|| strict(&format!("{written}:")));
    let named = alone
        .flatten()
        .and_then(|pairs| Some(pairs.into_iter().next()?.0));
    named.unwrap_or_else(|| unquoted(written).to_owned())
}

/// The text after the colon on one line, without surrounding quotes or block indicator.
fn raw_value(raw: &str) -> Value {
    let raw = raw.trim();
    let block = raw.strip_prefix(['|', '>']);
    let text = block.map_or(raw, |rest| rest.trim_start_matches(['-', '+']));
    let words: Vec<&str> = text.split_whitespace().collect();
    unquoted(&words.join(" ")).into()
}

/// The text without surrounding quotes, if it has any.
fn unquoted(text: &str) -> &str {
    ['"', '\'']
        .iter()
        .find_map(|&quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn value(yaml: &str, key: &str) -> Value {
        read(yaml).values.get(key).cloned().unwrap_or(Value::Null)
    }

    #[test]
    fn values_yaml_cannot_read_keep_their_text() {
        for (yaml, text) in [
            ("description: Use when: x", "Use when: x"),
            ("description: **Bold** text", "**Bold** text"),
            ("description: `cmd` does x", "`cmd` does x"),
            ("description: @scope/x", "@scope/x"),
            (
                "description: \"quoted\" then: more",
                "\"quoted\" then: more",
            ),
            (
                "description: > text on: same line\n  and more: here",
                "text on: same line and more: here",
            ),
        ] {
            assert_eq!(value(yaml, "description"), json!(text), "{yaml}");
        }
    }

    #[test]
    fn a_broken_key_leaves_the_others_alone() {
        let yaml = "name: x\nargument-hint: [a] [b]\nmetadata: {\"e\":\"\\ud83d\\ude00\"}\n\
                    description: d\n";
        let mapping = read(yaml);
        assert_eq!(mapping.values["name"], "x");
        assert_eq!(mapping.values["description"], "d");
        assert_eq!(mapping.values["argument-hint"], "[a] [b]");
        assert_eq!(mapping.diagnostic, Some(Diagnostic::YamlRepaired));
    }

    #[test]
    fn a_quoted_key_is_a_key_among_broken_ones() {
        let yaml = "description: Use: x\n\"allowed-tools\": [Read]\n'license': MIT: x\n";
        assert_eq!(value(yaml, "description"), json!("Use: x"));
        assert_eq!(value(yaml, "allowed-tools"), json!(["Read"]));
        assert_eq!(value(yaml, "license"), json!("MIT: x"));
    }

    #[test]
    fn duplicate_keys_load_and_the_last_one_counts() {
        let mapping = read("name: a\nmetadata:\n  version: '1'\n  version: '2'\nname: b\n");
        assert_eq!(
            (
                &mapping.values["name"],
                &mapping.values["metadata"]["version"]
            ),
            (&json!("b"), &json!("2"))
        );
        assert_eq!(mapping.diagnostic, None);
    }

    #[test]
    fn scalar_styles() {
        for yaml in [
            "d: one two",
            "d: one\n  two",
            "d: >\n  one\n  two",
            "d: >-\n  one two",
            "d: \"one\n  two\"",
            "d: \"one\ntwo\"",
            "d: 'one two'",
        ] {
            assert_eq!(
                value(yaml, "d").as_str().map(str::trim),
                Some("one two"),
                "{yaml}"
            );
        }
        assert_eq!(value("name: yes", "name"), json!("yes"));
    }

    #[test]
    fn hostile_yaml_is_refused_before_the_parser_sees_it() {
        // The parser would need minutes or all memory for these, and the test would not finish.
        for hostile in [
            "a: ".to_owned() + &"[".repeat(60_000),
            "a: ".to_owned() + &"{a: ".repeat(15_000),
            "- ".repeat(30_000),
            "? ".repeat(30_000),
            "a: &a [x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n\
             d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n\
             f: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
                .to_owned(),
            // Closing brackets that close nothing.
            "a: ".to_owned() + &format!("{}\n#{}\n", "[".repeat(60), "]".repeat(60)).repeat(450),
            "a: ".to_owned() + &"[\"]\", ".repeat(9_000),
            "a: ".to_owned() + &"{a: '}', b: ".repeat(5_000),
            "x: y\n".repeat(40_000),
            (0..3_000).map(|n| " ".repeat(n % 60) + "a:\n").collect(),
        ] {
            read(&hostile);
        }
    }

    #[test]
    fn plain_lines_of_an_oversized_frontmatter_still_count() {
        let yaml = format!(
            "allowed-tools: Read\nx: {}\n",
            "y".repeat(limits::FRONTMATTER)
        );
        assert_eq!(value(&yaml, "allowed-tools"), json!("Read"));
    }

    proptest! {
        #[test]
        fn any_text_is_read(yaml in "([a-z]{1,3}: |\\n|- |\\[|\\]|\\{|\\}|\"|'|&a |\\*a|>|\\||\t|  |é){0,40}") {
            read(&yaml);
        }
    }
}
