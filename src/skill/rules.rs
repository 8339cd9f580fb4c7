//! The severities of the scan, and the level and remedy of each code: those of the format, and those of
//! this program. Codes are an interface: pipelines filter by them, so their meaning never changes.

use serde::{Deserialize, Serialize};
use skill_format::{Level, RULES as OF_FORMAT, Rule};

use Level::{Error, Note, Warning};

/// The severity of a finding of the scan, lowest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing
    Note,
    /// Many honest skills have it
    Warn,
    /// Few honest skills have it
    High,
    /// No honest skill was seen to have it
    Block,
}

impl Severity {
    /// The severity as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warn => "warn",
            Self::High => "high",
            Self::Block => "block",
        }
    }
}

/// Every rule besides those of the format. A finding of another room may have another level.
#[rustfmt::skip]
const RULES: &[Rule] = &[
    // An installed skill.
    ("changed", Error, "call again"),
    ("changed-since", Note, "`agent-skills verify` names the files"),
    ("hidden-from-model", Note, "`agent-skills enable NAME` shows it to the model"),
    ("duplicate-name", Error, "rename or remove one of the two"),
    ("description-shortened", Note, "shorten descriptions"),
    ("description-omitted", Note, "shorten descriptions"),
    ("name-omitted", Note, "shorten descriptions"),
    // File and frontmatter.
    ("no-path", Error, "give a skill's directory, its SKILL.md, or a directory with skills"),
    ("no-skill-file", Error, "write a SKILL.md; `agent-skills new NAME` makes one"),
    ("unreadable", Error, "make it a regular file inside the skill that you may read"),
    // Fields.
    ("requires-missing", Warning, "install what it requires, or correct the name in `requires`"),
    ("requires-circle", Warning, "leave one of them out of `requires`"),
    ("requires-too-many", Warning, "require fewer, or raise `max_active`"),
    ("hook-missing", Error, "add the script, or correct its path: it is relative to the skill's directory"),
    ("hook-leaves-skill", Error, "bundle the script: a skill is installed alone"),
    // Permissions.
    ("empty-allowed-tools", Warning, "list the tools it needs, or remove the key to restrict nothing"),
    ("no-valid-entry", Warning, "use tool names such as Read, Grep, Bash(git:*)"),
    ("unknown-tool", Warning, "correct the name, or keep it if it is a plugin's tool"),
    ("empty-pattern", Warning, "write what the tool may be used for, or leave the parentheses out"),
    ("control-character", Warning, "retype the entry"),
    ("unbalanced", Warning, "close the parenthesis or the quotation mark"),
    ("not-a-name", Warning, "write each entry as `NAME` or `NAME(pattern)`"),
    ("trailing-text", Warning, "put a space or a comma between entries"),
    ("unsupported-pattern", Warning, "leave the parentheses out, or write a command, a path, a glob or `domain:example.org`"),
    ("invalid-path-pattern", Warning, "use a path or a glob"),
    ("invalid-domain", Warning, "write `domain:example.org`"),
    ("comma-in-pattern", Warning, "write an entry for each pattern"),
    ("placeholder", Warning, "name the program"),
    ("narrow-denial", Note, "deny the program, unless only these options are meant"),
    ("bare-star", Warning, "list the tools it needs, or remove the key"),
    ("tool-not-allowed", Warning, "add the tool to `allowed-tools`, or let the body do without it"),
    ("command-not-allowed", Warning, "add `Bash(program:*)` to `allowed-tools`, or let the body do without it"),
    // Body and files.
    ("missing-reference", Warning, "add the file, or correct the path: it is relative to the skill's directory"),
    ("reference-leaves-skill", Warning, "a skill is installed alone: bundle the file, or name the other skill in words"),
    ("link-leaves-skill", Warning, "replace the link by the file: it is left out when the skill is installed"),
    ("link-broken", Warning, "remove the link or mend its target"),
    ("script-no-interpreter", Warning, "begin it with a line such as `#!/usr/bin/env python3`, or use .py, .sh, .js"),
    ("too-many-files", Error, "leave out what is built or downloaded"),
    ("too-large", Error, "leave out what is built or downloaded"),
    ("manifest-differs", Error, "sign again with `agent-skills package --sign KEY --in-place`, or remove it and its signature"),
    ("manifest-unsigned", Warning, "sign it with `agent-skills package --sign KEY --in-place`, or remove it"),
    // Findings of the scan.
    ("secret", Warning, "remove it and revoke it; let people set it in their environment"),
    ("zero-width", Warning, "retype the line: it has characters that do not show"),
    ("mixed-scripts", Warning, "retype the word in one alphabet"),
    ("hidden-text", Error, "remove the characters; no honest skill has them"),
    ("bidi", Error, "remove the characters; no honest skill has them"),
];

/// The level of a code. Codes without a row are warnings.
pub fn level(code: &str) -> Level {
    find(code).map_or(Warning, |(_, level, _)| *level)
}

/// The remedy for a code.
pub fn remedy(code: &str) -> String {
    let remedy = find(code).map_or("check the line", |(.., remedy)| remedy);
    remedy.to_owned() + fix(code)
}

/// What `validate --fix` does about a code, to be read after the remedy.
pub fn fix(code: &str) -> &'static str {
    match code {
        "yaml-repaired" => "; `--fix` does it where its meaning is certain",
        "name-altered" => "; `--fix` does it if they agree",
        "allowed-tools-spelling"
        | "byte-order-mark"
        | "glued-fence"
        | "line-ends"
        | "name-missing"
        | "no-opening-fence"
        | "wrapped-in-fence" => "; `--fix` does it",
        _ => "",
    }
}

/// What the message with a code of the format means in this program, to be read after it.
pub fn in_this_program(code: &str) -> &'static str {
    match code {
        "near-miss" => {
            " It is not offered to a model until you agree, at the install or with `agent-skills enable`"
        }
        "foreign-hooks" => ", chibi does not",
        "commands-not-run" => "; chibi does not, and tells the model",
        _ => "",
    }
}

fn find(code: &str) -> Option<&'static Rule> {
    let mut all = RULES.iter().chain(OF_FORMAT);
    all.find(|(known, ..)| *known == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_remedies_are_one_short_line() {
        let codes = RULES.iter().map(|(code, ..)| *code);
        let codes: Vec<&str> = codes
            .chain(OF_FORMAT.iter().map(|(code, ..)| *code))
            .collect();
        for (at, code) in codes.iter().enumerate() {
            assert!(!codes[at + 1..].contains(code), "{code}");
            assert!(
                code.chars()
                    .all(|c| c.is_ascii_lowercase() || c == '-' || c == '8'),
                "{code}"
            );
            let remedy = remedy(code);
            assert!(
                !remedy.is_empty() && !remedy.contains('\n') && remedy.len() < 110,
                "{code}"
            );
        }
    }

    #[test]
    fn hooks_that_do_not_run_have_a_remedy() {
        assert!(remedy("hooks-unclear").contains("hooks: {pre: "));
        assert_eq!(level("foreign-hooks"), Note);
    }

    #[test]
    fn the_documentation_has_every_field() {
        let docs = include_str!("../../docs/authors.md");
        for field in &skill_format::FIELDS {
            let row = format!("\n| `{}` | ", field.key);
            assert!(docs.contains(&row), "{row}");
        }
    }

    #[test]
    fn the_documentation_names_every_code() {
        let docs = include_str!("../../docs/authors.md");
        // What `validate` never reports, docs/json.md names.
        let installed = RULES
            .iter()
            .position(|(code, ..)| *code == "no-path")
            .unwrap();
        assert_eq!(installed, 7);
        let codes = RULES[installed..].iter().map(|(code, ..)| *code);
        for code in codes.chain(OF_FORMAT.iter().map(|(code, ..)| *code)) {
            assert!(docs.contains(&format!("`{code}`")), "{code}");
        }
    }
}
