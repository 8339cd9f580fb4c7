//! The forms of a call that activates a skill: its own tool, `skill`, and `skill_marketplace` with
//! the action `use`.

use serde_json::{Map, Value};

use crate::error::{Error, Result};

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
const NAME: [&str; 5] = ["skill_name", "skill", "name", "skill_ref", "command"];
/// Keys under which callers give the arguments.
const ARGUMENTS: [&str; 2] = ["arguments", "args"];
/// Values of `action` that mean this call.
const ACTIONS: [&str; 4] = ["use", "activate", "load", "run"];

impl Activate {
    /// Parses a call of a skill's own tool.
    ///
    /// # Errors
    /// When its arguments are not an object, contradict each other, or ask for something else.
    pub fn by_own_tool(tool: &str, arguments: &Value) -> Result<Self> {
        let map = object(arguments)?;
        is_meant(tool, &map)?;
        Ok(Self {
            tool: tool.to_owned(),
            skill: None,
            arguments: given(&map)?,
        })
    }

    /// Parses a call of the common tool for all skills.
    ///
    /// # Errors
    /// As [`Activate::by_own_tool`], and when no skill or more than one is named.
    pub fn by_name(tool: &str, arguments: &Value) -> Result<Self> {
        let map = object(arguments)?;
        is_meant(tool, &map)?;
        let skill = one_of(&map, &NAME)?.and_then(Value::as_str);
        let skill = skill.filter(|name| !name.trim().is_empty());
        let skill = skill.ok_or_else(|| {
            Error::new(format!("`{tool}` needs a skill's name")).hint(EXAMPLE_BY_NAME)
        })?;
        Ok(Self {
            tool: tool.to_owned(),
            skill: Some(skill.trim().to_owned()),
            arguments: given(&map)?,
        })
    }
}

/// Refuses a call with another action: `unload`, for example, means the opposite.
fn is_meant(tool: &str, map: &Map<String, Value>) -> Result<()> {
    match map.get("action") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(action)) if ACTIONS.contains(&action.as_str()) => Ok(()),
        Some(other) => {
            let text = format!("`{tool}` activates a skill, and has no action {other}");
            Err(Error::new(text).hint(EXAMPLE_OF_AN_END))
        }
    }
}

const EXAMPLE: &str = r#"call it with {"arguments": "what to do"}"#;
const EXAMPLE_BY_NAME: &str =
    r#"call it with {"skill_name": "pdf", "arguments": "what to do"}; arguments may be left out"#;

const EXAMPLE_OF_AN_END: &str = r#"skill_session {"action": "unload", "names": ["pdf"]} ends one"#;

fn object(arguments: &Value) -> Result<Map<String, Value>> {
    match arguments {
        Value::Null => Ok(Map::new()),
        Value::Object(map) => Ok(map.clone()),
        _ => Err(Error::new("the arguments of a skill's tool are one JSON object").hint(EXAMPLE)),
    }
}

/// The arguments as text. A model may send any JSON there, and a direct call sends words.
fn given(map: &Map<String, Value>) -> Result<Option<String>> {
    Ok(one_of(map, &ARGUMENTS)?.map(|value| match value {
        Value::String(text) => text.clone(),
        Value::Array(words) if words.iter().all(Value::is_string) => {
            let words: Vec<String> = words.iter().filter_map(Value::as_str).map(word).collect();
            words.join(" ")
        }
        other => other.to_string(),
    }))
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
    let said = keys.iter().filter_map(|key| Some((*key, map.get(*key)?)));
    let mut said = said.filter(|(_, value)| !value.is_null());
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
            let call = Activate::by_own_tool("skill_pdf", &arguments).unwrap();
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
            let call = Activate::by_name("skill", &arguments).unwrap();
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
            let own = Activate::by_own_tool("skill_pdf", &arguments);
            let named = Activate::by_name("skill", &arguments);
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
            let error = Activate::by_name("skill", &arguments).unwrap_err();
            assert!(error.to_string().contains(part), "{arguments}: {error}");
            assert!(error.next_step().is_some());
        }
    }
}
