//! The frontmatter's fields that some client uses: one table for `validate`, `info` and
//! docs/authors.md#fields. It does not read a field: `fields.rs`, `wishes.rs` and the rooms that
//! need one do that.

use super::folds_to;
use crate::sys::name_list::Names;

/// A field that some client uses.
#[derive(Debug)]
pub struct Known {
    /// The key, as it is best written.
    pub key: &'static str,
    /// What its value is for, in docs/authors.md.
    pub meaning: &'static str,
    /// What counts without it, in docs/authors.md.
    pub default: &'static str,
    /// Who uses it.
    pub used_by: UsedBy,
    /// What its value must be.
    pub form: Form,
}

/// Who uses a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsedBy {
    /// The specification has it.
    Everybody,
    /// This program, and no other client in wide use.
    Us,
    /// This program and Claude Code.
    UsAndClaude,
    /// Claude Code. Here it has no effect.
    Claude,
}

impl UsedBy {
    /// As docs/authors.md names them.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Everybody => "all",
            Self::Us => "agent-skills",
            Self::UsAndClaude => "agent-skills, Claude Code",
            Self::Claude => "Claude Code",
        }
    }
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

const fn known(
    key: &'static str,
    form: Form,
    used_by: UsedBy,
    default: &'static str,
    meaning: &'static str,
) -> Known {
    Known {
        key,
        meaning,
        default,
        used_by,
        form,
    }
}

/// Every field that some client uses, in the order of docs/authors.md.
#[rustfmt::skip]
pub const FIELDS: &[Known] = &[
    known("name", Form::Any, UsedBy::Everybody, "the directory's name", "what the skill is called: lowercase letters, digits and single hyphens, at most 64 characters, as the directory"),
    known("description", Form::Any, UsedBy::Everybody, "none: it is not offered", "what it does and when to use it, in every prompt"),
    known("license", Form::Text, UsedBy::Everybody, "none", "shown by `info` and `show`"),
    known("compatibility", Form::Text, UsedBy::Everybody, "none", "what it needs, for people: at most 500 characters"),
    known("metadata", Form::Mapping, UsedBy::Everybody, "none", "anything else. `version` and `tags` count here too, and `openclaw` names what scripts need"),
    known("allowed-tools", Form::Any, UsedBy::Everybody, "every tool", "the tools that may be called while it is active: [restrictions](restrictions.md)"),
    known("disallowed-tools", Form::Any, UsedBy::Us, "none", "tools that may not"),
    known("tools", Form::Any, UsedBy::Us, "none", "another spelling of `allowed-tools`, if an entry is a tool"),
    known("version", Form::Text, UsedBy::Us, "none", "shown by `list`, `info` and `update`"),
    known("when_to_use", Form::Text, UsedBy::UsAndClaude, "none", "continues the description"),
    known("tags", Form::Text, UsedBy::Us, "none", "follow the description in the prompt; `search` finds them"),
    known("argument-hint", Form::Text, UsedBy::UsAndClaude, "none", "what to write behind `/NAME`; makes `$1` … `$9` [placeholders](context.md#arguments)"),
    known("arguments", Form::Names, UsedBy::UsAndClaude, "none", "names of arguments: `$issue` in the body is then a placeholder"),
    known("user-invocable", Form::Flag, UsedBy::UsAndClaude, "`true`", "whether people may [call](policy.md#who-sees-a-skill) it with `/NAME`"),
    known("disable-model-invocation", Form::Flag, UsedBy::UsAndClaude, "`false`", "hides it from the model"),
    known("context", Form::Fork, UsedBy::UsAndClaude, "the conversation", "`fork`: a sub-agent [follows it](restrictions.md#skills-that-run-apart)"),
    known("model", Form::Model, UsedBy::UsAndClaude, "the host's", "with `context: fork`, the sub-agent's model, as `provider/model`"),
    known("agent", Form::Text, UsedBy::Claude, "none", "with `context: fork`, the kind of sub-agent; there are no kinds here, which the model is told"),
    known("hooks", Form::Hooks, UsedBy::UsAndClaude, "none", "`{pre: SCRIPTS, post: SCRIPTS}` run when it becomes active, and afterwards, [once approved](scripts.md#hooks). Claude Code's events run in Claude Code and Qwen Code only"),
    known("requires", Form::Skills, UsedBy::Us, "none", "skills that are made active with it"),
    known("priority", Form::Number, UsedBy::Us, "`0`", "a whole number; of equal names in one [layer](policy.md#layers) the higher counts"),
    known("scope", Form::Scope, UsedBy::Us, "everywhere", "`{agents, tenants, environments}`: where it is [offered](policy.md#who-sees-a-skill)"),
    known("execution", Form::Execution, UsedBy::Us, "as configured", "`{sandbox, network, allowed-paths}`: a stricter [sandbox](scripts.md#sandbox-linux) for its scripts"),
    known("effort", Form::Any, UsedBy::Claude, "none", "how much the model thinks"),
    known("paths", Form::Any, UsedBy::Claude, "none", "files at which it is offered"),
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

impl Known {
    /// The field that a key means or is meant to be.
    pub fn of(key: &str) -> Option<&'static Self> {
        let other = SPELLINGS.iter().find(|(other, _)| folds_to(key, other));
        let key = other.map_or(key, |(_, key)| key);
        FIELDS
            .iter()
            .find(|field| folds_to(key, &folded(field.key)))
    }

    /// Whether the field is read under this key.
    pub fn is_read_as(&self, key: &str) -> bool {
        key == self.key || !EXACT.has(self.key)
    }
}

fn folded(key: &str) -> String {
    key.replace(['-', '_'], "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::{Fields, mapping};

    #[test]
    fn the_documentation_has_the_table() {
        let docs = include_str!("../../docs/authors.md");
        let rows = FIELDS.iter().map(|field| {
            let used_by = field.used_by.as_str();
            let (key, meaning, default) = (field.key, field.meaning, field.default);
            format!("| `{key}` | {meaning} | {default} | {used_by} |\n")
        });
        let rows: String = rows.collect();
        assert!(
            docs.contains(&format!("|---|---|---|---|\n{rows}\n")),
            "{rows}"
        );
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
        let fields = |yaml: &str| Fields::from(mapping::read(yaml).values);
        assert_eq!(fields("Priority: 3").priority(), 0);
        assert!(!fields("Context: fork").is_forked());
        assert_eq!(fields("Tags: a").tags(), ["a"]);
        assert!(!fields("User_Invocable: no").user_invocable());
        let known = FIELDS.iter().filter(|field| EXACT.has(field.key));
        assert_eq!(known.count(), 14);
    }
}
