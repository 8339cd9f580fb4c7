//! The frontmatter's fields that some client uses: one table for `validate` and `info`, described in
//! docs/authors.md#fields. It does not read a field: `fields.rs` and the rooms that need one do that.
//! And keys that restrict nothing, but are likely meant to: one letter, hyphen or case away from a key
//! that does.

use super::fields::{Fields, folds_to, letters};
use crate::sys::name_list::Names;

/// A field that some client uses.
#[derive(Debug)]
pub struct Known {
    /// The key, as it is best written.
    pub key: &'static str,
    /// What its value must be.
    pub form: Form,
}

/// The form of a field's value. Each has its check in `author/values.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Checked where it is read, or not at all.
    Any,
    /// A text, or a list of texts.
    Text,
    /// A text, or a list or mapping of names.
    Names,
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Number,
    /// A mapping.
    Mapping,
    /// The word `fork`.
    Fork,
    /// A model's id with its provider.
    Model,
    /// Scripts of the skill for `pre` and `post`.
    Hooks,
    /// Lists for `agents`, `tenants` and `environments`.
    Scope,
    /// Names of skills.
    Skills,
    /// How scripts are confined.
    Execution,
}

/// Every field that some client uses, in the order of docs/authors.md.
#[rustfmt::skip]
pub const FIELDS: [Known; 25] = [
    Known { key: "name", form: Form::Any },
    Known { key: "description", form: Form::Any },
    Known { key: "license", form: Form::Text },
    Known { key: "compatibility", form: Form::Text },
    Known { key: "metadata", form: Form::Mapping },
    Known { key: "allowed-tools", form: Form::Any },
    Known { key: "disallowed-tools", form: Form::Any },
    Known { key: "tools", form: Form::Any },
    Known { key: "version", form: Form::Text },
    Known { key: "when_to_use", form: Form::Text },
    Known { key: "tags", form: Form::Text },
    Known { key: "argument-hint", form: Form::Text },
    Known { key: "arguments", form: Form::Names },
    Known { key: "user-invocable", form: Form::Flag },
    Known { key: "disable-model-invocation", form: Form::Flag },
    Known { key: "context", form: Form::Fork },
    Known { key: "model", form: Form::Model },
    Known { key: "agent", form: Form::Text },
    Known { key: "hooks", form: Form::Hooks },
    Known { key: "requires", form: Form::Skills },
    Known { key: "priority", form: Form::Number },
    Known { key: "scope", form: Form::Scope },
    Known { key: "execution", form: Form::Execution },
    Known { key: "effort", form: Form::Any },
    Known { key: "paths", form: Form::Any },
];

/// Other spellings that are read as one of the fields.
const SPELLINGS: [(&str, &str); 2] = [
    ("userinvokable", "user-invocable"),
    ("disablemodelinvokation", "disable-model-invocation"),
];
/// The fields that are read in this one spelling. Others are read in any case, with hyphens,
/// underscores or neither.
const EXACT: Names = Names::new(
    "name description license compatibility metadata version arguments context model \
     agent hooks requires priority execution",
);

/// The keys that say what a skill may do and who may call it.
const RESTRICTING: [&str; 4] = [
    "allowed-tools",
    "disallowed-tools",
    "disable-model-invocation",
    "user-invocable",
];

impl Known {
    /// The field that a key means or is meant to be.
    pub fn of(key: &str) -> Option<&'static Self> {
        let other = SPELLINGS.iter().find(|(other, _)| folds_to(key, other));
        let key = other.map_or(key, |(_, key)| key);
        FIELDS.iter().find(|field| folds_to(key, field.key))
    }

    /// Whether the field is read under this key.
    pub fn is_read_as(&self, key: &str) -> bool {
        key == self.key || !EXACT.has(self.key)
    }
}

/// The fields that are likely meant to be one of these keys, unless that is there too: each as
/// written, with `metadata.` before it if it stands there, and the key that is likely meant.
pub fn near_misses(fields: &Fields) -> Vec<(String, String)> {
    let meant_by = |key: &str| Known::of(key).map(|field| field.key);
    let top = fields.0.keys().map(|key| (key.clone(), near_miss_of(key)));
    let metadata = fields.value("metadata").and_then(|value| value.as_object());
    let below = metadata.into_iter().flatten().map(|(key, _)| {
        let meant = meant_by(key).filter(|meant| RESTRICTING.contains(meant));
        (format!("metadata.{key}"), meant)
    });
    let is_there = |meant: &str| {
        let mut set = fields.0.iter().filter(|(_, value)| !value.is_null());
        set.any(|(key, _)| meant_by(key) == Some(meant))
    };
    top.chain(below)
        .filter_map(|(written, meant)| Some((written, meant.filter(|meant| !is_there(meant))?)))
        .map(|(written, meant)| (written, meant.to_owned()))
        .collect()
}

/// The key that a field of this name is likely meant to be: one letter away from it, or written for
/// it. `None` if it is read as it is.
pub fn near_miss_of(key: &str) -> Option<&'static str> {
    if Known::of(key).is_some() {
        return None;
    }
    let folded: String = letters(key).collect();
    match &*folded {
        "allowtools" => Some("allowed-tools"),
        "disallowtools" => Some("disallowed-tools"),
        _ => RESTRICTING.into_iter().find(|meant| {
            let meant: String = letters(meant).collect();
            strsim::levenshtein(&folded, &meant) == 1
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::mapping;

    #[test]
    fn the_documentation_has_every_field() {
        let docs = include_str!("../../docs/authors.md");
        for field in &FIELDS {
            let row = format!("\n| `{}` | ", field.key);
            assert!(docs.contains(&row), "{row}");
        }
    }

    #[test]
    fn a_key_in_any_spelling_is_its_field() {
        for (key, field) in [
            ("priority", "priority"),
            ("Priority", "priority"),
            ("when-to-use", "when_to_use"),
            ("user_invokable", "user-invocable"),
            ("allowedTools", "allowed-tools"),
        ] {
            assert_eq!(Known::of(key).map(|field| field.key), Some(field), "{key}");
        }
        assert!(Known::of("colour").is_none());
    }

    #[test]
    fn what_is_read_in_one_spelling_is_read_in_no_other() {
        let fields = |yaml: &str| Fields(mapping::read(yaml).values);
        assert_eq!(fields("Priority: 3").priority(), 0);
        assert!(!fields("Context: fork").is_forked());
        assert_eq!(fields("Tags: a").tags(), ["a"]);
        assert!(!fields("User_Invocable: no").user_invocable());
        let known = FIELDS.iter().filter(|field| EXACT.has(field.key));
        assert_eq!(known.count(), 14);
    }

    fn found(yaml: &str) -> Vec<(String, String)> {
        let fields = Fields(mapping::read(yaml).values);
        near_misses(&fields)
    }

    #[test]
    fn a_key_that_is_nearly_one_is_found() {
        for (yaml, written, meant) in [
            ("allow-tools: Read", "allow-tools", "allowed-tools"),
            ("allowed-tool: Read", "allowed-tool", "allowed-tools"),
            ("alowed_tools: Read", "alowed_tools", "allowed-tools"),
            ("Allowed-Toolz: Read", "Allowed-Toolz", "allowed-tools"),
            ("alloweddtools: Read", "alloweddtools", "allowed-tools"),
            (
                "disallowed-tool: Bash",
                "disallowed-tool",
                "disallowed-tools",
            ),
            ("disallow_tools: Bash", "disallow_tools", "disallowed-tools"),
            (
                "disable-model-invocatio: true",
                "disable-model-invocatio",
                "disable-model-invocation",
            ),
            ("user-invocabl: false", "user-invocabl", "user-invocable"),
            (
                "metadata: {allowed-tools: Read}",
                "metadata.allowed-tools",
                "allowed-tools",
            ),
            (
                "allowed-tools:\nallowed-tool: Read",
                "allowed-tool",
                "allowed-tools",
            ),
        ] {
            assert_eq!(found(yaml), [(written.into(), meant.into())], "{yaml}");
        }
    }

    #[test]
    fn what_is_read_or_means_something_else_is_not_near() {
        for yaml in [
            "Allowed-Tools: Read",
            "allowed_tools: Read",
            "allowedTools: Read",
            "tools: Read",
            "user_invocable: false",
            "user-invokable: false",
            "disable-model-invokation: true",
            "allowed-tools: Read\nmetadata: {allowed-tools: Bash}",
            "tool: Read",
            "toolset: Read",
            "permissions: Read",
            "metadata: {tools: x}",
        ] {
            assert!(found(yaml).is_empty(), "{yaml}");
        }
    }
}
