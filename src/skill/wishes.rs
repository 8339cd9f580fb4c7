//! What a skill's author says about who may see and call it, when to choose it and where it runs.
//! Whether to follow it is decided elsewhere.

use serde_json::Value;

use super::Fields;
use super::restricting::RestrictingKey;
use crate::sys::limits;

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
    pub fn read(value: &Value) -> Result<Option<Self>, &'static str> {
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
        let scope = Fields::from(scope.clone());
        let list = |keys: [&str; 3]| {
            let found = keys.iter().find_map(|key| scope.spelled(key));
            let text = found
                .and_then(|(key, _)| scope.text(key))
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
        let mut key = key.to_lowercase();
        key.retain(char::is_alphanumeric);
        let all = [Self::AGENTS, Self::TENANTS, Self::ENVIRONMENTS];
        let all = all.as_flattened().iter();
        all.map(|known| strsim::damerau_levenshtein(&key, known))
            .min()
            .unwrap_or(usize::MAX)
    }
}

impl Fields {
    /// `priority`: 0 unless it is a whole number.
    pub fn priority(&self) -> i64 {
        let text = self.text("priority");
        text.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Whether the model must not call it: `disable-model-invocation` in any spelling. A value that
    /// is not clearly `false` counts as `true`.
    pub fn disables_model_invocation(&self) -> bool {
        let mut all = self.keys().zip(self.values());
        all.any(|(key, value)| {
            RestrictingKey::of(key) == Some(RestrictingKey::DisableModelInvocation)
                && !value.is_null()
                && self.text(key).and_then(|text| flag(&text)) != Some(false)
        })
    }

    /// Whether people may call it: `user-invocable` in any spelling.
    pub fn user_invocable(&self) -> bool {
        let folded = ["userinvocable", "userinvokable"];
        !folded.iter().any(|key| self.flag(key) == Some(false))
    }

    /// The field `scope`; none if it is absent or another client's.
    ///
    /// # Errors
    /// As [`SkillScope::read`].
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
        // One above the limit, to detect that there are more.
        let given = given.take(limits::REQUIRED_SKILLS + 1);
        given.map(str::to_owned).collect()
    }

    /// `when_to_use` in any spelling, which continues the description (docs/spec/skills.md#fields).
    pub fn when_to_use(&self) -> Option<String> {
        let (key, _) = self.spelled("whentouse")?;
        self.text(key)
    }

    /// `tags`, at the top level or in `metadata`: a list, or words separated by commas.
    pub fn tags(&self) -> Vec<String> {
        let own = self.spelled("tags").and_then(|(key, _)| self.text(key));
        let text = own.or_else(|| self.in_metadata("tags")).unwrap_or_default();
        let tags = text.split(',').map(str::trim).filter(|tag| !tag.is_empty());
        tags.map(str::to_owned).collect()
    }

    /// Whether the skill has `context: fork`. Most skills use the key for tags of their own
    /// (docs/spec/skills.md#fields).
    pub fn is_forked(&self) -> bool {
        self.text("context")
            .is_some_and(|text| text.eq_ignore_ascii_case("fork"))
    }

    /// The requested `model`, if it is an id with its provider, as hosts with several providers
    /// write it. Nearly all real values belong to one other client (`opus`, `inherit`) and mean
    /// nothing here.
    pub fn model_id(&self) -> Option<String> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.:/".contains(c);
        self.text("model").filter(|id| {
            let (provider, name) = id.split_once('/').unwrap_or_default();
            !provider.is_empty() && !name.is_empty() && id.len() <= 100 && id.chars().all(is_part)
        })
    }

    fn flag(&self, folded: &str) -> Option<bool> {
        let (key, _) = self.spelled(folded)?;
        flag(&self.text(key)?)
    }
}

/// The meaning of a flag's text.
pub fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
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
    fn a_model_is_an_id_with_its_provider() {
        for (written, id) in [
            ("anthropic/claude-opus-4.5:beta", true),
            ("sonnet", false),
            ("inherit", false),
            ("claude-opus-4-5-20251101", false),
            ("/x", false),
            ("a/b c", false),
            ("'a/b\"}'", false),
        ] {
            let found = fields(&format!("model: {written}")).model_id();
            assert_eq!(found.is_some(), id, "{written}");
        }
    }
}
