//! How the arguments of our tools are read, in the forms that models write them.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::host::ours;
use crate::sys::text::quoted;

/// The keys that a tool of ours takes, separated by blanks; `None` if it takes any.
fn keys(tool: &str) -> Option<&'static str> {
    Some(match tool {
        ours::MARKETPLACE => "action skill_ref query arguments",
        ours::READ_FILE => "skill path offset limit pattern",
        ours::RUN_SCRIPT => {
            "skill script path args stdin stdin_file workdir env timeout_secs background format job stop"
        }
        ours::SESSION => "action names mode all",
        ours::PROPOSE => "skill diff justification evidence",
        ours::CREATE => "name description body allowed_tools",
        _ => return None,
    })
}

/// The arguments of `tool` as an object. Nulls count as absent, because some models fill in every
/// key they know. A key that it does not take is no argument to ignore: without `skill`, another
/// skill's script would run.
///
/// # Errors
/// When they are not an object, or have another key.
pub fn object(tool: &str, arguments: Value) -> Result<Map<String, Value>> {
    match arguments {
        Value::Null => Ok(Map::new()),
        Value::Object(mut map) => {
            map.retain(|_, value| !value.is_null());
            let known = keys(tool);
            let is_other =
                |key: &&String| known.is_some_and(|all| !all.split(' ').any(|one| one == *key));
            match (map.keys().find(is_other), known) {
                (Some(other), Some(known)) => {
                    let (other, known) = (quoted(other), known.replace(' ', ", "));
                    let text = format!("`{tool}` takes no `{other}`, but {known}");
                    Err(wrong(tool, text))
                }
                _ => Ok(map),
            }
        }
        _ => Err(wrong(
            tool,
            format!("the arguments of `{tool}` are one JSON object"),
        )),
    }
}

/// The arguments of `tool` as its type.
///
/// # Errors
/// When one is missing or has another type.
pub fn typed<T: DeserializeOwned>(tool: &str, arguments: Value) -> Result<T> {
    let arguments = Value::Object(object(tool, arguments)?);
    serde_json::from_value(arguments).map_err(|error| {
        wrong(
            tool,
            format!("the arguments of `{tool}` are invalid: {error}"),
        )
    })
}

/// The error of a call of `tool`, with an example of a valid one.
pub fn wrong(tool: &str, text: impl Into<String>) -> Error {
    Error::new(text).hint(match tool {
        ours::DIRECT => r#"for example {"args": ["install", "owner/skill"]}"#,
        ours::MARKETPLACE => {
            r#"for example {"action": "search", "query": "pdf"}; actions: install, remove, update, search, list, list_installed, search_installed, info, use"#
        }
        ours::READ_FILE => r#"for example {"skill": "pdf", "path": "references/forms.md"}"#,
        ours::RUN_SCRIPT => {
            r#"for example {"skill": "pdf", "script": "scripts/fill.py", "args": ["a.pdf"]}, or {"job": "…"} for one that runs"#
        }
        ours::SESSION => {
            r#"for example {"action": "load", "names": ["pdf", "csv"], "mode": "add"}; actions: load, unload (names, or all: true), status; modes: replace, add"#
        }
        ours::PROPOSE => {
            r#"for example {"skill": "pdf", "diff": "--- a/SKILL.md\n+++ b/SKILL.md\n@@\n-old line\n+new line\n", "justification": "the old line is wrong"}"#
        }
        ours::CREATE => {
            r##"for example {"name": "release-notes", "description": "Writes release notes. Use when a version is tagged.", "body": "# Release notes\n…"}"##
        }
        ours::SKILL => {
            r#"call it with {"skill_name": "pdf", "arguments": "what to do"}; arguments may be left out"#
        }
        _ => r#"call it with {"arguments": "what to do"}"#,
    })
}

/// A text that says something.
pub fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.trim().is_empty())
}

/// The skill that a call of `read_skill_file` or `run_skill_script` names.
pub fn written_skill(arguments: &Value) -> Option<&str> {
    given(arguments.get("skill")?.as_str()?)
}

/// A name; an empty one counts as absent.
pub fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let written = String::deserialize(deserializer)?;
    Ok(given(&written).map(str::to_owned))
}

/// Any JSON as text: models send lists and objects where text is expected.
pub fn any_as_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Some(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        other => other.to_string(),
    }))
}

/// A list of strings, or one string in the list grammar of `allowed-tools`.
pub fn list_or_text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        List(Vec<String>),
    }
    Ok(Some(match Written::deserialize(deserializer)? {
        // Some models send a list encoded as a string.
        Written::Text(text) => serde_json::from_str(&text).unwrap_or_else(|_| vec![text]),
        Written::List(entries) => entries,
    }))
}

/// A count; models send some as strings.
pub fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = match &value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64(),
    };
    let wrong = || D::Error::custom(format!("`{value}` is not a whole number of lines"));
    number.ok_or_else(wrong).map(Some)
}
