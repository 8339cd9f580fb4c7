//! Parses YAML text into a mapping: as a whole if possible, otherwise key by key, so that one
//! broken value does not affect the others. Of a key that is given twice some
//! parsers take the first value and some the last, and some follow merge keys, so all pairs are read.
//! And finds the keys that restrict in text that YAML does not read: what of such a key is not certain
//! leaves the skill with less.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::fields::{RestrictingKey, entries, is_allowed_tools, is_tools};
use crate::text::lines;
use crate::{Diagnostic, limits};

/// Pairs of a mapping, in the order written.
type Pairs = Vec<(String, Value)>;

/// The key that brings the pairs of another mapping.
const MERGE: &str = "<<";

/// Some of these keys.
pub type RestrictingKeys = BTreeSet<RestrictingKey>;

/// What could be read of a frontmatter.
#[derive(Debug, Default)]
pub struct Mapping {
    /// Key to value, in the order written. Scalars that YAML reads as strings are strings.
    pub values: Map<String, Value>,
    /// What had to be repaired, and what was contradictory.
    pub diagnostics: Vec<Diagnostic>,
    /// The keys that are there but cannot be read with certainty. Their values are left out.
    pub unread: RestrictingKeys,
}

/// Reads a frontmatter. Text that is not a mapping gives an empty one.
pub fn read(yaml: &str) -> Mapping {
    let mut unread = RestrictingKeys::new();
    let (pairs, diagnostic) = if let Some(reason) = over_limits(yaml) {
        let too_large = Diagnostic::FrontmatterTooLarge(reason);
        (by_key(yaml, false, &mut unread), Some(too_large))
    } else if let Some(pairs) = plain(yaml).or_else(|| parse(yaml)) {
        (pairs, None)
    } else {
        let pairs = by_key(yaml, true, &mut unread);
        (pairs, Some(Diagnostic::YamlRepaired))
    };
    let (values, contradiction) = settled(pairs);
    Mapping {
        values,
        diagnostics: diagnostic.into_iter().chain(contradiction).collect(),
        unread,
    }
}

/// Whether the text is a mapping in YAML within the limits.
pub fn is_strict(yaml: &str) -> bool {
    strict(yaml).is_some()
}

fn strict(yaml: &str) -> Option<Pairs> {
    let is_within = over_limits(yaml).is_none();
    is_within.then(|| parse(yaml)).flatten()
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
    let marks = yaml.lines().map(marks);
    let deepest = marks.fold(deepest_bracket(yaml), usize::max);
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
    // What may be such a key counts only if nothing certain is there. Before the first key there may be a
    // mapping in braces.
    let parts = before.split(['{', ',']);
    let mut doubtful: RestrictingKeys = parts.flat_map(might_begin_in).collect();
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

/// Whether a key restricts, or may bring one that does.
fn restricts(key: &str) -> bool {
    is_tools(key) || RestrictingKey::of(key).is_some() || key == MERGE
}

/// The text before the first line that begins with a key, and the text from each such line to the
/// next.
fn chunks(yaml: &str) -> (&str, Vec<&str>) {
    let starts = lines(yaml).filter(|(_, line)| begins_with_key(line));
    let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    let first = starts.first().copied().unwrap_or(yaml.len());
    let ends = starts.iter().skip(1).copied().chain([yaml.len()]);
    let chunks = starts.iter().zip(ends);
    let chunks = chunks.map(|(start, end)| &yaml[*start..end]);
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
    let mut quotes = ['"', '\''].into_iter();
    let inside = quotes.find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    inside.unwrap_or(text)
}

/// The pairs of the mapping, if all of `yaml` needs no YAML parser: one line of plain text for each key,
/// as in two skills of five. The YAML parser is many times slower; it gets
/// whatever YAML might read differently.
fn plain(yaml: &str) -> Option<Pairs> {
    let mut pairs = Pairs::new();
    for line in yaml.lines() {
        let (key, value) = line.split_once(": ")?;
        let value = value.trim_matches(' ');
        if !is_plain_key(key) || !is_plain_text(value) {
            return None;
        }
        pairs.push((key.to_owned(), Value::String(value.to_owned())));
    }
    (!pairs.is_empty()).then_some(pairs)
}

fn is_plain_key(key: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    // YAML requires a question mark before longer keys.
    key.len() < 100 && key.bytes().all(is_letter) && is_plain_text(key)
}

/// Whether YAML reads all of `value` as a string.
fn is_plain_text(value: &str) -> bool {
    let is_plain = |c: char| {
        matches!(c, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fdcf}'
        | '\u{10000}'..='\u{1ffff}')
    };
    let mut before = ' ';
    for c in value.chars() {
        // These begin a comment or a mapping, or end a line.
        if matches!((before, c), (' ', '#') | (':', ' ')) || !is_plain(c) {
            return false;
        }
        before = c;
    }
    let other = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    value.starts_with(|c: char| c.is_ascii_alphabetic())
        && before != ':'
        && !other.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// The pairs of `yaml`; `None` if it is no mapping.
fn parse(yaml: &str) -> Option<Pairs> {
    let parser = serde_yaml::Deserializer::from_str(yaml);
    let mut pairs: Pairs = parser.deserialize_any(TopLevel).ok()?;
    for (key, value) in &mut pairs {
        keep_version(yaml, key, value);
    }
    Some(pairs)
}

/// Replaces what YAML made of a version by what is written there: it reads `1.10` as the number 1.1.
/// One that is written twice is none.
fn keep_version(yaml: &str, key: &str, value: &mut Value) {
    #[derive(serde::Deserialize)]
    struct Version {
        version: String,
    }
    #[derive(serde::Deserialize)]
    struct Outer {
        metadata: Version,
    }
    fn read<T: DeserializeOwned>(yaml: &str, version: impl Fn(T) -> String) -> Value {
        serde_yaml::from_str(yaml).ok().map(version).into()
    }
    match (key, value) {
        ("version", value) if value.is_number() => {
            *value = read(yaml, |top: Version| top.version);
        }
        ("metadata", Value::Object(map)) => {
            if let Some(value) = map.get_mut("version").filter(|value| value.is_number()) {
                *value = read(yaml, |top: Outer| top.metadata.version);
            }
        }
        _ => {}
    }
}

/// One value for each key: the last. Of the keys that restrict, also of merged ones, all count:
/// every denial, whatever hides the skill, and different lists of allowed tools allow nothing, which
/// the diagnostic says.
fn settled(pairs: Pairs) -> (Map<String, Value>, Option<Diagnostic>) {
    let mut values = Map::new();
    let (mut allowed, mut tools) = (Vec::new(), Vec::new());
    let list = |value: &Value| (!value.is_null()).then(|| entries(value));
    let merged = pairs.iter().filter(|(key, _)| key == MERGE);
    let merged: Pairs = merged
        .flat_map(|(_, value)| restrictions_in(value))
        .collect();
    for (key, value) in pairs.into_iter().chain(merged) {
        let earlier = values.get_mut(&key).map(Value::take);
        let value = match (RestrictingKey::of(&key), earlier) {
            (Some(RestrictingKey::DisallowedTools), Some(earlier)) => {
                Value::Array(vec![earlier, value])
            }
            (Some(RestrictingKey::DisableModelInvocation), Some(earlier)) if earlier != value => {
                Value::Bool(true)
            }
            _ => value,
        };
        if is_allowed_tools(&key) {
            allowed.push(list(&value));
        } else if is_tools(&key) {
            tools.push(list(&value));
        }
        values.insert(key, value);
    }
    let lists = if allowed.is_empty() { tools } else { allowed };
    if lists.windows(2).all(|pair| pair[0] == pair[1]) {
        return (values, None);
    }
    values.retain(|key, _| !is_allowed_tools(key));
    values.insert("allowed-tools".to_owned(), Value::Array(Vec::new()));
    (values, Some(Diagnostic::AllowedToolsTwice))
}

/// The keys that restrict in a merged value. One that is no mapping could not be followed, so it
/// allows nothing, denies all and hides the skill.
fn restrictions_in(merged: &Value) -> Pairs {
    match merged {
        Value::Null => Pairs::new(),
        Value::Array(items) => items.iter().flat_map(restrictions_in).collect(),
        Value::Object(map) => {
            let lists = map.iter().flat_map(|(key, value)| match key.as_str() {
                MERGE => restrictions_in(value),
                key if is_tools(key) || RestrictingKey::of(key).is_some() => {
                    vec![(key.to_owned(), value.clone())]
                }
                _ => Pairs::new(),
            });
            lists.collect()
        }
        _ => vec![
            ("allowed-tools".to_owned(), Value::Array(Vec::new())),
            ("disallowed-tools".to_owned(), MERGE.into()),
            ("disable-model-invocation".to_owned(), true.into()),
        ],
    }
}

struct TopLevel;

impl<'de> Visitor<'de> for TopLevel {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Pairs, M::Error> {
        let mut pairs = Pairs::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = if restricts(&key) {
                map.next_value::<Unique>()?.0
            } else {
                map.next_value()?
            };
            pairs.push((key, value));
        }
        Ok(pairs)
    }
}

/// A value in which a mapping that has a key twice is a text that is no tool's name, so that it grants
/// nothing and denies all.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

/// Visits a scalar.
macro_rules! scalar {
    ($($visit:ident $type:ty),*) => {
        $(fn $visit<E>(self, value: $type) -> Result<Value, E> {
            Ok(value.into())
        })*
    };
}

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    scalar!(visit_bool bool, visit_i64 i64, visit_u64 u64, visit_f64 f64, visit_str &str);

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<Value, S::Error> {
        let mut values = Vec::new();
        while let Some(Unique(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<M: MapAccess<'de>>(self, mut pairs: M) -> Result<Value, M::Error> {
        let (mut map, mut twice) = (Map::new(), false);
        while let Some(key) = pairs.next_key::<String>()? {
            twice |= map.insert(key, pairs.next_value::<Unique>()?.0).is_some();
        }
        Ok(if twice { "{twice}".into() } else { map.into() })
    }
}

/// The keys that might begin on a line of broken YAML, whatever surrounds them there.
fn might_begin_in(text: &str) -> RestrictingKeys {
    let breaks = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];
    let lines = text.split(breaks).filter(|line| !is_comment(line));
    lines.flat_map(might_begin).collect()
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
    let found = before(':').and_then(RestrictingKey::of);
    let mut found: RestrictingKeys = found.into_iter().collect();
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
        assert_eq!(mapping.diagnostics, [Diagnostic::YamlRepaired]);
    }

    #[test]
    fn a_quoted_key_is_a_key_among_broken_ones() {
        let yaml = "description: Use: x\n\"allowed-tools\": [Read]\n'license': MIT: x\n";
        assert_eq!(value(yaml, "description"), json!("Use: x"));
        assert_eq!(value(yaml, "allowed-tools"), json!(["Read"]));
        assert_eq!(value(yaml, "license"), json!("MIT: x"));
    }

    #[test]
    fn a_key_twice_within_a_list_is_its_own_fault_alone() {
        let list = "[Read, {Bash: git, Bash: npm}]";
        for key in ["tools", "allowed-tools", "disallowed-tools"] {
            let yaml = format!("t: &t {{tenants: [x]}}\nscope: *t\n{key}: {list}\n");
            assert_eq!(value(&yaml, key), json!(["Read", "{twice}"]), "{key}");
            assert_eq!(value(&yaml, "scope"), json!({"tenants": ["x"]}), "{key}");
            assert_eq!(read(&yaml).diagnostics, [], "{key}");
        }
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
        assert_eq!(mapping.diagnostics, []);
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

    #[test]
    fn plain_lines_are_read() {
        let yaml = "name: pdf\ndescription:  Fills forms (e.g. a-b), {x}, [y]: none # \r\n";
        assert_eq!(plain(yaml), None);
        let yaml = "name: pdf\r\ndescription:  Fills “forms”; a:b, it's {x} [y]#1 \nallowed-tools: Read Bash(git:*)";
        let values = plain(yaml).unwrap();
        assert_eq!(values[1].1, "Fills “forms”; a:b, it's {x} [y]#1");
        assert_eq!(Some(values), parse(yaml));
    }

    fn piece() -> impl Strategy<Value = String> {
        let odd = [
            ": ", ":", " #", "#", "-", "- ", "? ", "|", ">", "'", "\"", "&a", "*a", "!t", "%", "@",
            "`", "[", "]", "{", "}", ",", "\t", "\r", "\n", "\n  ", "\u{85}", "\u{2028}",
            "\u{feff}", "\0", "\u{7f}", "---", "...", "<<", "=", "~", ".inf", "0x1", "1e3", "1.",
            "é", "技", "😀",
        ];
        let words = ["true", "False", "NULL", "inf", "nan", "e1", "pdf", "name"];
        prop_oneof![
            prop::sample::select(odd.to_vec()).prop_map(str::to_owned),
            prop::sample::select(words.to_vec()).prop_map(str::to_owned),
            "[a-zA-Z0-9]{1,3}",
            Just(" ".to_owned()),
            any::<char>().prop_map(String::from),
        ]
    }

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec(piece(), 0..6).prop_map(|pieces| pieces.concat())
    }

    fn line() -> impl Strategy<Value = String> {
        let key = prop_oneof![Just("name".to_owned()), "[a-z][a-z-]{0,5}", text()];
        (key, text()).prop_map(|(key, value)| format!("{key}: {value}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]
        #[test]
        fn what_is_read_is_what_yaml_says(lines in prop::collection::vec(line(), 1..4)) {
            let yaml = lines.join("\n");
            if let Some(values) = plain(&yaml) {
                prop_assert_eq!(Some(values), parse(&yaml), "{:?}", yaml);
            }
        }
    }

    #[test]
    fn a_version_is_what_is_written() {
        let version = |yaml: &str| crate::Fields(read(yaml).values).version();
        for (fields, expected) in [
            ("version: 1.10", Some("1.10")),
            ("version: 1.10 # new", Some("1.10")),
            ("\"version\": 2", Some("2")),
            ("version: '1.10'", Some("1.10")),
            ("version: 1e9", Some("1e9")),
            ("version: 0x10", Some("0x10")),
            ("version: 1.2.3", Some("1.2.3")),
            ("metadata:\n  version: 1.10", Some("1.10")),
            (
                "metadata:\n  a: {version: 3}\n  version: 1.10\nlicense: x",
                Some("1.10"),
            ),
            (
                "metadata:\n  a:\n    version: 3\n  version: 1.10",
                Some("1.10"),
            ),
            ("metadata: {version: 1.10, a: b}", Some("1.10")),
            ("metadata: {a: b, version: 1.10}", Some("1.10")),
            ("version: [1.2]", None),
            ("version: {a: 1}", None),
            ("version: 1.2\nversion: 9.9", None),
            ("metadata:\n  version: 1.2\n  version: 9.9", None),
        ] {
            assert_eq!(version(fields).as_deref(), expected, "{fields}");
        }
    }

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
        let in_braces = read("{name: x: y, allowed-tools: Read}");
        assert_eq!(in_braces.unread, [Allowed].into());
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
