//! The reference's validator: its checks in its order, with its messages.

use std::path::Path;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::parse::{At, Problem, find_skill_md, parse_frontmatter, read_text};
use super::yaml::Node;

const NAME: usize = 64;
const DESCRIPTION: usize = 1024;
const COMPATIBILITY: usize = 500;
/// Sorted, as the message lists them.
const FIELDS: [&str; 6] = [
    "allowed-tools",
    "compatibility",
    "description",
    "license",
    "metadata",
    "name",
];

/// The reference's problems with the skill in `dir`; empty if it is valid.
pub fn validate(dir: &Path) -> Vec<Problem> {
    let whole = |code, message: String| {
        vec![Problem {
            code,
            message,
            at: At::File,
        }]
    };
    if !dir.exists() {
        return whole(
            "spec-no-path",
            format!("Path does not exist: {}", dir.display()),
        );
    }
    if !dir.is_dir() {
        return whole(
            "spec-not-a-directory",
            format!("Not a directory: {}", dir.display()),
        );
    }
    let Some(file) = find_skill_md(dir) else {
        return whole(
            "spec-no-skill-file",
            "Missing required file: SKILL.md".to_owned(),
        );
    };
    match read_text(&file).and_then(|text| parse_frontmatter(&text)) {
        Ok(fields) => Validator::of(&fields, dir),
        Err(problem) => vec![problem],
    }
}

struct Validator<'a> {
    fields: &'a [(String, Node)],
    found: Vec<Problem>,
}

impl<'a> Validator<'a> {
    fn of(fields: &'a [(String, Node)], dir: &Path) -> Vec<Problem> {
        let found = Vec::new();
        let mut validator = Validator { fields, found };
        validator.fields();
        validator.name(dir);
        validator.description();
        validator.compatibility();
        validator.found
    }

    fn say(&mut self, code: &'static str, key: &str, message: String) {
        let at = At::Key(key.to_owned());
        self.found.push(Problem { code, message, at });
    }

    fn get(&self, key: &str) -> Option<&'a Node> {
        let found = self.fields.iter().find(|(name, _)| name == key);
        found.map(|(_, node)| node)
    }

    fn fields(&mut self) {
        let names = self.fields.iter().map(|(name, _)| name.as_str());
        let mut extra: Vec<&str> = names.filter(|name| !FIELDS.contains(name)).collect();
        let Some(first) = extra.first().copied() else {
            return;
        };
        extra.sort_unstable();
        let allowed = FIELDS.map(|name| format!("'{name}'")).join(", ");
        let message = format!(
            "Unexpected fields in frontmatter: {}. Only [{allowed}] are allowed.",
            extra.join(", ")
        );
        self.say("spec-unexpected-field", first, message);
    }

    /// The text of a field that must not be empty.
    fn required(
        &mut self,
        key: &str,
        missing: &'static str,
        empty: &'static str,
    ) -> Option<&'a str> {
        match self.get(key) {
            None => {
                let message = format!("Missing required field in frontmatter: {key}");
                self.say(missing, "", message);
                None
            }
            Some(Node::Text(text)) if !text.trim().is_empty() => Some(text),
            Some(_) => {
                self.say(
                    empty,
                    key,
                    format!("Field '{key}' must be a non-empty string"),
                );
                None
            }
        }
    }

    fn name(&mut self, dir: &Path) {
        let Some(written) = self.required("name", "spec-name-missing", "spec-name-empty") else {
            return;
        };
        let name: String = written.trim().nfkc().collect();
        let length = name.chars().count();
        if length > NAME {
            let message =
                format!("Skill name '{name}' exceeds {NAME} character limit ({length} chars)");
            self.say("spec-name-length", "name", message);
        }
        if name != name.to_lowercase() {
            let message = format!("Skill name '{name}' must be lowercase");
            self.say("spec-name-case", "name", message);
        }
        if name.starts_with('-') || name.ends_with('-') {
            let message = "Skill name cannot start or end with a hyphen".to_owned();
            self.say("spec-name-hyphen", "name", message);
        }
        if name.contains("--") {
            let message = "Skill name cannot contain consecutive hyphens".to_owned();
            self.say("spec-name-hyphens", "name", message);
        }
        if !name.chars().all(|c| is_alnum(c) || c == '-') {
            let message = format!(
                "Skill name '{name}' contains invalid characters. Only letters, digits, and \
                 hyphens are allowed."
            );
            self.say("spec-name-characters", "name", message);
        }
        // `.` has no file name.
        let real = dir
            .file_name()
            .is_none()
            .then(|| dir.canonicalize().ok())
            .flatten();
        let directory = real
            .as_deref()
            .unwrap_or(dir)
            .file_name()
            .unwrap_or_default();
        let directory = directory.to_string_lossy();
        if directory.nfkc().collect::<String>() != name {
            let message = format!("Directory name '{directory}' must match skill name '{name}'");
            self.say("spec-name-directory", "name", message);
        }
    }

    fn description(&mut self) {
        let (missing, empty) = ("spec-description-missing", "spec-description-empty");
        let Some(text) = self.required("description", missing, empty) else {
            return;
        };
        let length = text.chars().count();
        if length > DESCRIPTION {
            let message =
                format!("Description exceeds {DESCRIPTION} character limit ({length} chars)");
            self.say("spec-description-length", "description", message);
        }
    }

    fn compatibility(&mut self) {
        let key = "compatibility";
        match self.get(key) {
            None => {}
            Some(Node::Text(text)) => {
                let length = text.chars().count();
                if length > COMPATIBILITY {
                    let message = format!(
                        "Compatibility exceeds {COMPATIBILITY} character limit ({length} chars)"
                    );
                    self.say("spec-compatibility-length", key, message);
                }
            }
            Some(_) => {
                let message = "Field 'compatibility' must be a string".to_owned();
                self.say("spec-compatibility-type", key, message);
            }
        }
    }
}

/// Python's `isalnum`. Rust counts combining marks as alphabetic; Python does not.
fn is_alnum(c: char) -> bool {
    c.is_alphanumeric() && !is_combining_mark(c)
}
