//! What a skill's author says about who may see and call it. Whether to follow it is decided
//! elsewhere.

use serde_json::Value;

use super::Fields;

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

impl Fields {
    /// `priority`: 0 unless it is a whole number.
    pub fn priority(&self) -> i64 {
        let text = self.text("priority");
        text.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Whether the model must not call it: `disable-model-invocation` in any spelling.
    pub fn disables_model_invocation(&self) -> bool {
        let folded = ["disablemodelinvocation", "disablemodelinvokation"];
        folded.iter().any(|key| self.flag(key) == Some(true))
    }

    /// Whether people may call it: `user-invocable` in any spelling.
    pub fn user_invocable(&self) -> bool {
        let folded = ["userinvocable", "userinvokable"];
        !folded.iter().any(|key| self.flag(key) == Some(false))
    }

    /// The field `scope`, if it is a mapping; other clients use the key for other things.
    pub fn scope(&self) -> SkillScope {
        let Some((_, Value::Object(scope))) = self.spelled("scope") else {
            return SkillScope::default();
        };
        let scope = Self::from(scope.clone());
        let list = |keys: [&str; 3]| {
            let found = keys.iter().find_map(|key| scope.spelled(key));
            let text = found
                .and_then(|(key, _)| scope.text(key))
                .unwrap_or_default();
            let words = text.split([',', ' ']).filter(|word| !word.is_empty());
            words.map(str::to_owned).collect()
        };
        SkillScope {
            agents: list(["agents", "agent", "contexts"]),
            tenants: list(["tenants", "tenant", "tenantids"]),
            environments: list(["environments", "environment", "envs"]),
        }
    }

    fn flag(&self, folded: &str) -> Option<bool> {
        let (key, _) = self.spelled(folded)?;
        match self.text(key)?.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        }
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
        assert_eq!(scope.agents, ["a", "b*"]);
        assert_eq!(scope.tenants, ["acme"]);
        assert_eq!(scope.environments, ["prod", "test"]);
        assert_eq!(fields("scope: project").scope(), SkillScope::default());
    }

    #[test]
    fn a_priority_is_a_whole_number() {
        assert_eq!(fields("priority: 7").priority(), 7);
        assert_eq!(fields("priority: '-2'").priority(), -2);
        assert_eq!(fields("priority: high").priority(), 0);
    }
}
