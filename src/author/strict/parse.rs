//! The reference's parser: its detection of the frontmatter, and the properties in it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::yaml::{self, Node};
use crate::error::{Error, Result};
use crate::sys::{files, limits};

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
    /// The whole file.
    File,
    /// A key of the frontmatter.
    Key(String),
    /// An offset in the text, in bytes.
    Offset(usize),
}

/// The properties that a skill declares.
#[derive(Debug)]
pub struct Properties {
    /// Trimmed, otherwise as written.
    pub name: String,
    /// Trimmed, otherwise as written.
    pub description: String,
    fields: Vec<(String, Node)>,
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

/// The text as Python reads it: UTF-8, with every line end as a newline.
///
/// # Errors
/// When it is not UTF-8 or cannot be read.
pub fn read_text(path: &Path) -> Result<String, Problem> {
    let bad = |code, message| Problem {
        code,
        message,
        at: At::File,
    };
    let bytes = files::read_capped(path, limits::SKILL_FILE).map_err(|error| {
        bad(
            "spec-unreadable",
            format!("SKILL.md cannot be read: {error}"),
        )
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|_| bad("spec-encoding", "SKILL.md is not UTF-8".to_owned()))?;
    Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// The fields of the frontmatter, which ends at the second `---`, wherever that is.
///
/// # Errors
/// When the reference finds no mapping.
pub fn parse_frontmatter(text: &str) -> Result<Vec<(String, Node)>, Problem> {
    let bad = |code, message: &str, at| Problem {
        code,
        message: message.to_owned(),
        at,
    };
    let Some(rest) = text.strip_prefix("---") else {
        let message = "SKILL.md must start with YAML frontmatter (---)";
        return Err(bad("spec-no-frontmatter", message, At::Offset(0)));
    };
    let Some((yaml, _)) = rest.split_once("---") else {
        let message = "SKILL.md frontmatter not properly closed with ---";
        return Err(bad("spec-unclosed", message, At::Offset(0)));
    };
    match yaml::parse(yaml) {
        Ok(Node::Map(fields)) => Ok(fields),
        Ok(_) => {
            let message = "SKILL.md frontmatter must be a YAML mapping";
            Err(bad("spec-not-a-mapping", message, At::Offset(3)))
        }
        Err((why, at)) => {
            let message = format!("Invalid YAML in frontmatter: {why}");
            let at = At::Offset(3 + at.unwrap_or(0).min(yaml.len()));
            Err(bad("spec-yaml", &message, at))
        }
    }
}

/// The properties of the skill in `dir`, without validation.
///
/// # Errors
/// When the reference cannot read them.
pub fn read_properties(dir: &Path) -> Result<Properties> {
    let failed = |message: String| {
        Error::new(format!("{}: {message}", dir.display()))
            .hint("`agent-skills validate --strict` says where and what to do")
    };
    let file = find_skill_md(dir)
        .ok_or_else(|| failed(format!("SKILL.md not found in {}", dir.display())))?;
    let fields = read_text(&file)
        .and_then(|text| parse_frontmatter(&text))
        .map_err(|problem| failed(problem.message))?;
    let text = |key: &str| match fields.iter().find(|(name, _)| name == key) {
        None => Err(failed(format!(
            "Missing required field in frontmatter: {key}"
        ))),
        Some((_, Node::Text(text))) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        Some(_) => Err(failed(format!("Field '{key}' must be a non-empty string"))),
    };
    let (name, description) = (text("name")?, text("description")?);
    Ok(Properties {
        name,
        description,
        fields,
    })
}

impl Properties {
    /// The reference's JSON: indented by two spaces, with non-ASCII characters escaped.
    pub fn to_json(&self) -> String {
        let mut json = Map::new();
        json.insert("name".to_owned(), Value::from(self.name.as_str()));
        json.insert(
            "description".to_owned(),
            Value::from(self.description.as_str()),
        );
        for key in ["license", "compatibility", "allowed-tools", "metadata"] {
            let Some((_, node)) = self.fields.iter().find(|(name, _)| name == key) else {
                continue;
            };
            match node {
                Node::Map(entries) if key == "metadata" => {
                    let text =
                        |(key, node): &(String, Node)| (key.clone(), Value::from(shown(node)));
                    json.insert(key.to_owned(), entries.iter().map(text).collect());
                }
                Node::Text(text) if key == "metadata" && text.is_empty() => {}
                node => {
                    json.insert(key.to_owned(), value(node));
                }
            }
        }
        let pretty = serde_json::to_string_pretty(&Value::Object(json)).unwrap_or_default();
        pretty.chars().map(ascii).collect()
    }
}

fn value(node: &Node) -> Value {
    match node {
        Node::Text(text) => Value::from(text.as_str()),
        Node::List(items) => items.iter().map(value).collect(),
        Node::Map(entries) => {
            let entries = entries.iter().map(|(key, node)| (key.clone(), value(node)));
            Value::Object(entries.collect())
        }
    }
}

/// A value as printed by Python's `str`.
fn shown(node: &Node) -> String {
    match node {
        Node::Text(text) => text.clone(),
        node => repr(node),
    }
}

fn repr(node: &Node) -> String {
    match node {
        Node::Text(text) if text.contains('\'') && !text.contains('"') => format!("\"{text}\""),
        Node::Text(text) => {
            let text = text.replace('\\', "\\\\").replace('\n', "\\n");
            format!("'{}'", text.replace('\'', "\\'"))
        }
        Node::List(items) => {
            format!(
                "[{}]",
                items.iter().map(repr).collect::<Vec<_>>().join(", ")
            )
        }
        Node::Map(entries) => {
            let entry = |(key, node): &(String, Node)| {
                format!("{}: {}", repr(&Node::Text(key.clone())), repr(node))
            };
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
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
