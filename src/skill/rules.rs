//! Levels and severities, and for each code its level and remedy. Codes are an interface: pipelines
//! filter by them, so their meaning never changes.

use serde::{Deserialize, Serialize};

use Level::{Error, Note, Warning};

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Unusual, but without consequence.
    Note,
    /// The skill works, but probably not as its author intended.
    Warning,
    /// The skill is not offered to the model.
    Error,
}

impl Level {
    /// The level as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

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

/// A code, its level, and a one-line remedy.
type Rule = (&'static str, Level, &'static str);

/// Every rule. A finding of another room may have another level.
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
    ("not-utf8", Warning, "save the file as UTF-8"),
    ("no-frontmatter", Error, "begin with `---`, `name:`, `description:`, `---`, a line each"),
    ("foreign-fence", Error, "write YAML between two lines `---`"),
    ("wrapped-in-fence", Note, "remove the file's first and last line; `--fix` does it"),
    ("no-opening-fence", Warning, "put a line `---` before the first key; `--fix` does it"),
    ("text-before-frontmatter", Warning, "move the text below the frontmatter"),
    ("unclosed-frontmatter", Warning, "put a line `---` after the last key"),
    ("glued-fence", Note, "give the closing `---` a line of its own; `--fix` does it"),
    ("frontmatter-too-large", Warning, "move long values into the body or into files"),
    ("yaml-repaired", Warning, "quote the value; `--fix` does it where its meaning is certain"),
    ("byte-order-mark", Note, "save the file without one; `--fix` does it"),
    ("line-ends", Note, "use Unix line ends; `--fix` does it"),
    // Fields.
    ("name-missing", Note, "add `name:` with the directory's name; `--fix` does it"),
    ("name-unusable", Error, "use lowercase letters, digits and single hyphens"),
    ("name-too-long", Warning, "shorten it to 64 characters"),
    ("name-altered", Note, "use lowercase letters, digits and single hyphens, as the directory; `--fix` does it if they agree"),
    ("name-mismatch", Note, "give the directory and `name` the same name"),
    ("description-missing", Error, "add `description:`: what the skill does, and when to use it"),
    ("description-too-long", Note, "shorten it to 1024 characters; details belong in the body"),
    ("description-no-when", Warning, "say when: add a sentence that begins with `Use when`"),
    ("description-overlap", Warning, "say in each description what the other is not for, or merge them"),
    ("unknown-field", Note, "other clients may not know it: move it below `metadata`"),
    ("field-spelling", Warning, "spell it as the documentation does"),
    ("field-value", Warning, "write a value that the field takes"),
    ("field-ignored", Note, "remove it unless it is for another client"),
    ("compatibility-too-long", Note, "shorten it to 500 characters"),
    ("requires-missing", Warning, "install what it requires, or correct the name in `requires`"),
    ("requires-circle", Warning, "leave one of them out of `requires`"),
    ("requires-too-many", Warning, "require fewer, or raise `max_active`"),
    ("hooks-unclear", Warning, "write `hooks: {pre: scripts/a.sh, post: scripts/b.sh}`"),
    ("hook-missing", Error, "add the script, or correct its path: it is relative to the skill's directory"),
    ("hook-leaves-skill", Error, "bundle the script: a skill is installed alone"),
    ("foreign-hooks", Note, "tell the model to run them, or what to do without"),
    // Permissions.
    ("allowed-tools-spelling", Warning, "spell the key `allowed-tools`; `--fix` does it"),
    ("null-allowed-tools", Warning, "list tools, write `\"\"` to allow none, or remove the key"),
    ("key-not-read", Warning, "write the key on a line of its own with a value that is valid YAML"),
    ("near-miss", Warning, "spell the key so, at the top level, or rename it"),
    ("allowed-tools-twice", Warning, "keep one list"),
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
    ("body-empty", Warning, "write what the model is to do"),
    ("body-lines", Warning, "keep the body below 500 lines: move details to files below references/"),
    ("commands-not-run", Note, "tell the model to run them, or what to do without"),
    ("many-tokens", Warning, "keep the body below 8000 tokens: move details to files below references/"),
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
pub fn remedy(code: &str) -> &'static str {
    let any = "check the line";
    find(code).map_or(any, |(.., remedy)| remedy)
}

fn find(code: &str) -> Option<&'static Rule> {
    RULES.iter().find(|(known, ..)| *known == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_remedies_are_one_short_line() {
        for (at, (code, _, remedy)) in RULES.iter().enumerate() {
            assert!(
                RULES[at + 1..].iter().all(|(other, _, _)| other != code),
                "{code}"
            );
            assert!(
                code.chars()
                    .all(|c| c.is_ascii_lowercase() || c == '-' || c == '8'),
                "{code}"
            );
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
    fn the_documentation_names_every_code() {
        let docs = include_str!("../../docs/authors.md");
        // What `validate` never reports, docs/json.md names.
        let installed = RULES
            .iter()
            .position(|(code, ..)| *code == "no-path")
            .unwrap();
        assert_eq!(installed, 7);
        for (code, _, _) in &RULES[installed..] {
            assert!(docs.contains(&format!("`{code}`")), "{code}");
        }
    }
}
