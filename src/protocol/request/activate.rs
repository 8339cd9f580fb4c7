//! The forms of a call that activates a skill: its own tool, `skill`, and `skill_marketplace` with
//! the action `use`.

use serde_json::{Map, Value};

use super::arguments::{given, object, wrong};
use crate::error::{Error, Result};
use crate::host::ours;

/// A call that activates a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activate {
    /// The tool that is called.
    pub tool: String,
    /// The skill as the caller wrote it; `None` when the tool is the skill's own.
    pub skill: Option<String>,
    /// The input for the skill, as text.
    pub arguments: Option<String>,
}

/// Keys under which callers give the skill's name; similar tools of other clients use different
/// ones.
pub const NAME: [&str; 5] = ["skill_name", "skill", "name", "skill_ref", "command"];
/// Keys under which callers give the arguments.
const ARGUMENTS: [&str; 2] = ["arguments", "args"];
/// Values of `action` that mean this call.
const ACTIONS: [&str; 4] = ["use", "activate", "load", "run"];

impl Activate {
    /// Parses a call of a skill's own tool, or of the common tool for all skills.
    ///
    /// # Errors
    /// When its arguments are not an object, contradict each other, or ask for something else, and
    /// when the common tool's name no skill or more than one.
    pub fn parse(tool: &str, arguments: Value) -> Result<Self> {
        let map = object(tool, arguments)?;
        is_meant(tool, &map)?;
        let skill = if tool == ours::SKILL {
            let named = one_of(&map, &NAME)?.and_then(Value::as_str);
            let text = "`skill` needs a skill's name";
            Some(named.and_then(given).ok_or_else(|| wrong(tool, text))?)
        } else {
            None
        };
        Ok(Self {
            tool: tool.to_owned(),
            skill: skill.map(|name| name.trim().to_owned()),
            arguments: one_of(&map, &ARGUMENTS)?.map(as_text),
        })
    }
}

/// Refuses a call with another action: `unload`, for example, means the opposite.
fn is_meant(tool: &str, map: &Map<String, Value>) -> Result<()> {
    match map.get("action") {
        None => Ok(()),
        Some(Value::String(action)) if ACTIONS.contains(&action.as_str()) => Ok(()),
        Some(other) => {
            let text = format!("`{tool}` activates a skill, and has no action {other}");
            let end = r#"skill_session {"action": "unload", "names": ["pdf"]} ends one"#;
            Err(Error::new(text).hint(end))
        }
    }
}

/// A model may send any JSON as arguments, and a direct call sends words.
fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(words) if words.iter().all(Value::is_string) => {
            let words: Vec<String> = words.iter().filter_map(Value::as_str).map(word).collect();
            words.join(" ")
        }
        other => other.to_string(),
    }
}

/// Quotes a word so that splitting the text again keeps it whole.
fn word(word: &str) -> String {
    match word {
        plain if !plain.is_empty() && !plain.contains(char::is_whitespace) => plain.to_owned(),
        quoted if quoted.contains('"') => format!("'{quoted}'"),
        spaced => format!("\"{spaced}\""),
    }
}

/// The value under any of these keys; several may be given if they are equal.
fn one_of<'a>(map: &'a Map<String, Value>, keys: &[&str]) -> Result<Option<&'a Value>> {
    let mut said = keys.iter().filter_map(|key| Some((*key, map.get(*key)?)));
    let Some((first, value)) = said.next() else {
        return Ok(None);
    };
    if let Some((other, _)) = said.find(|(_, other)| *other != value) {
        let text = format!("`{first}` and `{other}` say different things");
        return Err(Error::new(text).hint(format!("give `{}` only", keys[0])));
    }
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn any_json_can_be_a_skills_arguments() {
        for (arguments, text) in [
            (json!({}), None),
            (json!(null), None),
            (json!({"arguments": null, "args": "a"}), Some("a")),
            (json!({"arguments": "a b"}), Some("a b")),
            (
                json!({"args": ["a", "b c", "d\" e"]}),
                Some("a \"b c\" 'd\" e'"),
            ),
            (json!({"arguments": {"x": 1}}), Some("{\"x\":1}")),
            (json!({"arguments": [1]}), Some("[1]")),
        ] {
            let call = Activate::parse("skill_pdf", arguments.clone()).unwrap();
            assert_eq!(call.arguments.as_deref(), text, "{arguments}");
            assert_eq!(call.skill, None);
        }
    }

    #[test]
    fn the_name_is_understood_under_the_keys_of_other_clients() {
        for arguments in [
            json!({"skill_name": "pdf"}),
            json!({"skill": " pdf "}),
            json!({"name": "pdf"}),
            json!({"command": "pdf", "skill_name": null}),
            json!({"skill": "pdf", "skill_name": "pdf"}),
        ] {
            let call = Activate::parse("skill", arguments.clone()).unwrap();
            assert_eq!(call.skill.as_deref(), Some("pdf"), "{arguments}");
        }
    }

    #[test]
    fn a_call_that_names_another_action_activates_nothing() {
        for (action, is_meant) in [
            (json!(null), true),
            (json!("use"), true),
            (json!("activate"), true),
            (json!("deactivate"), false),
            (json!("unload"), false),
            (json!(["deactivate"]), false),
        ] {
            let arguments = json!({"action": action, "skill_name": "pdf"});
            let own = Activate::parse("skill_pdf", arguments.clone());
            let named = Activate::parse("skill", arguments.clone());
            for error in [own.err(), named.err()] {
                assert_eq!(error.is_none(), is_meant, "{action}");
                let hint = error.and_then(|error| error.next_step().map(ToString::to_string));
                assert!(hint.is_none_or(|hint| hint.contains("unload")));
            }
        }
    }

    #[test]
    fn missing_or_contradictory_arguments_get_an_example() {
        for (arguments, part) in [
            (json!({}), "needs a skill's name"),
            (json!({"skill_name": "  "}), "needs a skill's name"),
            (json!({"skill_name": 3}), "needs a skill's name"),
            (
                json!({"skill_name": "a", "name": "b"}),
                "`skill_name` and `name`",
            ),
            (
                json!({"skill_name": "a", "args": "x", "arguments": "y"}),
                "`arguments` and `args`",
            ),
            (json!(["a"]), "one JSON object"),
        ] {
            let error = Activate::parse("skill", arguments.clone()).unwrap_err();
            assert!(error.to_string().contains(part), "{arguments}: {error}");
            assert!(error.next_step().is_some());
        }
    }
}
