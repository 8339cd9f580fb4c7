//! Tool calls and their arguments, typed.

#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::protocol::{Activate, Payload, RunSkillScript, SkillSession};

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
    #[serde(default)]
    skill_ref: Option<String>,
    #[serde(default, alias = "arguments")]
    query: Option<String>,
}

impl ToolCall {
    /// Parses a call of the tool `name`.
    ///
    /// # Errors
    /// When the arguments are not what the tool takes; the hint shows a valid call.
    pub fn parse(name: &str, arguments: Payload) -> Result<Self> {
        let arguments = arguments.map_err(|reason| {
            Error::new(format!(
                "the arguments of `{name}` could not be read: {reason}"
            ))
            .hint("pass one JSON object")
        })?;
        Ok(match name {
            "agent-skills" if arguments.get("args").is_none() => Self::Command(Vec::new()),
            "agent-skills" => Self::Command(words(&arguments)?),
            "skill_marketplace" => match (arguments.get("args"), arguments.get("action")) {
                (None, _) => typed::<Marketplace>(name, arguments)?.call()?,
                (Some(_), None) => Self::Command(words(&arguments)?),
                (Some(_), Some(_)) => {
                    return Err(Error::new("`action` and `args` both say what to do")
                        .hint(example("skill_marketplace")));
                }
            },
            "read_skill_file" => Self::ReadSkillFile(typed(name, arguments)?),
            "run_skill_script" => Self::RunSkillScript(RunSkillScript::parse(arguments)?),
            "propose_skill_update" => Self::ProposeSkillUpdate(typed(name, arguments)?),
            "create_skill" => Self::CreateSkill(typed(name, arguments)?),
            "skill_session" => Self::SkillSession(SkillSession::parse(arguments)?),
            "skill" => Self::Activate(Activate::by_name(name, &arguments)?),
            _ => Self::Activate(Activate::by_own_tool(name, &arguments)?),
        })
    }
}

impl Marketplace {
    /// The activation, or the equivalent command line: a call means the same for the model and for
    /// a person.
    fn call(self) -> Result<ToolCall> {
        let action = self.action.to_ascii_lowercase().replace('_', "-");
        if action == "use" {
            let skill = self.skill_ref.filter(|name| !name.trim().is_empty());
            let skill = skill.ok_or_else(|| {
                Error::new("`use` needs a skill's name").hint(
                    r#"for example {"action": "use", "skill_ref": "pdf", "query": "what to do"}"#,
                )
            })?;
            return Ok(ToolCall::Activate(Activate {
                tool: "skill_marketplace".to_owned(),
                skill: Some(skill.trim().to_owned()),
                arguments: self.query,
            }));
        }
        let searches = ["search", "search-installed"].contains(&action.as_str());
        let takes_operand = ["install", "remove", "update", "info"].contains(&action.as_str());
        if !searches && !takes_operand && !["list", "list-installed"].contains(&action.as_str()) {
            let text = format!(
                "`{}` is no action of skill_marketplace",
                self.action.escape_debug()
            );
            return Err(Error::new(text).hint(example("skill_marketplace")));
        }
        let given =
            |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
        // A search without words would match everything, so list instead.
        if searches && !given(&self.skill_ref) && !given(&self.query) {
            let list = action.replace("search-installed", "list-installed");
            return Ok(ToolCall::Command(vec![list.replace("search", "list")]));
        }
        let needs_operand = ["install", "remove", "info"].contains(&action.as_str());
        if needs_operand && !given(&self.skill_ref) && !given(&self.query) {
            let (what, example) = if action == "install" {
                ("the skill's reference", "owner/skill")
            } else {
                ("a skill's name", "pdf")
            };
            return Err(Error::new(format!("`{action}` needs {what}")).hint(format!(
                r#"for example {{"action": "{action}", "skill_ref": "{example}"}}"#
            )));
        }
        let mut command = vec![action];
        let (query, reference) = (self.query, self.skill_ref);
        // After `--`, nothing the model wrote can be an option.
        if searches {
            let words = query.or(reference).unwrap_or_default();
            command.push("--".to_owned());
            command.extend(words.split_whitespace().map(str::to_owned));
        } else if takes_operand && let Some(operand) = reference.or(query) {
            command.extend(["--".to_owned(), operand]);
        }
        Ok(ToolCall::Command(command))
    }
}

/// The skill that a call of `read_skill_file` or `run_skill_script` names. Nulls and empty names
/// count as absent: some models fill in every key they know.
pub fn written_skill(arguments: &Value) -> Option<&str> {
    let name = arguments.get("skill")?.as_str()?;
    (!name.trim().is_empty()).then_some(name)
}

/// A name as in [`written_skill`].
fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let written = Option::<String>::deserialize(deserializer)?;
    Ok(written.filter(|name| !name.trim().is_empty()))
}

/// `{"args": […]}`, the form of a direct call; the newer host may send one string of words.
fn words(arguments: &Value) -> Result<Vec<String>> {
    let wrong = || {
        Error::new("`args` is a list of words, each a string")
            .hint(r#"for example {"args": ["install", "owner/skill"]}"#)
    };
    match arguments.get("args") {
        Some(Value::Array(words)) => {
            let word = |word: &Value| word.as_str().map(str::to_owned);
            words
                .iter()
                .map(word)
                .collect::<Option<_>>()
                .ok_or_else(wrong)
        }
        Some(Value::String(line)) => Ok(line.split_whitespace().map(str::to_owned).collect()),
        _ => Err(wrong()),
    }
}

fn typed<T: DeserializeOwned>(tool: &str, arguments: Value) -> Result<T> {
    let arguments = match arguments {
        Value::Null => Value::Object(serde_json::Map::new()),
        Value::Object(map) => Value::Object(map),
        _ => {
            let text = format!("the arguments of `{tool}` are one JSON object");
            return Err(Error::new(text).hint(example(tool)));
        }
    };
    serde_json::from_value(arguments).map_err(|error| {
        Error::new(format!("the arguments of `{tool}` are invalid: {error}")).hint(example(tool))
    })
}

fn example(tool: &str) -> &'static str {
    match tool {
        "skill_marketplace" => {
            r#"for example {"action": "search", "query": "pdf"}; actions: install, remove, update, search, list, list_installed, search_installed, info, use"#
        }
        "propose_skill_update" => {
            r#"for example {"skill": "pdf", "diff": "--- a/SKILL.md\n+++ b/SKILL.md\n@@\n-old line\n+new line\n", "justification": "the old line is wrong"}"#
        }
        "create_skill" => {
            r##"for example {"name": "release-notes", "description": "Writes release notes. Use when a version is tagged.", "body": "# Release notes\n…"}"##
        }
        _ => r#"for example {"skill": "pdf", "path": "references/forms.md"}"#,
    }
}

/// Any JSON as text: models send lists and objects where text is expected.
fn any_as_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Option::<Value>::deserialize(deserializer)? {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text),
        Some(other) => Some(other.to_string()),
    })
}

/// A list of strings, or one string in the list grammar of `allowed-tools`.
fn list_or_text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        List(Vec<String>),
    }
    Ok(match Option::<Written>::deserialize(deserializer)? {
        None => None,
        // Some models send a list encoded as a string.
        Some(Written::Text(text)) => {
            let listed: Option<Vec<String>> = serde_json::from_str(&text).ok();
            Some(listed.unwrap_or_else(|| vec![text]))
        }
        Some(Written::List(entries)) => Some(entries),
    })
}

/// A count; models send some as strings.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?.unwrap_or_default();
    let number = match &value {
        Value::Null => return Ok(None),
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64(),
    };
    number.map(Some).ok_or_else(|| {
        serde::de::Error::custom(format!("`{value}` is not a whole number of lines"))
    })
}
