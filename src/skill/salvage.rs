//! A restriction that stands in a frontmatter nobody can parse still restricts (RESTRICTION.md §7):
//! what its line says is taken, and doubt restricts more.

use super::fields::{Fields, fold};
use super::{Diagnostic, ToolList};

/// Takes the tool lists that `fields` lacks from their lines in `text`; says so for each.
pub fn restriction(text: &str, fields: &mut Fields) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for key in ["allowed-tools", "disallowed-tools"] {
        let is_there = match key {
            "allowed-tools" => fields.allowed_tools() != ToolList::Absent,
            _ => !fields.disallowed_tools().is_empty(),
        };
        if is_there {
            continue;
        }
        if let Some(entries) = entries(text, key) {
            fields.restrict(key, entries);
            let message = format!(
                "the frontmatter could not be read, so `{key}` was taken from its line, and the \
                 skill is restricted by that"
            );
            diagnostics.push(Diagnostic::warning("allowed-tools-salvaged", message));
        }
    }
    diagnostics
}

/// What follows a key on its line, else the list items on the lines below it.
fn entries(text: &str, key: &str) -> Option<Vec<String>> {
    let mut lines = text.lines();
    let value = lines.find_map(|line| {
        let (written, value) = line.split_once(':')?;
        // Indentation, list marks, quotes and invisible characters may stand around the key.
        let written = written.trim_matches(|c: char| !c.is_alphanumeric());
        (fold(written) == fold(key)).then(|| value.trim().trim_matches(['"', '\'', '[', ']']))
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
