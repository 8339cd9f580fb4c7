//! What a skill may do, and who may call it, as far as its frontmatter decides; and whether a new
//! version could do more.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::skill::{Fields, Skill};

/// What a skill's frontmatter decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Powers {
    /// The entries of `allowed-tools`; `None` if it restricts nothing.
    pub allowed_tools: Option<Vec<String>>,
    /// The entries of `disallowed-tools`.
    pub disallowed_tools: Vec<String>,
    /// Whether the list is under `tools`, which restricts nothing unless an entry is a tool.
    #[serde(skip)]
    pub is_unclear: bool,
    /// How it limits itself, by key. A missing key is no limit.
    pub limits: BTreeMap<&'static str, String>,
    /// What else it asks for, by key.
    pub requests: BTreeMap<&'static str, String>,
    /// Its precedence among skills of one name.
    pub priority: i64,
}

/// The meaning of a key; `None` if it has none.
type Meaning = fn(&Fields) -> Option<String>;

const LIMITS: [(&str, Meaning); 5] = [
    ("execution", |fields| written(fields, "execution")),
    ("scope", scope),
    ("disable-model-invocation", |fields| {
        let disables = fields.disables_model_invocation();
        disables.then(|| true.to_string())
    }),
    ("user-invocable", |fields| {
        (!fields.user_invocable()).then(|| false.to_string())
    }),
    ("context", |fields| {
        fields.is_forked().then(|| "fork".to_owned())
    }),
];

const REQUESTS: [(&str, Meaning); 2] = [
    ("hooks", |fields| written(fields, "hooks")),
    ("requires", |fields| written(fields, "requires")),
];

/// A tool list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKey {
    /// `allowed-tools`.
    Allowed,
    /// `disallowed-tools`.
    Denied,
}

impl Powers {
    /// Those of a skill that may do nothing.
    pub fn none() -> Self {
        Self {
            allowed_tools: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Those of a skill.
    pub fn of(skill: &Skill) -> Self {
        let fields = &skill.fields;
        let read = |keys: &[(&'static str, Meaning)]| {
            let found = keys.iter().map(|(key, of)| (*key, of(fields)));
            found.filter_map(|(key, of)| Some((key, of?))).collect()
        };
        Self {
            allowed_tools: fields.allowed_tools(),
            disallowed_tools: fields.disallowed_tools(),
            is_unclear: fields.tools_are_ambiguous(),
            limits: read(&LIMITS),
            requests: read(&REQUESTS),
            priority: fields.priority(),
        }
    }

    /// The entries that the new version asks for or no longer denies, each with what is new about it,
    /// as `named` words them, which gets also those of the other version.
    pub fn wider(
        &self,
        new: &Self,
        named: impl Fn(ToolKey, Vec<String>, &[String]) -> Vec<String>,
    ) -> Vec<String> {
        let only = |of: &[String], others: &[String]| {
            let only = of.iter().filter(|entry| !others.contains(entry));
            only.cloned().collect::<Vec<_>>()
        };
        let mut wider = match (&self.allowed_tools, &new.allowed_tools) {
            (None, _) => Vec::new(),
            (Some(_), None) => vec!["every tool, as it no longer has allowed-tools".to_owned()],
            (Some(old), Some(new)) => named(ToolKey::Allowed, only(new, old), old),
        };
        let is_same = self.is_unclear && self.allowed_tools == new.allowed_tools;
        if new.is_unclear && self.allowed_tools.is_some() && !is_same {
            wider.push("every tool, if `tools` names none".to_owned());
        }
        let still = &new.disallowed_tools;
        let no_more = named(ToolKey::Denied, only(&self.disallowed_tools, still), still);
        wider.extend(
            no_more
                .iter()
                .map(|tool| format!("{tool}, which it denies now")),
        );
        wider
    }

    /// What else the new version could do more than this one. Whatever is not known to be the same
    /// or less counts.
    pub fn widened(&self, new: &Self) -> Vec<String> {
        let value = |of: &Self, key: &str| {
            let value = of.limits.get(key).or_else(|| of.requests.get(key));
            value.cloned()
        };
        let keys = self.limits.keys().chain(new.requests.keys());
        let values = keys.map(|key| (*key, value(self, key), value(new, key)));
        let mut wider: Vec<_> = values.filter(|(_, old, new)| old != new).collect();
        if new.priority > self.priority {
            let (old, new) = (self.priority.to_string(), new.priority.to_string());
            wider.push(("priority", Some(old), Some(new)));
        }
        let wider = wider.into_iter();
        let wider = wider.map(|(key, old, new)| match (old, new) {
            (Some(old), None) => format!("`{key}` is gone; it was {old}"),
            (Some(old), Some(new)) => format!("`{key}` is {new}, not {old}"),
            (None, new) => format!("`{key}` is new: {}", new.unwrap_or_default()),
        });
        wider.collect()
    }

    /// What it says about itself apart from its tools, for a person.
    pub fn remarks(&self) -> Vec<String> {
        let all = self.limits.iter().chain(&self.requests);
        let mut all: Vec<_> = all.map(|(key, value)| format!("{key}: {value}")).collect();
        if self.priority != 0 {
            all.push(format!("priority: {}", self.priority));
        }
        all
    }
}

fn written(fields: &Fields, key: &str) -> Option<String> {
    let value = fields.value(key).filter(|value| !value.is_null());
    value.map(ToString::to_string)
}

fn scope(fields: &Fields) -> Option<String> {
    let scope = match fields.scope() {
        Ok(scope) => scope,
        Err(why) => return Some(format!("{why}, so it is offered nowhere")),
    };
    let all = [
        ("agents", scope.agents),
        ("tenants", scope.tenants),
        ("environments", scope.environments),
    ];
    let some = all.into_iter().filter(|(_, names)| !names.is_empty());
    let shown: Vec<_> = some
        .map(|(key, names)| format!("{key} {}", names.join(" ")))
        .collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

#[cfg(test)]
mod tests;
