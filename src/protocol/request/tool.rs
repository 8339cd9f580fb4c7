//! Tool calls and their arguments, typed.

#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde_json::Value;

use super::arguments::{any_as_text, count, given, list_or_text, name, typed, wrong};
use crate::error::{Error, Result};
use crate::host::ours;
use crate::protocol::{Activate, Payload, RunSkillScript, SkillSession};
use crate::sys::text::quoted;

/// A call of one of our tools.
#[derive(Debug, PartialEq)]
pub enum ToolCall {
    /// `agent-skills`, `skill_marketplace`: a command line.
    Command(Vec<String>),
    /// `read_skill_file`.
    ReadSkillFile(ReadSkillFile),
    /// `run_skill_script`.
    RunSkillScript(RunSkillScript),
    /// `skill`, `skill_marketplace` with the action `use`, and any other name: a skill's tool, if
    /// the catalog knows it.
    Activate(Activate),
    /// `skill_session`.
    SkillSession(SkillSession),
    /// `propose_skill_update`.
    ProposeSkillUpdate(ProposeSkillUpdate),
    /// `create_skill`.
    CreateSkill(CreateSkill),
}

/// Arguments of `read_skill_file`.
#[derive(Debug, PartialEq, Deserialize)]
pub struct ReadSkillFile {
    /// The skill's name; if absent, the most recently loaded skill.
    #[serde(default, deserialize_with = "name")]
    pub skill: Option<String>,
    /// The file, relative to the skill's directory.
    pub path: String,
    /// The first line to return, counted from 1.
    #[serde(default, deserialize_with = "count")]
    pub offset: Option<u64>,
    /// How many lines to return.
    #[serde(default, deserialize_with = "count")]
    pub limit: Option<u64>,
    /// A pattern: only lines that it matches are returned.
    #[serde(default, deserialize_with = "name")]
    pub pattern: Option<String>,
}

/// Arguments of `propose_skill_update`.
#[derive(Debug, PartialEq, Deserialize)]
pub struct ProposeSkillUpdate {
    /// The skill's name.
    pub skill: String,
    /// A unified diff against its files.
    pub diff: String,
    /// The reason for the change.
    pub justification: String,
    /// Evidence for the reason.
    #[serde(default, deserialize_with = "any_as_text")]
    pub evidence: Option<String>,
}

/// Arguments of `create_skill`.
#[derive(Debug, PartialEq, Deserialize)]
pub struct CreateSkill {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// Its instructions.
    pub body: String,
    /// The entries of `allowed-tools`; `None` restricts nothing.
    #[serde(default, deserialize_with = "list_or_text")]
    pub allowed_tools: Option<Vec<String>>,
}

/// The arguments of `skill_marketplace`.
#[derive(Deserialize)]
struct Marketplace {
    action: String,
    skill_ref: Option<String>,
    #[serde(alias = "arguments")]
    query: Option<String>,
}

impl ToolCall {
    /// Parses a call of the tool `name`.
    ///
    /// # Errors
    /// When the arguments are not what the tool takes; the hint shows a valid call.
    pub fn parse(name: &str, arguments: Payload) -> Result<Self> {
        let arguments = arguments.map_err(|reason| {
            let text = format!("the arguments of `{name}` could not be read: {reason}");
            Error::new(text).hint("pass one JSON object")
        })?;
        Ok(match name {
            ours::DIRECT => Self::Command(words(arguments.get("args"))?.unwrap_or_default()),
            ours::MARKETPLACE => match (words(arguments.get("args")), arguments.get("action")) {
                (Ok(None), _) => typed::<Marketplace>(name, arguments)?.call()?,
                (words, None) => {
                    let mut words = words?.unwrap_or_default();
                    // In this tool it lists what can be installed.
                    if let Some(verb) = words.first_mut().filter(|verb| *verb == "list") {
                        "search".clone_into(verb);
                    }
                    Self::Command(words)
                }
                (_, Some(_)) => return Err(wrong(name, "`action` and `args` both say what to do")),
            },
            ours::READ_FILE => Self::ReadSkillFile(typed(name, arguments)?),
            ours::RUN_SCRIPT => Self::RunSkillScript(RunSkillScript::parse(arguments)?),
            ours::PROPOSE => Self::ProposeSkillUpdate(typed(name, arguments)?),
            ours::CREATE => Self::CreateSkill(typed(name, arguments)?),
            ours::SESSION => Self::SkillSession(SkillSession::parse(arguments)?),
            _ => Self::Activate(Activate::parse(name, arguments)?),
        })
    }
}

impl Marketplace {
    /// The activation, or the equivalent command line: a call means the same for the model and for
    /// a person.
    fn call(self) -> Result<ToolCall> {
        let action = self.action.to_ascii_lowercase().replace('-', "_");
        let reference = self.skill_ref.as_deref().and_then(given);
        let query = self.query.as_deref().and_then(given);
        let needs = |what: &str, example: &str| {
            Error::new(format!("`{action}` needs {what}")).hint(format!(
                r#"for example {{"action": "{action}", "skill_ref": "{example}"}}"#
            ))
        };
        let words: Vec<&str> = match (action.as_str(), reference.or(query)) {
            ("use", _) => {
                let skill = reference.ok_or_else(|| {
                    Error::new("`use` needs a skill's name").hint(
                        r#"for example {"action": "use", "skill_ref": "pdf", "query": "what to do"}"#,
                    )
                })?;
                return Ok(ToolCall::Activate(Activate {
                    tool: ours::MARKETPLACE.to_owned(),
                    skill: Some(skill.trim().to_owned()),
                    arguments: self.query,
                }));
            }
            ("list", _) | ("search", None) => vec!["search"],
            ("list_installed", _) | ("search_installed", None) => vec!["list_installed"],
            ("update", None) => vec!["update"],
            ("install", None) => return Err(needs("the skill's reference", "owner/skill")),
            ("remove" | "info", None) => return Err(needs("a skill's name", "pdf")),
            // After `--`, nothing the model wrote can be an option.
            ("search" | "search_installed", Some(other)) => {
                let words = query.unwrap_or(other).split_whitespace();
                [&action, "--"].into_iter().chain(words).collect()
            }
            ("install" | "remove" | "update" | "info", Some(operand)) => {
                vec![&action, "--", operand]
            }
            _ => {
                let action = self.action.escape_debug();
                let text = format!("`{action}` is not an action of skill_marketplace");
                return Err(wrong(ours::MARKETPLACE, text));
            }
        };
        Ok(ToolCall::Command(
            words.into_iter().map(str::to_owned).collect(),
        ))
    }
}

/// The words of a direct call. A text, or a lone word, is a whole command: hosts that do not split
/// the argument of `-p "install owner/skill"` hand it over so (docs/spec/hosts.md#tool-calls).
///
/// It is split here and nowhere later, so that `pre_tool` decides on the words that are run.
fn words(args: Option<&Value>) -> Result<Option<Vec<String>>> {
    let words = match args {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(words)) => {
            let word = |word: &Value| word.as_str().map(str::to_owned);
            words.iter().map(word).collect()
        }
        Some(Value::String(line)) => Some(vec![line.clone()]),
        Some(_) => None,
    };
    let words: Vec<String> =
        words.ok_or_else(|| wrong(ours::DIRECT, "`args` is a list of words, each a string"))?;
    let [line] = &*words else {
        return Ok(Some(words));
    };
    let split = shlex::split(line).ok_or_else(|| {
        let text = format!("a quote in `{}` is not closed", quoted(line));
        Error::new(text).hint("close it, or write a backslash before it")
    });
    split.map(Some)
}
