//! Parses YAML text into a mapping: as a whole if possible, otherwise key by key, so that one
//! broken value does not affect the others (docs/spec/skills.md#yaml).

use serde_json::{Map, Value};

use super::{Diagnostic, plain};
use crate::sys::limits;

/// What could be read of a frontmatter.
#[derive(Debug, Default)]
pub struct Mapping {
    /// Key to value, in the order written. Scalars that YAML reads as strings are strings.
    pub values: Map<String, Value>,
    /// What had to be repaired.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a frontmatter. Text that is not a mapping gives an empty one.
pub fn read(yaml: &str) -> Mapping {
    if let Some(reason) = over_limits(yaml) {
        let message = format!("the frontmatter {reason}, so only its plain lines were read");
        return by_key(
            yaml,
            false,
            Diagnostic::warning("frontmatter-too-large", message),
        );
    }
    match plain::read(yaml).or_else(|| parse(yaml)) {
        Some(values) => Mapping {
            values,
            diagnostics: Vec::new(),
        },
        None => by_key(
            yaml,
            true,
            Diagnostic::warning(
                "yaml-repaired",
                "the frontmatter is not valid YAML, so its keys were read one by one: quote \
                 values that contain `: ` or begin with `*`, `@` or a backtick",
            ),
        ),
    }
}

/// The mapping, if the text is YAML within the limits. Of a duplicate key, the last value counts.
pub fn strict(yaml: &str) -> Option<Map<String, Value>> {
    match over_limits(yaml) {
        None => parse(yaml),
        Some(_) => None,
    }
}

fn parse(yaml: &str) -> Option<Map<String, Value>> {
    match serde_yaml::from_str(yaml).ok()? {
        Value::Object(values) => Some(values),
        _ => None,
    }
}

/// Why the text is too much for the YAML parser, whose time is quadratic in the nesting; `None` if
/// it is not.
pub fn over_limits(yaml: &str) -> Option<String> {
    if yaml.len() > limits::FRONTMATTER {
        return Some(format!("is larger than {} bytes", limits::FRONTMATTER));
    }
    let opened = yaml.bytes().filter(|byte| matches!(byte, b'[' | b'{'));
    let opened = opened.count();
    if opened > limits::FRONTMATTER_BRACKETS {
        return Some(format!(
            "opens more than {} brackets",
            limits::FRONTMATTER_BRACKETS
        ));
    }
    let mut depth = 0_usize;
    let mut deepest = 0;
    for line in yaml.lines() {
        // Indentation opens block nesting, and so does `- ` or `? ` before the first word.
        let indicators = line
            .bytes()
            .take_while(|b| matches!(b, b' ' | b'-' | b'?' | b'\t'));
        let marks = indicators.filter(|b| matches!(b, b'-' | b'?'));
        deepest = deepest.max(marks.count());
        if opened == 0 {
            continue;
        }
        for byte in line.bytes() {
            match byte {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            deepest = deepest.max(depth);
        }
    }
    (deepest > limits::FRONTMATTER_DEPTH)
        .then(|| format!("nests deeper than {}", limits::FRONTMATTER_DEPTH))
}

/// Parses each top-level key as a document of its own, or keeps its raw text if that fails too. Of
/// a duplicate key, the first value counts.
fn by_key(yaml: &str, parse: bool, diagnostic: Diagnostic) -> Mapping {
    let mut values = Map::new();
    for chunk in chunks(yaml) {
        let Some((key, raw)) = chunk.split_once(':') else {
            continue;
        };
        let key = unquoted(key);
        if values.contains_key(key) {
            continue;
        }
        let strictly = parse.then(|| strict(chunk)).flatten();
        let value = strictly
            .and_then(|mut map| map.remove(key))
            .unwrap_or_else(|| raw_value(raw));
        values.insert(key.to_owned(), value);
    }
    Mapping {
        values,
        diagnostics: vec![diagnostic],
    }
}

/// Splits the text before every line that begins with a key.
fn chunks(yaml: &str) -> Vec<&str> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in yaml.split_inclusive('\n') {
        if begins_with_key(line) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([yaml.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| &yaml[start..end])
        .collect()
}

fn begins_with_key(line: &str) -> bool {
    let Some((key, rest)) = line.split_once(':') else {
        return false;
    };
    let key = unquoted(key);
    let word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(word)
        && (rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// The text after the colon on one line, without surrounding quotes or block indicator.
fn raw_value(raw: &str) -> Value {
    let raw = raw.trim();
    let unblocked = raw
        .strip_prefix(['|', '>'])
        .map(|rest| rest.trim_start_matches(['-', '+']));
    let text = unblocked
        .unwrap_or(raw)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    Value::String(unquoted(&text).to_owned())
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
        assert_eq!(mapping.diagnostics[0].code, "yaml-repaired");
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
        assert!(mapping.diagnostics.is_empty());
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
