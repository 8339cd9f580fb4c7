//! The output of `--json`: one object whose `schema` is the version of its format (docs/json.md).
//! Adding a key keeps the version; removing a key or changing its meaning increments it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::sys::is_invisible;

/// The version of the format.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Versioned<'a, T> {
    schema: u32,
    #[serde(flatten)]
    value: &'a T,
}

/// One object; its keys are next to `schema`.
pub fn one(value: &impl Serialize) -> Result<String> {
    let schema = SCHEMA;
    bare(&Versioned { schema, value })
}

/// Several objects, as the list `key`.
pub fn list(key: &str, values: &impl Serialize) -> Result<String> {
    one(&BTreeMap::from([(key, values)]))
}

/// A bare list, where the documentation promises one.
pub fn bare(values: &impl Serialize) -> Result<String> {
    let json = serde_json::to_string_pretty(values);
    let json = json.map_err(|error| Error::new(error.to_string()))?;
    Ok(escaped(&json) + "\n")
}

/// The same JSON with invisible characters escaped; a program reads the escapes as those
/// characters.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && (c.is_control() || is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}'))
        {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    #[test]
    fn what_hides_is_escaped_and_read_as_it_was() {
        let value = json!({"a": "x\u{202e}\u{e0061}\u{1b}\u{7f}\u{200d}y"});
        let text = one(&value).unwrap();
        assert!(text.is_ascii() && !text.contains('\u{7f}'), "{text}");
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["a"], value["a"]);
    }

    #[test]
    fn the_form_comes_first() {
        assert_eq!(
            one(&json!({"b": 1})).unwrap(),
            "{\n  \"schema\": 1,\n  \"b\": 1\n}\n"
        );
        assert_eq!(
            list("all", &[1]).unwrap(),
            "{\n  \"schema\": 1,\n  \"all\": [\n    1\n  ]\n}\n"
        );
    }

    /// The source files of a room, without tests.
    fn sources(dir: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                found.push((path, text.to_owned()));
            }
        }
    }

    /// The quoted texts right after a marker, each with what follows.
    fn literals<'t>(text: &'t str, marker: &str) -> Vec<(&'t str, &'t str)> {
        let behind = text.match_indices(marker);
        let behind = behind.map(|(at, _)| text[at + marker.len()..].trim_start());
        let quoted = behind.filter_map(|rest| rest.strip_prefix('"')?.split_once('"'));
        quoted.collect()
    }

    #[test]
    fn the_documentation_names_exactly_the_diagnostic_codes() {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = Vec::new();
        sources(&src, &mut files);
        let made = ["note(", "warning(", "error("].map(|made| format!("Diagnostic::{made}"));
        let mut codes = BTreeSet::new();
        let mut by_variable = 0;
        for (path, text) in &files {
            for made in &made {
                let all = text.matches(made.as_str()).count();
                let found = literals(text, made);
                by_variable += all - found.len();
                codes.extend(found.into_iter().map(|(code, _)| code));
            }
            let file = path.strip_prefix(&src).unwrap();
            let is = |name: &str| file == Path::new(name);
            // Remarks about rules become diagnostics, too.
            let of_rules = file.parent() == Some(Path::new("permission"));
            for (marker, holds) in [
                ("excluded(", is("catalog/eligibility.rs")),
                ("why(", is("catalog/eligibility.rs")),
                ("=> (", is("catalog/disclosure.rs")),
                ("code: ", of_rules),
                ("remark(", of_rules),
            ] {
                let found = literals(text, marker).into_iter().filter(|_| holds);
                codes.extend(found.map(|(code, _)| code));
            }
            let told = |rest: &str| {
                rest.strip_prefix(',')
                    .is_some_and(|r| r.trim_start().starts_with('"'))
            };
            let found = literals(text, "(").into_iter().filter(|_| of_rules);
            let found = found.filter(|(code, rest)| {
                let is_code = |c: char| c.is_ascii_lowercase() || c == '-';
                code.len() > 8 && code.chars().all(is_code) && told(rest)
            });
            codes.extend(found.map(|(code, _)| code));
        }
        // `excluded` and `why` in `catalog/eligibility.rs`, `Left` in `catalog/disclosure.rs`, and the
        // remarks about rules in `cli/report.rs`.
        assert_eq!(
            by_variable, 4,
            "a code is given in a way that this test does not see"
        );
        let docs = include_str!("../../docs/json.md");
        let section = docs.split("## Codes of `diagnostics`").nth(1).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let cells = section.lines().filter_map(|line| line.strip_prefix("| `"));
        let cells = cells.map(|line| line.split(" | ").next().unwrap());
        let named = cells.flat_map(|cell| cell.split(", ").map(|code| code.trim_matches('`')));
        assert_eq!(codes, named.collect::<BTreeSet<_>>());
    }
}
