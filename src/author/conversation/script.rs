//! The file format of a conversation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::expect::Expect;
use crate::error::{Error, Result};
use crate::skill::deepest_bracket;
use crate::sys::{files, limits};

/// A conversation as its author wrote it.
#[derive(Debug)]
pub struct Conversation {
    /// Its path.
    pub file: PathBuf,
    pub(super) text: String,
    pub(super) script: Script,
}

/// The host generations that play it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hosts {
    /// All of them, one after the other.
    #[default]
    Both,
    /// chibi 0.7 and later.
    Stdin,
    /// chibi up to 0.6.
    Environment,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    #[serde(default)]
    pub host: Hosts,
    /// Directories, relative to the file.
    pub skills: Vec<PathBuf>,
    /// Files of the project, by path.
    #[serde(default)]
    pub files: BTreeMap<PathBuf, String>,
    /// The text of a `config.toml`.
    #[serde(default)]
    pub config: String,
    pub steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The user's prompt; it starts a new run of the host.
    pub prompt: Option<String>,
    /// The id of the conversation that a prompt belongs to.
    pub context: Option<String>,
    /// The tool that the model calls.
    pub call: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Option<Value>,
    /// The result of a tool that is not ours.
    pub result: Option<String>,
    #[serde(default)]
    pub expect: Expect,
    /// The recorded answer: one text, or one per generation.
    pub answer: Option<Value>,
}

impl Conversation {
    /// Reads a file; `.json` is JSON, everything else YAML.
    ///
    /// # Errors
    /// When it cannot be read or is not a conversation.
    pub fn read(file: &Path) -> Result<Self> {
        let bytes = files::read_capped(file, limits::CONVERSATION).map_err(|error| {
            Error::io("read", file, &error)
                .hint("give a file with a conversation; docs/authors.md shows one")
        })?;
        let wrong = |why: &dyn std::fmt::Display| {
            Error::new(format!("`{}` is no conversation: {why}", file.display())).hint(
                "docs/authors.md shows what one has: skills, and steps with `prompt` or `call`",
            )
        };
        let text = String::from_utf8(bytes).map_err(|error| wrong(&error))?;
        let most = limits::FRONTMATTER_BRACKETS;
        // Both formats are parsed to a plain value first, so that the fields are read in one way.
        let value: Value = if is_json(file) {
            serde_json::from_str(&text).map_err(|error| wrong(&error))?
        } else if deepest_bracket(&text) > most {
            // The YAML parser's time is quadratic in the nesting.
            return Err(wrong(&format!(
                "more than {most} brackets are open at once"
            )));
        } else {
            serde_yaml::from_str(&text).map_err(|error| wrong(&error))?
        };
        let script: Script = serde_json::from_value(value).map_err(|error| wrong(&error))?;
        let is_unclear = |step: &Step| step.prompt.is_some() == step.call.is_some();
        if let Some(at) = script.steps.iter().position(is_unclear) {
            let step = at + 1;
            let why = format!("step {step} has neither or both of `prompt` and `call`");
            return Err(wrong(&why));
        }
        if script.steps.is_empty() || script.skills.is_empty() {
            return Err(wrong(&"it has no steps, or no skills"));
        }
        Ok(Self {
            file: file.to_owned(),
            text,
            script,
        })
    }
}

pub fn is_json(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}
