//! The reference's parser: its detection of the frontmatter, the properties in it, and its catalog
//! block for a system prompt.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::yaml;
use crate::error::{Error, Result};
use crate::skill::read_skill_file;

/// Why the reference rejects a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// A code of the table of rules.
    pub code: &'static str,
    /// The reference's message.
    pub message: String,
    /// Its subject: a field, or a place.
    pub at: At,
}

/// The place of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// A key of the frontmatter.
    Key(String),
    /// An offset in the text, in bytes.
    Offset(usize),
}

impl Problem {
    pub(super) fn new(code: &'static str, at: At, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message, at }
    }
}

/// The properties that a skill declares.
#[derive(Debug)]
pub struct Properties {
    /// Trimmed, otherwise as written.
    pub name: String,
    /// Trimmed, otherwise as written.
    pub description: String,
    fields: Map<String, Value>,
}

/// Whether a path is a skill's file, in any letter case; it then means its directory.
pub fn is_skill_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.eq_ignore_ascii_case("SKILL.md") && path.is_file()
}

/// `SKILL.md`, otherwise `skill.md`; no other spelling counts.
pub fn find_skill_md(dir: &Path) -> Option<PathBuf> {
    let names = ["SKILL.md", "skill.md"].map(|name| dir.join(name));
    names.into_iter().find(|path| path.exists())
}

/// The text of the skill in `dir` as Python reads it: UTF-8, with every line end as a newline.
///
/// # Errors
/// When it is not UTF-8, or cannot be read without leaving the directory around the skill.
pub fn read_text(dir: &Path, path: &Path) -> Result<String, Problem> {
    let bytes = read_skill_file(dir, path).map_err(|error| {
        let message = format!("SKILL.md cannot be read: {error}");
        Problem::new("spec-unreadable", At::Offset(0), message)
    })?;
    let encoding = |_| Problem::new("spec-encoding", At::Offset(0), "SKILL.md is not UTF-8");
    let text = String::from_utf8(bytes).map_err(encoding)?;
    Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// The fields of the frontmatter, which ends at the second `---`, wherever that is.
///
/// # Errors
/// When the reference finds no mapping.
pub fn parse_frontmatter(text: &str) -> Result<Map<String, Value>, Problem> {
    let bad = |code, at, message: &str| Err(Problem::new(code, At::Offset(at), message));
    let Some(rest) = text.strip_prefix("---") else {
        let message = "SKILL.md must start with YAML frontmatter (---)";
        return bad("spec-no-frontmatter", 0, message);
    };
    let Some((yaml, _)) = rest.split_once("---") else {
        let message = "SKILL.md frontmatter not properly closed with ---";
        return bad("spec-unclosed", 0, message);
    };
    match yaml::parse(yaml) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => {
            let message = "SKILL.md frontmatter must be a YAML mapping";
            bad("spec-not-a-mapping", 3, message)
        }
        Err((why, at)) => {
            let message = format!("Invalid YAML in frontmatter: {why}");
            bad("spec-yaml", 3 + at.unwrap_or(0).min(yaml.len()), &message)
        }
    }
}

/// The properties of the skill in `dir`, without validation.
///
/// # Errors
/// When the reference cannot read them.
pub fn read_properties(dir: &Path) -> Result<Properties> {
    let shown = dir.display();
    let failed = |message: String| {
        Error::new(format!("{shown}: {message}"))
            .hint("`agent-skills validate --strict` says where and what to do")
    };
    let missing = || failed(format!("SKILL.md not found in {shown}"));
    let file = find_skill_md(dir).ok_or_else(missing)?;
    let fields = read_text(dir, &file)
        .and_then(|text| parse_frontmatter(&text))
        .map_err(|problem| failed(problem.message))?;
    let text = |key: &str| match required(&fields, key) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err((_, message)) => Err(failed(message)),
    };
    let (name, description) = (text("name")?, text("description")?);
    Ok(Properties {
        name,
        description,
        fields,
    })
}

/// The text of a field that must be there and not be empty; otherwise whether it is there, and the
/// message.
pub(super) fn required<'f>(
    fields: &'f Map<String, Value>,
    key: &str,
) -> Result<&'f str, (bool, String)> {
    match fields.get(key) {
        None => Err((
            false,
            format!("Missing required field in frontmatter: {key}"),
        )),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
        Some(_) => Err((true, format!("Field '{key}' must be a non-empty string"))),
    }
}

impl Properties {
    /// The reference's JSON: indented by two spaces, with non-ASCII characters escaped.
    pub fn to_json(&self) -> String {
        let mut json = json!({"name": self.name, "description": self.description});
        for key in ["license", "compatibility", "allowed-tools", "metadata"] {
            match self.fields.get(key) {
                Some(Value::Object(entries)) if key == "metadata" => {
                    let text = |(key, value): (&String, &Value)| (key.clone(), shown(value));
                    json[key] = entries.iter().map(text).collect();
                }
                Some(Value::String(text)) if key == "metadata" && text.is_empty() => {}
                Some(value) => json[key] = value.clone(),
                None => {}
            }
        }
        format!("{json:#}").chars().map(ascii).collect()
    }
}

/// A value as printed by Python's `str`.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => repr(value),
    }
}

fn repr(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(repr).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| format!("{}: {}", quoted(key), repr(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        value => quoted(value.as_str().unwrap_or_default()),
    }
}

fn quoted(text: &str) -> String {
    if text.contains('\'') && !text.contains('"') {
        return format!("\"{text}\"");
    }
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    format!("'{}'", text.replace('\'', "\\'"))
}

fn ascii(c: char) -> String {
    if c.is_ascii() && c != '\u{7f}' {
        return c.to_string();
    }
    let mut units = [0; 2];
    let units = c.encode_utf16(&mut units).iter();
    units.fold(String::new(), |mut text, unit| {
        let _ = write!(text, "\\u{unit:04x}");
        text
    })
}

/// The block for the skills in `dirs`, in their order. One unreadable skill fails the whole call.
///
/// # Errors
/// As [`read_properties`], and when a directory does not exist.
pub fn to_prompt(dirs: &[PathBuf]) -> Result<String> {
    let mut lines = vec!["<available_skills>".to_owned()];
    for dir in dirs {
        let dir = dir
            .canonicalize()
            .map_err(|error| Error::io("open directory", dir, &error).hint("check the path"))?;
        let properties = read_properties(&dir)?;
        let location = find_skill_md(&dir).unwrap_or_default();
        let element = |tag: &str, text: &str| format!("<{tag}>\n{text}\n</{tag}>");
        lines.extend([
            "<skill>".to_owned(),
            element("name", &escape(&properties.name)),
            element("description", &escape(&properties.description)),
            // The reference does not escape it.
            element("location", &location.display().to_string()),
            "</skill>".to_owned(),
        ]);
    }
    lines.push("</available_skills>".to_owned());
    Ok(lines.join("\n"))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#x27;")
}
