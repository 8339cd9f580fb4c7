//! Finds the restriction in a frontmatter that cannot be parsed, because it still restricts
//! (docs/spec/restriction.md#absent-null-and-empty). Its line is read as text; in doubt it
//! restricts more.

use super::fields::{Fields, folds_to};
use super::{Diagnostic, ToolList};

/// Adds the tool lists that `fields` lacks from their lines in `text`, with a diagnostic for each.
pub fn restriction(text: &str, fields: &mut Fields) -> Vec<Diagnostic> {
    let has_allowed = fields.allowed_tools() != ToolList::Absent;
    let has_denied = !fields.disallowed_tools().is_empty();
    let mut diagnostics = Vec::new();
    for (key, is_there) in [
        ("allowed-tools", has_allowed),
        ("disallowed-tools", has_denied),
    ] {
        if !is_there && let Some(entries) = entries(text, key) {
            fields.restrict(key, entries);
            diagnostics.push(Diagnostic::AllowedToolsSalvaged(key.to_owned()));
        }
    }
    diagnostics
}

/// Allows nothing if the top level has several different lists of allowed tools, because it depends
/// on the parser which of them counts.
pub fn contradiction(yaml: &str, fields: &mut Fields) -> Option<Diagnostic> {
    let mut lists: Vec<Vec<&str>> = Vec::new();
    let mut inside = false;
    for line in yaml.lines() {
        let top = line.split_once(':');
        let top = top.filter(|_| !line.starts_with([' ', '\t', '-', '#']));
        if let Some((key, value)) = top {
            inside = folds_to(key, "allowedtools");
            lists.extend(inside.then(|| vec![value.trim()]));
        } else if inside && let Some(list) = lists.last_mut() {
            list.push(line.trim());
        }
    }
    if lists.windows(2).all(|pair| pair[0] == pair[1]) {
        return None;
    }
    fields.restrict("allowed-tools", Vec::new());
    Some(Diagnostic::AllowedToolsTwice)
}

/// The text after a key on its line, else the list items on the lines below it.
fn entries(text: &str, key: &str) -> Option<Vec<String>> {
    let mut lines = text.lines();
    let value = lines.find_map(|line| {
        // With `? key`, the value is on another line, which only a YAML parser can find.
        let complex = line.trim_start().strip_prefix("? ").map(|key| (key, ""));
        let (written, value) = complex.or_else(|| line.split_once(':'))?;
        // Indentation, list marks, quotes or invisible characters may surround the key.
        let written = written.trim_matches(|c: char| !c.is_alphanumeric());
        folds_to(written, &key.replace('-', ""))
            .then(|| value.trim().trim_matches(['"', '\'', '[', ']']))
    })?;
    if !value.is_empty() {
        return Some(vec![value.to_owned()]);
    }
    let items = lines.map_while(|line| line.trim_start().strip_prefix("- "));
    Some(items.map(|item| item.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn salvaged(text: &str) -> Fields {
        let mut fields = Fields::default();
        assert_eq!(restriction(text, &mut fields).len(), 1, "{text}");
        fields
    }

    #[test]
    fn a_list_is_taken_from_its_line_or_from_the_items_below() {
        for (text, entries) in [
            ("  name: x: y\n  allowed-tools: Read\n", &["Read"][..]),
            ("- a: b: c\nallowed_tools : [Read, Grep]\n", &["Read, Grep"]),
            ("# x\nallowed-tools: \"Read\"\n", &["Read"]),
            ("  \"allowed-tools\": Read\n", &["Read"]),
            ("\u{feff}allowedTools: Read", &["Read"]),
            (
                "  allowed-tools:\n    - Read\n    - Grep\n  x: y: z",
                &["Read", "Grep"],
            ),
            ("  allowed-tools:\n    Read: yes", &[]),
            ("? allowed-tools\n: Read", &[]),
        ] {
            let entries = entries.iter().map(|entry| (*entry).to_owned()).collect();
            assert_eq!(
                salvaged(text).allowed_tools(),
                ToolList::Listed(entries),
                "{text}"
            );
        }
    }

    #[test]
    fn two_lists_allow_nothing() {
        let contradicted = |yaml: &str| {
            let mut fields = Fields::default();
            contradiction(yaml, &mut fields).map(|_| fields.allowed_tools())
        };
        let nothing = Some(ToolList::Listed(Vec::new()));
        assert_eq!(
            contradicted("allowed-tools: Read\nx: y\nallowed-tools: Bash"),
            nothing
        );
        assert_eq!(
            contradicted("allowed-tools: Read\nallowed_tools: Bash"),
            nothing
        );
        assert_eq!(
            contradicted("allowed-tools: Read\nallowed-tools: Read"),
            None
        );
        assert_eq!(
            contradicted("allowed-tools: Read\nx:\n  allowed-tools: Bash"),
            None
        );
    }

    #[test]
    fn denials_are_taken_too() {
        for text in ["  disallowed-tools: Bash", "  disallowedTools:\n  - Bash"] {
            assert_eq!(salvaged(text).disallowed_tools(), ["Bash"], "{text}");
        }
    }

    #[test]
    fn what_could_be_read_is_left_alone_and_nothing_is_made_up() {
        let mut fields = Fields::default();
        assert!(restriction("  name: x: y\nnot-allowed-tools: Read", &mut fields).is_empty());
        fields.restrict("allowed_tools", vec!["Grep".to_owned()]);
        assert!(restriction("allowed-tools: Read", &mut fields).is_empty());
    }
}
