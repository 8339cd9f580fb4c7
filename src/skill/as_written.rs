//! The version as its author wrote it: YAML reads `1.10` as the number 1.1.

use serde_json::{Map, Value};

/// Replaces what YAML made of `version`, at the top level and in `metadata`, by what is written there.
/// One that is written twice, or that is a list or a mapping, is none.
pub fn keep_version(yaml: &str, values: &mut Map<String, Value>) {
    let is_top = |line: &&str| !line.starts_with([' ', '\t']);
    let top: Vec<&str> = yaml.lines().filter(is_top).collect();
    keep(&top, values);
    let Some(Value::Object(metadata)) = values.get_mut("metadata") else {
        return;
    };
    let from = yaml
        .lines()
        .skip_while(|line| scalar(line, "metadata").is_none());
    let mut from = from.peekable();
    let inline = from.next().and_then(|line| scalar(line, "metadata"));
    let below: Vec<&str> = from
        .take_while(|line| !is_top(line) || line.is_empty())
        .collect();
    let inline = inline.and_then(|text| text.strip_prefix('{'));
    if let Some(inline) = inline {
        let text = [&[inline], &below[..]].concat().join(" ");
        let parts: Vec<&str> = text.trim_end().trim_end_matches('}').split(',').collect();
        let parts: Vec<&str> = parts.iter().map(|part| part.trim_start()).collect();
        keep(&parts, metadata);
        return;
    }
    let depth = |line: &str| line.len() - line.trim_start().len();
    let first = below.iter().find(|line| !line.trim().is_empty());
    let indent = first.map_or(0, |line| depth(line));
    let below = below.into_iter().filter(|line| depth(line) == indent);
    let below: Vec<&str> = below.map(str::trim_start).collect();
    keep(&below, metadata);
}

fn keep(lines: &[&str], values: &mut Map<String, Value>) {
    let Some(value) = values.get_mut("version") else {
        return;
    };
    let mut written = lines.iter().filter_map(|line| scalar(line, "version"));
    *value = match (written.next(), written.next(), &*value) {
        (Some(_), Some(_), _) | (None, None, Value::Number(_)) => Value::Null,
        (Some(text), None, Value::Number(_)) => Value::String(text.to_owned()),
        // A list or a mapping stays for `validate` to name; as a version it is not read.
        (_, _, other) => other.clone(),
    };
}

/// The text after this key and its colon, without a comment.
fn scalar<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let (before, after) = line.split_once(':')?;
    let is_key = before.trim().trim_matches(['"', '\'']) == key;
    let text = after.split(" #").next().unwrap_or(after);
    is_key.then(|| text.trim())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::skill::Skill;

    #[test]
    fn a_version_is_what_is_written() {
        let version = |fields: &str| {
            let text = format!("---\nname: x\ndescription: d\n{fields}\n---\n");
            let file = Path::new("/s/x/SKILL.md").to_owned();
            let skill = Skill::parse(Path::new("/s/x"), file, text.as_bytes()).unwrap();
            skill.fields.version()
        };
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
            ("metadata:\n  version: '1.2'\n  version: '9.9'", None),
        ] {
            assert_eq!(version(fields).as_deref(), expected, "{fields}");
        }
    }
}
