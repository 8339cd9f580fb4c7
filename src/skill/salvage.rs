//! Finds the restriction in a frontmatter that cannot be parsed, because it still restricts
//! (docs/spec/restriction.md#absent-null-and-empty). Its line is read as text; in doubt it
//! restricts more.

use super::fields::{Fields, is_allowed_tools, is_disallowed_tools};
use super::{Diagnostic, ToolList};

/// Adds the tool lists that `fields` lacks from their lines in `text`, with a diagnostic for each.
/// Different lists of allowed tools allow nothing, and all denials count.
pub fn restriction(text: &str, fields: &mut Fields) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    if fields.allowed_tools() == ToolList::Absent {
        let mut lists = lists(text, is_allowed_tools);
        if let Some(list) = lists.pop() {
            let agree = lists.iter().all(|other| *other == list);
            fields.restrict("allowed-tools", if agree { list } else { Vec::new() });
            diagnostics.push(Diagnostic::AllowedToolsSalvaged("allowed-tools".to_owned()));
            diagnostics.extend((!agree).then_some(Diagnostic::AllowedToolsTwice));
        }
    }
    let denied = lists(text, is_disallowed_tools);
    if fields.disallowed_tools().is_empty() && !denied.is_empty() {
        // A list that is somewhere else could hold any tool; `?` is the name of none.
        let mut entries = denied.concat();
        if denied.iter().any(Vec::is_empty) {
            entries.push("?".to_owned());
        }
        fields.restrict("disallowed-tools", entries);
        diagnostics.push(Diagnostic::AllowedToolsSalvaged(
            "disallowed-tools".to_owned(),
        ));
    }
    diagnostics
}

/// Every list under such a key: the text after the key on its line, else the list items on the
/// lines below it.
fn lists(text: &str, is_key: fn(&str) -> bool) -> Vec<Vec<String>> {
    let mut lists = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        // With `? key`, the value is on another line, which only a YAML parser can find.
        let complex = line.trim_start().strip_prefix("? ").map(|key| (key, ""));
        let Some((key, value)) = complex.or_else(|| line.split_once(':')) else {
            continue;
        };
        // Indentation, list marks, quotes or invisible characters may surround the key.
        if !is_key(key.trim_matches(|c: char| !c.is_alphanumeric())) {
            continue;
        }
        let value = value.trim().trim_matches(['"', '\'', '[', ']']);
        lists.push(if value.is_empty() {
            let items = lines.clone();
            let items = items.map_while(|line| line.trim_start().strip_prefix("- "));
            items.map(|item| item.trim().to_owned()).collect()
        } else {
            vec![value.to_owned()]
        });
    }
    lists
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
    fn all_denials_are_taken_too() {
        for (text, denied) in [
            ("  disallowed-tools: Bash", &["Bash"][..]),
            ("  disallowedTools:\n  - Bash", &["Bash"]),
            (
                "  disallowed-tools: Bash\n  disallowed-tools: Write",
                &["Bash", "Write"],
            ),
            ("? disallowed-tools\n: Bash", &["?"]),
            ("  disallowed-tools:\n    Bash: yes", &["?"]),
        ] {
            assert_eq!(salvaged(text).disallowed_tools(), denied, "{text}");
        }
    }

    #[test]
    fn different_lists_allow_nothing() {
        for (second, codes, allowed) in [("Read", 1, &["Read"][..]), ("Bash", 2, &[]), ("", 2, &[])]
        {
            let text = format!("  allowed-tools: Read\n  allowed-tools: {second}");
            let mut fields = Fields::default();
            assert_eq!(restriction(&text, &mut fields).len(), codes, "{text}");
            let allowed = allowed.iter().map(|entry| (*entry).to_owned()).collect();
            assert_eq!(fields.allowed_tools(), ToolList::Listed(allowed), "{text}");
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
