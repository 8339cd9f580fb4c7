//! The reference's validator: its checks in its order, with its messages.

use std::path::Path;

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::parse::{At, Problem, find_skill_md, parse_frontmatter, read_text, required};

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
    let shown = dir.display();
    let whole = |code, message: &str| vec![Problem::new(code, At::Offset(0), message)];
    if !dir.exists() {
        return whole("spec-no-path", &format!("Path does not exist: {shown}"));
    }
    if !dir.is_dir() {
        return whole("spec-not-a-directory", &format!("Not a directory: {shown}"));
    }
    let Some(file) = find_skill_md(dir) else {
        return whole("spec-no-skill-file", "Missing required file: SKILL.md");
    };
    match read_text(dir, &file).and_then(|text| parse_frontmatter(&text)) {
        Ok(fields) => Validator::problems(&fields, dir),
        Err(problem) => vec![problem],
    }
}

struct Validator<'a> {
    fields: &'a Map<String, Value>,
    found: Vec<Problem>,
}

impl<'a> Validator<'a> {
    fn problems(fields: &'a Map<String, Value>, dir: &Path) -> Vec<Problem> {
        let found = Vec::new();
        let mut validator = Validator { fields, found };
        validator.fields();
        validator.name(dir);
        validator.description();
        validator.compatibility();
        validator.found
    }

    fn say(&mut self, code: &'static str, key: &str, message: impl Into<String>) {
        let at = At::Key(key.to_owned());
        self.found.push(Problem::new(code, at, message));
    }

    /// Reports a text that is too long; `what` begins the message.
    fn limit(&mut self, code: &'static str, key: &str, what: &str, text: &str, most: usize) {
        let length = text.chars().count();
        if length > most {
            let message = format!("{what} exceeds {most} character limit ({length} chars)");
            self.say(code, key, message);
        }
    }

    fn fields(&mut self) {
        let names = self.fields.keys().map(String::as_str);
        let mut extra: Vec<&str> = names.filter(|name| !FIELDS.contains(name)).collect();
        let Some(first) = extra.first().copied() else {
            return;
        };
        extra.sort_unstable();
        let (extra, allowed) = (extra.join(", "), FIELDS.join("', '"));
        let message =
            format!("Unexpected fields in frontmatter: {extra}. Only ['{allowed}'] are allowed.");
        self.say("spec-unexpected-field", first, message);
    }

    /// The text of a field that must not be empty; the codes say that it is missing or empty.
    fn required(&mut self, key: &str, [missing, empty]: [&'static str; 2]) -> Option<&'a str> {
        let checked = required(self.fields, key);
        match checked {
            Ok(text) => return Some(text),
            Err((true, message)) => self.say(empty, key, message),
            Err((false, message)) => self.say(missing, "", message),
        }
        None
    }

    fn name(&mut self, dir: &Path) {
        let Some(written) = self.required("name", ["spec-name-missing", "spec-name-empty"]) else {
            return;
        };
        let name: String = written.trim().nfkc().collect();
        let what = format!("Skill name '{name}'");
        self.limit("spec-name-length", "name", &what, &name, NAME);
        if name != name.to_lowercase() {
            let message = format!("{what} must be lowercase");
            self.say("spec-name-case", "name", message);
        }
        if name.starts_with('-') || name.ends_with('-') {
            let message = "Skill name cannot start or end with a hyphen";
            self.say("spec-name-hyphen", "name", message);
        }
        if name.contains("--") {
            let message = "Skill name cannot contain consecutive hyphens";
            self.say("spec-name-hyphens", "name", message);
        }
        if !name.chars().all(|c| is_alnum(c) || c == '-') {
            let message = format!(
                "{what} contains invalid characters. Only letters, digits, and hyphens are allowed."
            );
            self.say("spec-name-characters", "name", message);
        }
        // `.` has no file name.
        let real = match dir.file_name() {
            Some(_) => dir.to_owned(),
            None => dir.canonicalize().unwrap_or_default(),
        };
        let directory = real.file_name().unwrap_or_default().to_string_lossy();
        if directory.nfkc().collect::<String>() != name {
            let message = format!("Directory name '{directory}' must match skill name '{name}'");
            self.say("spec-name-directory", "name", message);
        }
    }

    fn description(&mut self) {
        let codes = ["spec-description-missing", "spec-description-empty"];
        if let Some(text) = self.required("description", codes) {
            let code = "spec-description-length";
            self.limit(code, "description", "Description", text, DESCRIPTION);
        }
    }

    fn compatibility(&mut self) {
        let (key, code) = ("compatibility", "spec-compatibility-length");
        match self.fields.get(key) {
            None => {}
            Some(Value::String(text)) => {
                self.limit(code, key, "Compatibility", text, COMPATIBILITY);
            }
            Some(_) => {
                let message = "Field 'compatibility' must be a string";
                self.say("spec-compatibility-type", key, message);
            }
        }
    }
}

/// Python's `isalnum`. Rust counts combining marks as alphabetic; Python does not.
fn is_alnum(c: char) -> bool {
    c.is_alphanumeric() && !is_combining_mark(c)
}
