//! The frontmatter's fields as text and lists, whatever YAML type their author used, and what the
//! author says with them about who may see and call a skill, when to choose it and where it runs. It
//! does not know what an allowed-tools entry means, nor whether the rest is followed. And one table of
//! the fields that some client uses, with the keys that are likely meant to restrict: one letter, hyphen
//! or case away from a key that does.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use skill_text::{Names, is_invisible, one_line};

use crate::diagnostic::HOOK_SCRIPTS;
use crate::{Diagnostic, limits};

/// The top-level keys of one frontmatter, in the order written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fields(pub Map<String, Value>);

impl Fields {
    /// The value under exactly this key.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// A field as trimmed text; a list becomes its items joined by `, `. `None` if it is missing,
    /// null or blank.
    pub fn text(&self, key: &str) -> Option<String> {
        text_of(self.0.get(key)?)
    }

    /// The description; `None` if it has no visible character.
    pub fn description(&self) -> Option<String> {
        let shows = |c: char| !c.is_whitespace() && !c.is_control() && !is_invisible(c);
        self.text("description").filter(|text| text.contains(shows))
    }

    /// The author's version: `metadata.version`, or `version` at the top level.
    pub fn version(&self) -> Option<String> {
        let of = |value: Option<&Value>| {
            let text = value?.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let in_metadata = self.value("metadata").and_then(|all| all.get("version"));
        of(in_metadata).or_else(|| of(self.value("version")))
    }

    /// As [`Fields::text`], of a field in `metadata`.
    pub(crate) fn in_metadata(&self, key: &str) -> Option<String> {
        text_of(self.value("metadata")?.get(key)?)
    }

    /// The value of `allowed-tools` in any of its spellings, as written: each string contains one or
    /// more entries of the list grammar. `None` without the key, or if it has no value, which is usually
    /// an accident: no restriction. Empty if it allows nothing.
    pub fn allowed_tools(&self) -> Option<Vec<String>> {
        let (_, value) = self.allowed_key()?;
        (!value.is_null()).then(|| entries(value))
    }

    /// Whether the only tool list is under `tools`, which some authors use for clients.
    pub fn tools_are_ambiguous(&self) -> bool {
        self.spelled("allowedtools").is_none() && self.spelled("tools").is_some()
    }

    /// The entries of `disallowed-tools` in all its spellings; empty if there is no such key.
    pub fn disallowed_tools(&self) -> Vec<String> {
        let all = self.0.iter();
        let denies = |key| RestrictingKey::of(key) == Some(RestrictingKey::DisallowedTools);
        let spellings = all.filter(|(key, _)| denies(key));
        spellings.flat_map(|(_, value)| entries(value)).collect()
    }

    /// Diagnostics on the spelling of the tool lists.
    pub(crate) fn tool_list_diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        let key = self.allowed_key();
        let misspelt = key.filter(|(key, _)| *key != "allowed-tools");
        let misspelt = misspelt.map(|(key, _)| Diagnostic::AllowedToolsSpelling(key.to_owned()));
        let null = key.filter(|(_, value)| value.is_null());
        let null = null.map(|_| Diagnostic::NullAllowedTools);
        misspelt.into_iter().chain(null)
    }

    /// Whether this key is there in any spelling and has a value.
    pub(crate) fn has(&self, key: RestrictingKey) -> bool {
        let mut set = self.0.iter().filter(|(_, value)| !value.is_null());
        set.any(|(written, _)| RestrictingKey::of(written) == Some(key))
    }

    /// Restricts a skill whose key cannot be read: to what is always allowed, or to people.
    pub(crate) fn restrict(&mut self, unread: RestrictingKey) {
        let (key, value) = match unread {
            RestrictingKey::DisableModelInvocation => (unread, Value::Bool(true)),
            _ => (RestrictingKey::AllowedTools, Value::Array(Vec::new())),
        };
        self.0
            .retain(|other, _| RestrictingKey::of(other) != Some(key));
        self.0.insert(key.as_str().to_owned(), value);
    }

    fn allowed_key(&self) -> Option<(&str, &Value)> {
        let own = self.spelled("allowedtools");
        let is_set = |(_, value): &(&str, &Value)| !value.is_null();
        let other = || self.spelled("tools").filter(is_set);
        own.filter(is_set).or_else(other).or(own)
    }

    /// The field whose name folds to `folded`, see [`folds_to`]. Among several, the specification's
    /// spelling with hyphens comes first.
    pub(crate) fn spelled(&self, folded: &str) -> Option<(&str, &Value)> {
        spelled_in(&self.0, folded)
    }

    /// `priority`: 0 unless it is a whole number.
    pub fn priority(&self) -> i64 {
        let text = self.text("priority");
        text.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Whether the model must not call it: `disable-model-invocation` in any spelling. A value that
    /// is not clearly `false` counts as `true`.
    pub fn disables_model_invocation(&self) -> bool {
        self.0.iter().any(|(key, value)| {
            RestrictingKey::of(key) == Some(RestrictingKey::DisableModelInvocation)
                && !value.is_null()
                && text_of(value).and_then(|text| parse_flag(&text)) != Some(false)
        })
    }

    /// Whether people may call it: `user-invocable` in any spelling.
    pub fn user_invocable(&self) -> bool {
        let folded = ["userinvocable", "userinvokable"];
        let is_no = |key| {
            let text = self.spelled(key).and_then(|(_, value)| text_of(value));
            text.and_then(|text| parse_flag(&text)) == Some(false)
        };
        !folded.into_iter().any(is_no)
    }

    /// The field `scope`; none if it is absent or another client's.
    ///
    /// # Errors
    /// Why it limits nothing that is known, although it names a list of these.
    pub fn scope(&self) -> Result<SkillScope, &'static str> {
        let scope = self.spelled("scope");
        let read = scope.map_or(Ok(None), |(_, value)| SkillScope::read(value));
        read.map(Option::unwrap_or_default)
    }

    /// The skills that `requires` names: a list, or a text with commas or spaces. A table, which other
    /// clients use, names programs and variables and is ignored.
    pub fn requires(&self) -> Vec<String> {
        let names: Vec<&str> = match self.value("requires") {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => text
                .split(|c: char| c == ',' || c.is_whitespace())
                .collect(),
            _ => Vec::new(),
        };
        let given = names.into_iter().filter(|name| !name.trim().is_empty());
        let given = given.take(limits::REQUIRED_SKILLS);
        given.map(str::to_owned).collect()
    }

    /// `when_to_use` in any spelling, which continues the description.
    pub fn when_to_use(&self) -> Option<String> {
        text_of(self.spelled("whentouse")?.1)
    }

    /// `tags`, at the top level or in `metadata`: a list, or words separated by commas.
    pub fn tags(&self) -> Vec<String> {
        let own = self.spelled("tags").and_then(|(_, value)| text_of(value));
        let text = own.or_else(|| self.in_metadata("tags")).unwrap_or_default();
        let tags = text.split(',').map(str::trim).filter(|tag| !tag.is_empty());
        tags.map(str::to_owned).collect()
    }

    /// Whether the skill has `context: fork`. Most skills use the key for tags of their own.
    pub fn is_forked(&self) -> bool {
        self.text("context")
            .is_some_and(|text| text.eq_ignore_ascii_case("fork"))
    }
}

/// The frontmatter's `scope`. An empty list allows everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillScope {
    /// Contexts of the host, as globs.
    pub agents: Vec<String>,
    /// Tenants, as globs.
    pub tenants: Vec<String>,
    /// Environments, as globs.
    pub environments: Vec<String>,
}

impl SkillScope {
    /// The keys of each list, folded.
    const AGENTS: [&str; 3] = ["agents", "agent", "contexts"];
    const TENANTS: [&str; 3] = ["tenants", "tenant", "tenantids"];
    const ENVIRONMENTS: [&str; 3] = ["environments", "environment", "envs"];

    /// Reads a `scope`; `None` if it is another client's, which uses the key for other things.
    ///
    /// # Errors
    /// Why it limits nothing that is known, although it names a list of these.
    pub(crate) fn read(value: &Value) -> Result<Option<Self>, &'static str> {
        let is_ours = Self::is_meant_by(value);
        let Value::Object(scope) = value else {
            return if is_ours {
                Err("is not a mapping")
            } else {
                Ok(None)
            };
        };
        if !scope.is_empty() && !is_ours {
            return Ok(None);
        }
        if scope.keys().any(|key| Self::letters_off(key) > 0) {
            return Err("has a key that is not read");
        }
        let is_nested = |value: &Value| value.is_object() || value.is_array();
        let is_list = |value: &Value| match value {
            Value::Array(items) => !items.iter().any(is_nested),
            value => !value.is_object(),
        };
        if !scope.values().all(is_list) {
            return Err("has a value that is not a list of names");
        }
        let list = |keys: [&str; 3]| {
            let found = keys.iter().find_map(|key| spelled_in(scope, key));
            let text = found
                .and_then(|(_, value)| text_of(value))
                .unwrap_or_default();
            let words = text.split([',', ' ']).filter(|word| !word.is_empty());
            words.map(str::to_owned).collect()
        };
        Ok(Some(Self {
            agents: list(Self::AGENTS),
            tenants: list(Self::TENANTS),
            environments: list(Self::ENVIRONMENTS),
        }))
    }

    /// Whether it has a key of ours, or nearly, or is a text that begins with one as a mapping does.
    fn is_meant_by(value: &Value) -> bool {
        match value {
            Value::Object(scope) => scope.keys().any(|key| Self::letters_off(key) < 2),
            Value::Array(items) => items.iter().any(Self::is_meant_by),
            Value::String(text) => text.split_once([':', '=']).is_some_and(|(key, rest)| {
                let is_mapping =
                    text[key.len()..].starts_with('=') || rest.starts_with([' ', '\n']);
                is_mapping && Self::letters_off(key) == 0
            }),
            _ => false,
        }
    }

    /// How many letters a key differs from the nearest one that is read.
    fn letters_off(key: &str) -> usize {
        let key: String = letters(key).collect();
        let all = [Self::AGENTS, Self::TENANTS, Self::ENVIRONMENTS];
        let all = all.as_flattened().iter();
        let off = all.map(|known| strsim::damerau_levenshtein(&key, known));
        off.min().unwrap_or(usize::MAX)
    }
}

/// The meaning of a flag's text.
pub(crate) fn parse_flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// A key that restricts what a skill may do, or who may call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RestrictingKey {
    /// `allowed-tools`.
    AllowedTools,
    /// `disallowed-tools`.
    DisallowedTools,
    /// `disable-model-invocation`.
    DisableModelInvocation,
}

impl RestrictingKey {
    /// All of them.
    pub const ALL: [Self; 3] = [
        Self::AllowedTools,
        Self::DisallowedTools,
        Self::DisableModelInvocation,
    ];

    /// The key that is written so, in any spelling.
    pub fn of(key: &str) -> Option<Self> {
        let field = KnownField::of(key)?;
        let mut all = Self::ALL.into_iter();
        all.find(|one| one.as_str() == field.key)
    }

    /// The key as the documentation spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllowedTools => "allowed-tools",
            Self::DisallowedTools => "disallowed-tools",
            Self::DisableModelInvocation => "disable-model-invocation",
        }
    }
}

/// The letters and digits of a key, in lower case.
pub(crate) fn letters(key: &str) -> impl Iterator<Item = char> {
    let letters = key.chars().filter(|c| c.is_alphanumeric());
    letters.map(|c| c.to_ascii_lowercase())
}

/// Whether two keys are one, ignoring case, hyphens of any kind, underscores and spaces.
pub(crate) fn folds_to(key: &str, other: &str) -> bool {
    letters(key).eq(letters(other))
}

fn spelled_in<'m>(map: &'m Map<String, Value>, folded: &str) -> Option<(&'m str, &'m Value)> {
    let spellings = map.iter().filter(|(key, _)| folds_to(key, folded));
    let found = spellings.min_by_key(|(key, _)| !key.contains('-'));
    found.map(|(key, value)| (key.as_str(), value))
}

/// Whether a key is a spelling of `allowed-tools`.
pub fn is_allowed_tools(key: &str) -> bool {
    folds_to(key, "allowedtools")
}

/// Whether a key is `tools`, which some authors use for `allowed-tools`.
pub fn is_tools(key: &str) -> bool {
    folds_to(key, "tools")
}

/// A value as trimmed text, see [`Fields::text`].
fn text_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().filter_map(scalar).collect();
            items.join(", ")
        }
        value => scalar(value)?,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A value as an author would write it on one line; not a form that can be read again.
pub fn written(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(written).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let pairs = map
                .iter()
                .map(|(key, value)| format!("{key}: {}", written(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        value => scalar(value).unwrap_or_default(),
    }
}

/// Whether a value is read as a text: it is one, or a list of them.
pub(crate) fn is_text(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(|item| scalar(item).is_some()),
        value => scalar(value).is_some(),
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(parse_flag) => Some(parse_flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The entries of a tool list in any form that occurs.
pub(crate) fn entries(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(item).collect(),
        Value::Object(map) => {
            let entries = map.iter().flat_map(|(name, body)| map_entry(name, body));
            entries.collect()
        }
        value => scalar(value).into_iter().collect(),
    }
}

/// The entries of a list's item. `- Bash:` has lost what was to follow, so it is no `Bash`.
fn item(value: &Value) -> Vec<String> {
    match value {
        Value::Object(map) => {
            let pairs = map.iter().map(|(name, body)| match body {
                Value::Null => map_entry(name, &Value::Bool(false)),
                body => map_entry(name, body),
            });
            pairs.flatten().collect()
        }
        value => entries(value),
    }
}

/// The entries of a mapping: `{Bash: [git:*, ls]}` is `Bash(git:*) Bash(ls)`. A name with an open
/// parenthesis is an entry that YAML has split at `: `, so it is joined again. A value that names no
/// arguments makes an entry with a flaw, which grants nothing and denies the whole tool.
fn map_entry(name: &str, body: &Value) -> Vec<String> {
    match body {
        Value::Array(items) if !items.is_empty() => {
            let entries = items.iter().flat_map(|item| map_entry(name, item));
            entries.collect()
        }
        _ if name.contains('(') => {
            vec![format!("{name}:{}", scalar(body).unwrap_or_default())]
        }
        Value::Null | Value::Bool(true) => vec![name.to_owned()],
        Value::Bool(false) | Value::Array(_) | Value::Object(_) => vec![format!("{name}()")],
        Value::String(body) => vec![format!("{name}({body})")],
        Value::Number(body) => vec![format!("{name}({body})")],
    }
}

/// A field that some client uses.
#[derive(Debug)]
pub struct KnownField {
    /// The key, as it is best written.
    pub key: &'static str,
    /// What its value must be.
    pub(crate) form: ValueForm,
}

/// The form of a field's value. Each has its check in [`lint`](crate::lint()).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueForm {
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
    /// A model, which only other clients choose.
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

/// Every field that some client uses.
#[rustfmt::skip]
pub const FIELDS: [KnownField; 25] = [
    KnownField { key: "name", form: ValueForm::Any },
    KnownField { key: "description", form: ValueForm::Any },
    KnownField { key: "license", form: ValueForm::Text },
    KnownField { key: "compatibility", form: ValueForm::Text },
    KnownField { key: "metadata", form: ValueForm::Mapping },
    KnownField { key: "allowed-tools", form: ValueForm::Any },
    KnownField { key: "disallowed-tools", form: ValueForm::Any },
    KnownField { key: "tools", form: ValueForm::Any },
    KnownField { key: "version", form: ValueForm::Text },
    KnownField { key: "when_to_use", form: ValueForm::Text },
    KnownField { key: "tags", form: ValueForm::Text },
    KnownField { key: "argument-hint", form: ValueForm::Text },
    KnownField { key: "arguments", form: ValueForm::Names },
    KnownField { key: "user-invocable", form: ValueForm::Flag },
    KnownField { key: "disable-model-invocation", form: ValueForm::Flag },
    KnownField { key: "context", form: ValueForm::Fork },
    KnownField { key: "model", form: ValueForm::Model },
    KnownField { key: "agent", form: ValueForm::Text },
    KnownField { key: "hooks", form: ValueForm::Hooks },
    KnownField { key: "requires", form: ValueForm::Skills },
    KnownField { key: "priority", form: ValueForm::Number },
    KnownField { key: "scope", form: ValueForm::Scope },
    KnownField { key: "execution", form: ValueForm::Execution },
    KnownField { key: "effort", form: ValueForm::Any },
    KnownField { key: "paths", form: ValueForm::Any },
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

impl KnownField {
    /// The field that a key means or is meant to be.
    pub fn of(key: &str) -> Option<&'static Self> {
        let other = SPELLINGS.iter().find(|(other, _)| folds_to(key, other));
        let key = other.map_or(key, |(_, key)| key);
        FIELDS.iter().find(|field| folds_to(key, field.key))
    }

    /// Whether the field is read under this key.
    pub(crate) fn is_read_as(&self, key: &str) -> bool {
        key == self.key || !EXACT.has(self.key)
    }
}

/// The fields that are likely meant to be one of these keys, unless that is there too: each as
/// written, with `metadata.` before it if it stands there, and the key that is likely meant.
pub(crate) fn near_misses(fields: &Fields) -> Vec<(String, String)> {
    let meant_by = |key: &str| KnownField::of(key).map(|field| field.key);
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
pub(crate) fn near_miss_of(key: &str) -> Option<&'static str> {
    if KnownField::of(key).is_some() {
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

const KEYS: [&str; 2] = ["pre", "post"];

/// The scripts as written, relative to the skill's directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hooks {
    /// They run in this order when the skill is activated.
    pub pre: Vec<String>,
    /// They run in this order when its activation has ended.
    pub post: Vec<String>,
}

impl Hooks {
    /// Parses the field. Anything not understood is not a hook.
    pub fn parse(fields: &Fields) -> Self {
        let scripts = |key| of_key(fields, key).and_then(scripts).unwrap_or_default();
        Self {
            pre: scripts("pre"),
            post: scripts("post"),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pre.is_empty() && self.post.is_empty()
    }

    /// Diagnostics on hooks that will not run.
    pub(crate) fn diagnostics(fields: &Fields) -> Vec<Diagnostic> {
        let unclear = |what: &str| Diagnostic::HooksUnclear(what.to_owned());
        let map = match fields.value("hooks") {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Object(map)) => map,
            Some(_) => return vec![unclear("hooks")],
        };
        let is_unclear =
            |key: &&str| of_key(fields, key).is_some_and(|value| scripts(value).is_none());
        let own = KEYS.into_iter().filter(is_unclear);
        let mut found: Vec<_> = own.map(|key| unclear(&format!("hooks.{key}"))).collect();
        let foreign = map.keys().filter(|key| !KEYS.contains(&key.as_str()));
        let foreign: Vec<String> = foreign.take(5).map(|key| one_line(key)).collect();
        if !foreign.is_empty() {
            found.push(Diagnostic::ForeignHooks(foreign.join(", ")));
        }
        found
    }
}

fn of_key<'a>(fields: &'a Fields, key: &str) -> Option<&'a Value> {
    fields.value("hooks")?.get(key)
}

/// `None` if it is neither a script nor a list of scripts.
fn scripts(value: &Value) -> Option<Vec<String>> {
    let script = |value: &Value| {
        let text = value.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(items) if items.len() <= HOOK_SCRIPTS => items.iter().map(script).collect(),
        value => Some(vec![script(value)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping;
    use proptest::prelude::*;

    fn fields(yaml: &str) -> Fields {
        Fields(mapping::read(yaml).values)
    }

    #[test]
    fn allowed_tools_in_every_form_seen() {
        for (yaml, expected) in [
            ("allowed-tools: Read Grep", &["Read Grep"][..]),
            ("allowed-tools: Read, Grep", &["Read, Grep"]),
            ("allowed-tools: \"Read\"", &["Read"]),
            ("allowed-tools: [Read, Bash]", &["Read", "Bash"]),
            (
                "allowed-tools:\n- Read\n- Bash(git:*)",
                &["Read", "Bash(git:*)"],
            ),
            (
                "allowed-tools:\n  Bash: [git:*, ls]\n  Read:",
                &["Bash(git:*)", "Bash(ls)", "Read"],
            ),
            (
                "allowed-tools: [\"WebFetch(domain\": \"linear.app)\"]",
                &["WebFetch(domain:linear.app)"],
            ),
            ("allowed-tools:\n- Bash:\n- git *", &["Bash()", "git *"]),
            ("allowed-tools: Read,\n  Grep", &["Read, Grep"]),
            ("allowed-tools: \"\"", &[""]),
            ("allowed-tools: []", &[]),
            ("allowed_tools: Read", &["Read"]),
            ("allowedTools: [Read]", &["Read"]),
            ("tools: Read", &["Read"]),
        ] {
            let expected = expected.iter().map(|s| (*s).to_owned()).collect();
            assert_eq!(fields(yaml).allowed_tools(), Some(expected), "{yaml}");
        }
        assert_eq!(fields("allowed-tools:").allowed_tools(), None);
        assert_eq!(fields("name: x").allowed_tools(), None);
        let other = fields("tools: Read\nallowed-tools:").allowed_tools();
        assert_eq!(other, fields("tools: Read").allowed_tools());
    }

    #[test]
    fn other_spellings_of_the_key_win_over_tools() {
        for both in [
            "tools: [codex]\nallowed-tools: Read",
            "allowedTools: Read\ntools: Bash",
        ] {
            assert_eq!(fields(both).allowed_tools(), Some(vec!["Read".to_owned()]));
        }
    }

    #[test]
    fn nothing_in_a_denial_is_lost() {
        for (yaml, expected) in [
            ("{Bash: {rm: true}}", &["Bash()"][..]),
            (
                "{Bash: {}, Write: [], Read: false}",
                &["Bash()", "Write()", "Read()"],
            ),
            (
                "{Bash: [rm, {ls: x}, [cp]]}",
                &["Bash(rm)", "Bash()", "Bash(cp)"],
            ),
            ("[[Bash, [Write]], ~, 3]", &["Bash", "Write", "3"]),
            ("{Bash: rm, Bash: ls}", &["{twice}"]),
            ("Bash\ndisallowed-tools: Write", &["Bash", "Write"]),
            (
                "[Bash]\ndisallowed-tools:\ndisallowed_tools: Write",
                &["Bash", "Write"],
            ),
            ("\nfoo: [a] [b]\ndisallowed-tools: Bash", &["Bash"]),
            (
                "Read\nfoo: [a] [b]\ndisallowed-tools: Bash",
                &["Read", "Bash"],
            ),
            (
                "Read\nx: &a {disallowed-tools: Bash}\n<<: *a",
                &["Read", "Bash"],
            ),
            (
                "Read\nx: &a {disallowed-tools: Bash}\n<<: [{<<: *a}]",
                &["Read", "Bash"],
            ),
            (
                "Read\nx: &a {disallowed-tools: a, disallowed-tools: b}\n<<: *a",
                &["Read", "<<"],
            ),
        ] {
            let yaml = format!("disallowed-tools: {yaml}");
            assert_eq!(fields(&yaml).disallowed_tools(), expected, "{yaml}");
            let is_merged = expected.contains(&"<<");
            let allowed = fields(&yaml).allowed_tools();
            assert_eq!(allowed.is_some(), is_merged, "{yaml}");
        }
    }

    #[test]
    fn different_lists_of_allowed_tools_allow_nothing() {
        for (yaml, allowed) in [
            ("allowed-tools: Read\nallowed-tools: [Read]", &["Read"][..]),
            ("allowed-tools: Read\nx:\n  allowed-tools: Bash", &["Read"]),
            ("allowed-tools: Read\nx: y\nallowed-tools: Bash", &[]),
            ("allowed-tools: Read\nallowed-tools:", &[]),
            ("allowed-tools: Read\nallowed_tools: Bash", &[]),
            ("Allowed-Tools: Bash\nallowed-tools: Read", &[]),
            ("tools: Read\ntools: Bash", &[]),
            ("  allowed-tools: Read\n  allowed-tools:", &[]),
            ("  allowed-tools: Read\n  allowed-tools: Bash", &[]),
            ("{allowed-tools: Read, allowed-tools: Bash}", &[]),
            ("allowed-tools: Read\n\"allowed\\x2dtools\": Bash", &[]),
            ("allowed-tools: Read\n? allowed-tools\n: Bash", &[]),
            ("x: [a] [b]\nallowed-tools: Read\nallowed-tools: Bash", &[]),
            ("b: &b {allowed-tools: Bash}\n<<: *b", &["Bash"]),
            ("b: &b {tools: a, tools: b}\n\"<<\": *b", &[]),
            (
                "b: &b {allowed-tools: Bash}\n<<: *b\nallowed-tools: Read",
                &[],
            ),
            (
                "b: &b {allowed-tools: Bash, allowed-tools: Read}\n<<: *b",
                &[],
            ),
        ] {
            let allowed = allowed.iter().map(|entry| (*entry).to_owned()).collect();
            assert_eq!(fields(yaml).allowed_tools(), Some(allowed), "{yaml}");
        }
    }

    #[test]
    fn values_of_other_types_are_text() {
        let fields = fields("name: 123\ndescription: [a, b]\nlicense: true\nx:\n");
        assert_eq!(fields.text("name").as_deref(), Some("123"));
        assert_eq!(fields.text("description").as_deref(), Some("a, b"));
        assert_eq!(fields.text("license").as_deref(), Some("true"));
        assert_eq!(fields.text("x"), None);
    }

    #[test]
    fn flags_in_every_spelling() {
        for yaml in [
            "disable-model-invocation: true",
            "disable_model_invocation: yes",
            "disableModelInvocation: 'true'",
            "Disable-Model-Invokation: on",
        ] {
            assert!(fields(yaml).disables_model_invocation(), "{yaml}");
        }
        for yaml in [
            "x: 1",
            "disable-model-invocation: false",
            "disable-model-invocation:",
        ] {
            assert!(!fields(yaml).disables_model_invocation(), "{yaml}");
        }
        for yaml in [
            "user-invocable: false",
            "userInvocable: no",
            "user-invokable: false",
        ] {
            assert!(!fields(yaml).user_invocable(), "{yaml}");
        }
        assert!(fields("user-invocable: true").user_invocable() && fields("x: 1").user_invocable());
    }

    #[test]
    fn scopes_are_lists_or_words_and_nothing_else() {
        let scope =
            fields("scope: {agents: [a, b*], tenant: acme, environments: 'prod, test'}").scope();
        let scope = scope.unwrap();
        assert_eq!(scope.agents, ["a", "b*"]);
        assert_eq!(scope.tenants, ["acme"]);
        assert_eq!(scope.environments, ["prod", "test"]);
        for another in [
            "scope: project",
            "scope: [a, tenants]",
            "scope: {x: 1}",
            "scope: ~",
            "scope: agents:read",
            "scope: [agent:read, tenants:write]",
            "scope: 'Use for: building agents and tools'",
            "scope: 'environment-agnostic: works everywhere'",
            "scope: https://example.org/agents",
            "scope: [{path: 'src/agents/**'}]",
            "scope: {events: [push]}",
            "scope: {parents: [a]}",
            "scope: {agency: x, regents: x}",
            "scope: repo=agent-tools",
        ] {
            assert_eq!(
                fields(another).scope(),
                Ok(SkillScope::default()),
                "{another}"
            );
        }
        for unread in [
            "scope: 'tenants: acme'",
            "scope: [tenants: acme]",
            "scope: tenant=acme",
            "scope: 'Agents: [work]'",
            "scope: {agents: x, paths: y}",
            "scope: {tenannts: acme}",
            "scope: {tenants: {acme: true}}",
            "scope: {tenants: [[acme]]}",
        ] {
            assert!(fields(unread).scope().is_err(), "{unread}");
        }
    }

    #[test]
    fn a_priority_is_a_whole_number() {
        assert_eq!(fields("priority: 7").priority(), 7);
        assert_eq!(fields("priority: '-2'").priority(), -2);
        assert_eq!(fields("priority: high").priority(), 0);
    }

    #[test]
    fn tags_in_every_form_seen() {
        for yaml in [
            "tags: [a, b c]",
            "tags: a, b c",
            "Tags:\n- a\n- b c",
            "metadata: {tags: [a, b c]}",
            "metadata:\n  tags: a,b c",
        ] {
            assert_eq!(fields(yaml).tags(), ["a", "b c"], "{yaml}");
        }
        for yaml in ["x: 1", "tags:", "tags: {a: b}", "metadata: x"] {
            assert!(fields(yaml).tags().is_empty(), "{yaml}");
        }
    }

    #[test]
    fn when_to_use_in_every_spelling() {
        for key in ["when_to_use", "when-to-use", "whenToUse"] {
            let fields = fields(&format!("{key}: For forms."));
            assert_eq!(fields.when_to_use().as_deref(), Some("For forms."), "{key}");
        }
        assert_eq!(fields("when_to_use:").when_to_use(), None);
    }

    #[test]
    fn only_the_word_fork_forks() {
        assert!(fields("context: fork").is_forked() && fields("context: ' Fork '").is_forked());
        for other in [
            "context: inline",
            "context: [fork, x]",
            "context:",
            "x: fork",
        ] {
            assert!(!fields(other).is_forked(), "{other}");
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
            assert_eq!(
                KnownField::of(key).map(|field| field.key),
                Some(field),
                "{key}"
            );
        }
        assert!(KnownField::of("colour").is_none());
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

    fn codes(yaml: &str) -> Vec<String> {
        let found = Hooks::diagnostics(&fields(yaml));
        found.iter().map(Diagnostic::code).collect()
    }

    #[test]
    fn a_script_or_a_list_of_them() {
        let hooks = Hooks::parse(&fields("hooks: {pre: a.sh, post: [b.sh, ' c.sh ']}"));
        assert_eq!(hooks.pre, ["a.sh"]);
        assert_eq!(hooks.post, ["b.sh", "c.sh"]);
        assert_eq!(codes("hooks:\n  pre: a.sh\n  post:"), [""; 0]);
    }

    #[test]
    fn the_events_of_other_clients_are_never_hooks() {
        for yaml in [
            "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: evil",
            "hooks:\n  Stop: evil.sh\n  Pre: evil.sh",
        ] {
            assert!(Hooks::parse(&fields(yaml)).is_empty(), "{yaml}");
            assert_eq!(codes(yaml), ["foreign-hooks"], "{yaml}");
        }
    }

    #[test]
    fn what_is_not_understood_is_no_hook_and_is_remarked_on() {
        for yaml in [
            "hooks: a.sh",
            "hooks: [a.sh]",
            "hooks: {pre: {command: a.sh}}",
            "hooks: {pre: [a.sh, 3]}",
            "hooks: {post: ''}",
            "hooks: {post: true}",
            "hooks: {pre: [a, a, a, a, a, a, a, a, a]}",
        ] {
            assert!(Hooks::parse(&fields(yaml)).is_empty(), "{yaml}");
            assert_eq!(codes(yaml), ["hooks-unclear"], "{yaml}");
        }
    }

    proptest! {
        #[test]
        fn anything_is_read(yaml in "hooks: [\\[\\]{}a-z:, \n'\"]{0,60}") {
            let fields = fields(&yaml);
            let hooks = Hooks::parse(&fields);
            prop_assert!(hooks.pre.len() <= HOOK_SCRIPTS);
            Hooks::diagnostics(&fields);
        }
    }
}
