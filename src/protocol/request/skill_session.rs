//! The arguments of `skill_session`, which reports what is active and changes it.

use serde::Deserialize;
use serde_json::Value;

use super::arguments::{object, wrong};
use crate::error::{Error, Result};
use crate::host::ours;

/// A call of `skill_session`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillSession {
    /// Make skills active, all or none.
    Load {
        /// Their names as the caller wrote them, at least one, in order.
        names: Vec<String>,
        /// Whether they are added to what is active already, or replace it.
        adds: bool,
    },
    /// Make these skills inactive; `None` means all.
    Unload(Option<Vec<String>>),
    /// Report what is active.
    Status,
}

impl SkillSession {
    /// Parses the arguments. Nulls, empty strings and empty lists count as absent.
    ///
    /// # Errors
    /// When one has the wrong type, or together they do not say what to do.
    pub fn parse(arguments: Value) -> Result<Self> {
        let arguments = object(ours::SESSION, arguments)?;
        let word = |key: &str| match arguments.get(key) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.trim().to_ascii_lowercase()),
            Some(_) => Err(invalid(format!("`{key}` is not a string"))),
        };
        let names = names(arguments.get("names"))?;
        let all = match arguments.get("all") {
            None => false,
            Some(Value::Bool(all)) => *all,
            Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("true") => true,
            Some(Value::String(text)) if ["", "false"].contains(&text.trim()) => false,
            Some(_) => return Err(invalid("`all` is neither true nor false")),
        };
        let adds = match word("mode")?.as_str() {
            "" | "replace" => false,
            "add" => true,
            other => {
                let text = format!(
                    "`{}` is not a mode of `skill_session`",
                    other.escape_debug()
                );
                return Err(invalid(text));
            }
        };
        match (word("action")?.as_str(), names.is_empty(), all) {
            ("status", ..) => Ok(Self::Status),
            ("load", false, false) => Ok(Self::Load { names, adds }),
            ("load", true, false) => Err(invalid("`load` needs `names`: which skills")),
            ("load", _, true) => Err(invalid("`all` belongs to `unload`")),
            ("unload", false, false) => Ok(Self::Unload(Some(names))),
            ("unload", true, true) => Ok(Self::Unload(None)),
            ("unload", true, false) => Err(invalid("`unload` needs `names`, or `all`: true")),
            ("unload", false, true) => Err(invalid("`names` and `all` both say what to unload")),
            ("", ..) => Err(invalid("missing field `action`")),
            (other, ..) => {
                let text = format!(
                    "`{}` is not an action of `skill_session`",
                    other.escape_debug()
                );
                Err(invalid(text))
            }
        }
    }
}

fn invalid(text: impl Into<String>) -> Error {
    wrong(ours::SESSION, text)
}

/// A list, a list encoded as JSON in a string, or a string of names separated by commas or spaces.
fn names(written: Option<&Value>) -> Result<Vec<String>> {
    let own = |part: &str| part.trim_matches(['"', '\'']).to_owned();
    let written: Option<Vec<String>> = match written {
        None => Some(Vec::new()),
        Some(Value::String(text)) if text.trim_start().starts_with('[') => {
            serde_json::from_str(text).ok()
        }
        Some(Value::String(text)) if text.contains([',', '\n']) => {
            Some(text.split([',', '\n']).map(str::trim).map(own).collect())
        }
        Some(Value::String(text)) => Some(text.split_whitespace().map(own).collect()),
        Some(other) => Vec::deserialize(other).ok(),
    };
    let written = written.ok_or_else(|| invalid("`names` is not a list of names"))?;
    let mut names: Vec<String> = Vec::new();
    for name in written.iter().map(|name| name.trim()) {
        if !name.is_empty() && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn load(names: &[&str], adds: bool) -> SkillSession {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        SkillSession::Load { names, adds }
    }

    #[test]
    fn names_come_in_every_form_that_models_use() {
        for names in [
            json!(["a", "b c"]),
            json!([" a ", "b c", "a", ""]),
            json!(r#"["a", "b c"]"#),
            json!("a, b c"),
            json!("a,\"b c\","),
        ] {
            let parsed = SkillSession::parse(json!({"action": "Load", "names": names})).unwrap();
            assert_eq!(parsed, load(&["a", "b c"], false), "{names}");
        }
        let spaced = json!({"action": "load", "names": "a b", "mode": "ADD", "all": "false"});
        assert_eq!(
            SkillSession::parse(spaced).unwrap(),
            load(&["a", "b"], true)
        );
    }

    #[test]
    fn what_is_filled_in_without_need_is_ignored() {
        let nothing = json!({"action": "status", "names": null, "mode": "", "all": null});
        assert_eq!(SkillSession::parse(nothing).unwrap(), SkillSession::Status);
        let all = json!({"action": "unload", "names": [], "mode": "replace", "all": "true"});
        assert_eq!(
            SkillSession::parse(all).unwrap(),
            SkillSession::Unload(None)
        );
    }

    #[test]
    fn what_does_not_say_what_to_do_is_explained() {
        for (arguments, part) in [
            (json!(null), "missing field `action`"),
            (json!(["load"]), "one JSON object"),
            (json!({"action": 3}), "`action` is not a string"),
            (json!({"action": "drop"}), "`drop` is not an action"),
            (json!({"action": "load"}), "needs `names`"),
            (json!({"action": "load", "names": " "}), "needs `names`"),
            (json!({"action": "load", "names": [3]}), "list of names"),
            (json!({"action": "load", "names": "[a"}), "list of names"),
            (json!({"action": "load", "names": {}}), "list of names"),
            (
                json!({"action": "load", "names": "a", "mode": "x"}),
                "`x` is not a mode",
            ),
            (
                json!({"action": "load", "names": "a", "all": true}),
                "belongs to `unload`",
            ),
            (json!({"action": "unload"}), "needs `names`, or `all`"),
            (
                json!({"action": "unload", "names": "a", "all": true}),
                "both say",
            ),
            (
                json!({"action": "unload", "all": 1}),
                "neither true nor false",
            ),
        ] {
            let error = SkillSession::parse(arguments.clone()).unwrap_err();
            assert!(error.to_string().contains(part), "{arguments}: {error}");
            assert!(error.next_step().is_some(), "{arguments}");
        }
    }

    proptest! {
        #[test]
        fn any_text_of_names_is_read(text in ".{0,40}") {
            if let Ok(SkillSession::Load { names, .. }) =
                SkillSession::parse(json!({"action": "load", "names": text}))
            {
                prop_assert!(names.iter().all(|name| !name.trim().is_empty()));
            }
        }
    }
}
