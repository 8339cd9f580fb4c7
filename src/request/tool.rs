//! Tool calls and their arguments, typed.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{Payload, RunSkillScript, SkillSession};
use crate::error::{Error, Result};

/// A call of one of our tools.
#[derive(Debug, PartialEq)]
pub enum ToolCall {
    /// `agent-skills`, `skill_marketplace`: a command line.
    Command(Vec<String>),
    /// `read_skill_file`.
    ReadSkillFile(ReadSkillFile),
    /// `run_skill_script`.
    RunSkillScript(RunSkillScript),
    /// `skill_session`.
    SkillSession(SkillSession),
    /// Any other name: a skill's tool, if the catalog knows it.
    Skill {
        /// The tool's name.
        tool: String,
        /// Its `arguments`, as text.
        arguments: Option<String>,
    },
}

/// Arguments of `read_skill_file`.
#[derive(Debug, PartialEq, Deserialize)]
pub struct ReadSkillFile {
    /// The skill's name; without one, the most recently loaded skill is meant.
    #[serde(default, deserialize_with = "name")]
    pub skill: Option<String>,
    /// The file, relative to the skill's directory.
    pub path: String,
    /// The first line to answer, counted from 1.
    #[serde(default, deserialize_with = "count")]
    pub offset: Option<u64>,
    /// How many lines to answer.
    #[serde(default, deserialize_with = "count")]
    pub limit: Option<u64>,
}

/// What `skill_marketplace` takes.
#[derive(Deserialize)]
struct Marketplace {
    action: String,
    #[serde(default)]
    skill_ref: Option<String>,
    #[serde(default)]
    query: Option<String>,
}

impl ToolCall {
    /// The call of the tool `name`.
    ///
    /// # Errors
    /// When the arguments are not what the tool takes; the hint shows a call that is.
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
                (None, _) => Self::Command(typed::<Marketplace>(name, arguments)?.command()?),
                (Some(_), None) => Self::Command(words(&arguments)?),
                (Some(_), Some(_)) => {
                    return Err(Error::new("`action` and `args` both say what to do")
                        .hint(example("skill_marketplace")));
                }
            },
            "read_skill_file" => Self::ReadSkillFile(typed(name, arguments)?),
            "run_skill_script" => Self::RunSkillScript(RunSkillScript::parse(arguments)?),
            "skill_session" => Self::SkillSession(SkillSession::parse(arguments)?),
            _ => Self::Skill {
                tool: name.to_owned(),
                arguments: skill_arguments(&arguments)?,
            },
        })
    }
}

impl Marketplace {
    /// The command line that means the same: there is one meaning for the model and for a person.
    fn command(self) -> Result<Vec<String>> {
        let action = self.action.to_ascii_lowercase().replace('_', "-");
        let takes_operand = ["install", "remove", "update", "search", "info"];
        if !takes_operand.contains(&action.as_str())
            && !["list", "list-installed"].contains(&action.as_str())
        {
            let text = format!(
                "`{}` is no action of skill_marketplace",
                self.action.escape_debug()
            );
            return Err(Error::new(text).hint(example("skill_marketplace")));
        }
        let operand = match action.as_str() {
            "search" => self.query.or(self.skill_ref),
            _ => self.skill_ref.or(self.query),
        };
        let mut command = vec![action.clone()];
        if takes_operand.contains(&action.as_str())
            && let Some(operand) = operand
        {
            // Behind `--` nothing the model wrote can be an option.
            command.push("--".to_owned());
            if action == "search" {
                command.extend(operand.split_whitespace().map(str::to_owned));
            } else {
                command.push(operand);
            }
        }
        Ok(command)
    }
}

/// The `arguments` of a skill's tool as text. A model may send any JSON there.
///
/// # Errors
/// When the call's arguments are not an object.
pub fn skill_arguments(arguments: &Value) -> Result<Option<String>> {
    match arguments {
        Value::Null => Ok(None),
        Value::Object(map) => Ok(match map.get("arguments") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => Some(other.to_string()),
        }),
        _ => Err(
            Error::new("the arguments of a skill's tool are one JSON object")
                .hint(r#"call it with {"arguments": "what to do"}"#),
        ),
    }
}

/// The skill that a call of `read_skill_file` or `run_skill_script` names. Nulls, and empty names,
/// are as good as nothing: some models fill in every key they know of.
pub fn written_skill(arguments: &Value) -> Option<&str> {
    let name = arguments.get("skill")?.as_str()?;
    (!name.trim().is_empty()).then_some(name)
}

/// A name as [`written_skill`] has it.
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
        Error::new(format!("the arguments of `{tool}` are not right: {error}")).hint(example(tool))
    })
}

fn example(tool: &str) -> &'static str {
    match tool {
        "skill_marketplace" => {
            r#"for example {"action": "search", "query": "pdf"}; actions: install, remove, update, search, list, list_installed, info"#
        }
        _ => r#"for example {"skill": "pdf", "path": "references/forms.md"}"#,
    }
}

/// A count; models write some as text.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(name: &str, arguments: Value) -> Result<ToolCall> {
        ToolCall::parse(name, Ok(arguments))
    }

    fn command(words: &[&str]) -> ToolCall {
        ToolCall::Command(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn marketplace_actions_are_command_lines() {
        for (arguments, expected) in [
            (json!({"action": "list_installed"}), &["list-installed"][..]),
            (
                json!({"action": "install", "skill_ref": "o/r"}),
                &["install", "--", "o/r"],
            ),
            (
                json!({"action": "install", "skill_ref": "--yes"}),
                &["install", "--", "--yes"],
            ),
            (
                json!({"action": "search", "query": "pdf forms"}),
                &["search", "--", "pdf", "forms"],
            ),
            (json!({"action": "list", "skill_ref": "x"}), &["list"]),
            (json!({"action": "update"}), &["update"]),
            (json!({"args": ["install", "o/r"]}), &["install", "o/r"]),
        ] {
            assert_eq!(
                parse("skill_marketplace", arguments).unwrap(),
                command(expected)
            );
        }
    }

    #[test]
    fn a_direct_call_is_a_command_line() {
        assert_eq!(
            parse("agent-skills", json!({"args": ["list"]})).unwrap(),
            command(&["list"])
        );
        assert_eq!(
            parse("agent-skills", json!({"args": "info x"})).unwrap(),
            command(&["info", "x"])
        );
        assert_eq!(parse("agent-skills", json!(null)).unwrap(), command(&[]));
    }

    #[test]
    fn mistyped_arguments_name_what_is_wrong_and_show_what_is_right() {
        for (tool, arguments, part) in [
            ("read_skill_file", json!(null), "missing field `path`"),
            ("read_skill_file", json!([1]), "read_skill_file"),
            (
                "read_skill_file",
                json!({"skill": 1, "path": "x"}),
                "expected a string",
            ),
            (
                "read_skill_file",
                json!({"skill": "x", "path": "x", "offset": -1}),
                "`-1`",
            ),
            ("skill_marketplace", json!({"action": "explode"}), "explode"),
            ("skill_marketplace", json!({}), "missing field `action`"),
            ("skill_pdf", json!([1, 2]), "one JSON object"),
        ] {
            let error = parse(tool, arguments.clone()).unwrap_err();
            assert!(error.to_string().contains(part), "{arguments}: {error}");
            assert!(error.next_step().is_some());
        }
        let error = ToolCall::parse("read_skill_file", Err("not JSON".to_owned())).unwrap_err();
        assert!(error.to_string().contains("not JSON"));
    }

    #[test]
    fn counts_may_be_text() {
        let call = parse(
            "read_skill_file",
            json!({"skill": "x", "path": "y", "offset": "3"}),
        );
        let ToolCall::ReadSkillFile(read) = call.unwrap() else {
            panic!("another call")
        };
        assert_eq!(read.offset, Some(3));
    }

    #[test]
    fn any_json_can_be_a_skills_arguments() {
        for (arguments, text) in [
            (json!({}), None),
            (json!(null), None),
            (json!({"arguments": "a b"}), Some("a b")),
            (json!({"arguments": {"x": 1}}), Some("{\"x\":1}")),
        ] {
            assert_eq!(skill_arguments(&arguments).unwrap().as_deref(), text);
        }
    }
}
