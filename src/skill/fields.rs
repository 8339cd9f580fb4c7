//! The frontmatter's fields as text and lists, whatever YAML type their author used
//! (docs/spec/skills.md#fields). It does not know what an allowed-tools entry means.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Diagnostic;

/// The top-level keys of one frontmatter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fields(Map<String, Value>);

/// `allowed-tools` as written (docs/spec/restriction.md#absent-null-and-empty). Each string
/// contains one or more entries of the list grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolList {
    /// The key is absent: no restriction.
    Absent,
    /// The key has no value, which is usually an accident: no restriction.
    Null,
    /// The key has a value, which may be empty.
    Listed(Vec<String>),
}

impl ToolList {
    /// The list that is the value of such a key.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            value => Self::Listed(entries(value)),
        }
    }
}

impl From<Map<String, Value>> for Fields {
    fn from(map: Map<String, Value>) -> Self {
        Self(map)
    }
}

impl From<Fields> for Map<String, Value> {
    fn from(fields: Fields) -> Self {
        fields.0
    }
}

impl Fields {
    /// The value under exactly this key.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The keys, in the order written.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The values, in the order written.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.values()
    }

    /// A field as trimmed text; a list becomes its items joined by `, `. `None` if it is missing,
    /// null or blank.
    pub fn text(&self, key: &str) -> Option<String> {
        let text = match self.0.get(key)? {
            Value::Array(items) => {
                let items: Vec<String> = items.iter().filter_map(scalar).collect();
                items.join(", ")
            }
            value => scalar(value)?,
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The author's version: `metadata.version`, or `version` at the top level.
    pub fn version(&self) -> Option<String> {
        let in_metadata = self.value("metadata").and_then(|all| all.get("version"));
        let of = |value: Option<&Value>| {
            let text = value?.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        of(in_metadata).or_else(|| of(self.value("version")))
    }

    /// As [`Fields::text`], of a field in `metadata`.
    pub fn in_metadata(&self, key: &str) -> Option<String> {
        let metadata = self.value("metadata")?.as_object()?;
        Self::from(metadata.clone()).text(key)
    }

    /// The value of `allowed-tools` in any of its spellings.
    pub fn allowed_tools(&self) -> ToolList {
        let found = self.allowed_key();
        found.map_or(ToolList::Absent, |(_, value)| ToolList::of(value))
    }

    /// Whether the only tool list is under `tools`, which some authors use for clients.
    pub fn tools_are_ambiguous(&self) -> bool {
        self.spelled("allowedtools").is_none() && self.spelled("tools").is_some()
    }

    /// The entries of `disallowed-tools` in all its spellings; empty if there is no such key.
    pub fn disallowed_tools(&self) -> Vec<String> {
        let all = self.0.iter();
        let spellings = all.filter(|(key, _)| is_disallowed_tools(key));
        spellings.flat_map(|(_, value)| entries(value)).collect()
    }

    /// Diagnostics on the spelling of the tool lists.
    pub fn tool_list_diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        let (key, is_null) = match self.allowed_key() {
            Some((key, value)) => (key, value.is_null()),
            None => ("allowed-tools", false),
        };
        let misspelt = || Diagnostic::AllowedToolsSpelling(key.to_owned());
        let misspelt = (key != "allowed-tools").then(misspelt);
        let null = is_null.then_some(Diagnostic::NullAllowedTools);
        misspelt.into_iter().chain(null)
    }

    /// Sets this key, in place of all that `is_it` accepts.
    pub(super) fn replace(&mut self, is_it: impl Fn(&str) -> bool, key: &str, value: Value) {
        self.0.retain(|key, _| !is_it(key));
        self.0.insert(key.to_owned(), value);
    }

    fn allowed_key(&self) -> Option<(&str, &Value)> {
        let own = self.spelled("allowedtools");
        let is_set = |(_, value): &(&str, &Value)| !value.is_null();
        let other = || self.spelled("tools").filter(is_set);
        own.filter(is_set).or_else(other).or(own)
    }

    /// The field whose name folds to `folded`, see [`folds_to`]. Among several, the specification's
    /// spelling with hyphens comes first.
    pub(super) fn spelled(&self, folded: &str) -> Option<(&str, &Value)> {
        let spellings = self.0.iter().filter(|(key, _)| folds_to(key, folded));
        let found = spellings.min_by_key(|(key, _)| !key.contains('-'));
        found.map(|(key, value)| (key.as_str(), value))
    }
}

/// Whether a key equals `folded`, ignoring case, hyphens of any kind, underscores and spaces.
pub fn folds_to(key: &str, folded: &str) -> bool {
    let letters = key.chars().filter(|c| c.is_alphanumeric());
    letters.map(|c| c.to_ascii_lowercase()).eq(folded.chars())
}

/// Whether a key is a spelling of `allowed-tools`.
pub fn is_allowed_tools(key: &str) -> bool {
    folds_to(key, "allowedtools")
}

/// Whether a key is a spelling of `disallowed-tools`.
pub fn is_disallowed_tools(key: &str) -> bool {
    folds_to(key, "disallowedtools")
}

/// Whether a key is `tools`, which some authors use for `allowed-tools`.
pub fn is_tools(key: &str) -> bool {
    folds_to(key, "tools")
}

/// Whether a key may hold a tool list.
pub fn is_tool_list(key: &str) -> bool {
    is_allowed_tools(key) || is_disallowed_tools(key) || is_tools(key)
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
pub fn is_text(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(|item| scalar(item).is_some()),
        value => scalar(value).is_some(),
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The entries of a tool list in any form that occurs (docs/spec/skills.md#allowed-tools).
fn entries(value: &Value) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::mapping;

    fn fields(yaml: &str) -> Fields {
        Fields::from(mapping::read(yaml).values)
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
            assert_eq!(
                fields(yaml).allowed_tools(),
                ToolList::Listed(expected),
                "{yaml}"
            );
        }
        assert_eq!(fields("allowed-tools:").allowed_tools(), ToolList::Null);
        assert_eq!(fields("name: x").allowed_tools(), ToolList::Absent);
        let other = fields("tools: Read\nallowed-tools:").allowed_tools();
        assert_eq!(other, fields("tools: Read").allowed_tools());
    }

    #[test]
    fn other_spellings_of_the_key_win_over_tools() {
        for both in [
            "tools: [codex]\nallowed-tools: Read",
            "allowedTools: Read\ntools: Bash",
        ] {
            assert_eq!(
                fields(both).allowed_tools(),
                ToolList::Listed(vec!["Read".to_owned()])
            );
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
            assert_eq!(allowed != ToolList::Absent, is_merged, "{yaml}");
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
            assert_eq!(
                fields(yaml).allowed_tools(),
                ToolList::Listed(allowed),
                "{yaml}"
            );
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
}
