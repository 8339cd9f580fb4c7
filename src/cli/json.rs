//! The output of `--json`: one object whose `schema` is the version of its format (docs/json.md).
//! Adding a key keeps the version; removing a key or changing its meaning increments it.

use crate::cli::prelude::*;

use skill_text::is_invisible;

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

impl CliCall<'_> {
    /// The answer of the command: the value with `--json`, else the text.
    pub fn answer(self, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<String> {
        if self.common.json {
            one(value)
        } else {
            Ok(text())
        }
    }

    /// As [`CliCall::answers`]; `none` says that there are none.
    pub fn answers_or(
        self,
        key: &str,
        values: &[impl Serialize],
        none: &str,
        text: impl FnOnce() -> String,
    ) -> Result<String> {
        let text = || {
            if values.is_empty() {
                none.to_owned()
            } else {
                text()
            }
        };
        self.answers(key, &values, text)
    }

    /// As [`CliCall::answer`], with the values as the list `key`.
    pub fn answers(
        self,
        key: &str,
        values: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<String> {
        self.answer(&BTreeMap::from([(key, values)]), text)
    }
}

/// An object with the keys of another one behind its own.
pub fn with(mut object: Value, more: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut object, more) {
        all.extend(more);
    }
    object
}

/// A bare list, where the documentation promises one.
pub fn bare(values: &impl Serialize) -> Result<String> {
    let json = serde_json::to_string_pretty(values);
    let unwritten = |error| Error::caused("the answer cannot be written as JSON", error);
    Ok(escaped(json.map_err(unwritten)?) + "\n")
}

/// The same JSON with invisible characters escaped; a program reads the escapes as those
/// characters.
fn escaped(json: String) -> String {
    let hides = |c: char| {
        c != '\n' && (c.is_control() || is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}'))
    };
    if !json.contains(hides) {
        return json;
    }
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if hides(c) {
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
    use serde::de::DeserializeOwned;
    use serde_json::json;
    use std::collections::BTreeSet;
    use std::fmt::Debug;
    use std::path::Path;

    use crate::skill::Diagnostic;
    use skill_permission::Restriction;

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

    /// The codes of all diagnostics, as serde lists them for a code that does not exist.
    fn codes_of_diagnostics<D: DeserializeOwned + Debug>() -> BTreeSet<String> {
        let unknown = serde_json::from_value::<D>(json!({"code": ""}));
        let said = unknown.unwrap_err().to_string();
        let (_, codes) = said.split_once("expected one of ").unwrap();
        codes
            .split(", ")
            .map(|code| code.trim_matches('`').to_owned())
            .collect()
    }

    /// The codes of remarks on tool lists, which become diagnostics, too.
    fn codes_of_tool_lists() -> BTreeSet<String> {
        let odd = [
            "*",
            "Bash(a, b)",
            "readPaper",
            "readPaper(x)",
            "Bash(cmd:*)",
            "Bash(git",
            "Read\u{1}",
            "(x)",
            "Bash(ls)x",
            "WebFetch(domain:)",
            "Read([)",
        ];
        let lists: [&[&str]; 3] = [&[], &["Bash()"], &odd];
        let mut codes = BTreeSet::new();
        for list in lists {
            let list: Vec<String> = list.iter().map(|&entry| entry.to_owned()).collect();
            let (dir, root) = (Path::new("/s"), Path::new("/p"));
            let restriction = Restriction::parse("x", Some(&list), &[], dir, root);
            codes.extend(restriction.notes.iter().map(|note| note.code.to_owned()));
        }
        let (dir, denied) = (Path::new("/s"), ["Bash(rm -rf:*)".to_owned()]);
        let restriction = Restriction::parse("x", None, &denied, dir, dir);
        codes.extend(restriction.notes.iter().map(|note| note.code.to_owned()));
        codes
    }

    #[test]
    fn the_documentation_names_exactly_the_diagnostic_codes() {
        let mut codes = codes_of_diagnostics::<Diagnostic>();
        codes.extend(codes_of_diagnostics::<skill_format::Diagnostic>());
        assert!(codes.contains("shadowed") && codes.len() > 40, "{codes:?}");
        codes.extend(codes_of_tool_lists());
        // Of what the configuration adds to a list (cli/report.rs).
        codes.insert("entries-not-added".to_owned());
        let docs = include_str!("../../docs/json.md");
        let section = docs.split("## Codes of `diagnostics`").nth(1).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let cells = section.lines().filter_map(|line| line.strip_prefix("| `"));
        let cells = cells.map(|line| line.split(" | ").next().unwrap());
        let named = cells.flat_map(|cell| cell.split(", "));
        let named = named.map(|code| code.trim_matches('`').to_owned());
        assert_eq!(codes, named.collect::<BTreeSet<_>>());
    }
}
