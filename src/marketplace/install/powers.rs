//! What a skill may do, and who may call it, as far as its frontmatter decides; and whether a new
//! version could do more.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::skill::{Fields, Skill, ToolList};

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
            allowed_tools: match fields.allowed_tools() {
                ToolList::Listed(entries) => Some(entries),
                ToolList::Absent | ToolList::Null => None,
            },
            disallowed_tools: fields.disallowed_tools(),
            is_unclear: fields.tools_are_ambiguous(),
            limits: read(&LIMITS),
            requests: read(&REQUESTS),
            priority: fields.priority(),
        }
    }

    /// The tools that the new version asks for or no longer denies, each with what is new about it.
    pub fn new_tools(&self, new: &Self) -> Vec<String> {
        let mut wider = match (&self.allowed_tools, &new.allowed_tools) {
            (None, _) => Vec::new(),
            (Some(_), None) => vec!["every tool, as it has no allowed-tools any more".to_owned()],
            (Some(old), Some(new)) => {
                let wider = new.iter().filter(|tool| !old.contains(tool));
                wider.cloned().collect()
            }
        };
        let is_same = self.is_unclear && self.allowed_tools == new.allowed_tools;
        if new.is_unclear && self.allowed_tools.is_some() && !is_same {
            wider.push("every tool, if `tools` names none".to_owned());
        }
        let denied = self.disallowed_tools.iter();
        let no_more = denied.filter(|tool| !new.disallowed_tools.contains(tool));
        wider.extend(no_more.map(|tool| format!("{tool}, which it denies now")));
        wider
    }

    /// What else the new version could do more than this one. Whatever is not known to be the same
    /// or less counts.
    pub fn widened(&self, new: &Self) -> Vec<String> {
        let value = |of: &Self, key: &str| {
            let value = of.limits.get(key).or_else(|| of.requests.get(key));
            value.map_or_else(|| "nothing".to_owned(), String::clone)
        };
        let keys = self.limits.keys().chain(new.requests.keys());
        let values = keys.map(|key| (*key, value(self, key), value(new, key)));
        let mut wider: Vec<_> = values.filter(|(_, old, new)| old != new).collect();
        if new.priority > self.priority {
            let (old, new) = (self.priority.to_string(), new.priority.to_string());
            wider.push(("priority", old, new));
        }
        let wider = wider.into_iter();
        let wider = wider.map(|(key, old, new)| format!("`{key}` is {new}, not {old}"));
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
    let scope = fields.scope();
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
mod tests {
    use super::*;
    use crate::marketplace::testing::everything;
    use crate::skill::FIELDS;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    /// The keys that decide nothing: they describe the skill to a reader.
    const DESCRIBE: [&str; 15] = [
        "name",
        "description",
        "license",
        "compatibility",
        "metadata",
        "argumenthint",
        "arguments",
        "model",
        "agent",
        "version",
        "whentouse",
        "tags",
        "effort",
        "paths",
        "<<",
    ];
    const TOOLS: [&str; 3] = ["allowedtools", "tools", "disallowedtools"];

    fn powers(yaml: &str) -> Powers {
        let text = format!("---\nname: x\n{yaml}\n---\nb\n");
        let dir = Path::new("/x");
        Powers::of(&Skill::parse(dir, dir.join("SKILL.md"), text.as_bytes()).unwrap())
    }

    fn more(old: &str, new: &str) -> Vec<String> {
        let (old, new) = (powers(old), powers(new));
        let mut wider = old.new_tools(&new);
        wider.extend(old.widened(&new));
        wider
    }

    fn each_is_named(table: &[(&str, &str, &str)]) {
        for (narrow, wide, named) in table {
            let found = more(narrow, wide);
            assert!(
                found.iter().any(|one| one.contains(named)),
                "{narrow} > {wide}: {found:?}"
            );
            for same in [narrow, wide] {
                assert_eq!(more(same, same), [""; 0], "{same}");
            }
        }
    }

    #[test]
    fn tools_that_were_not_permitted_are_named() {
        each_is_named(&[
            ("allowed-tools: Read", "", "every tool"),
            ("allowed-tools: Read", "allowed-tools:", "every tool"),
            (
                "allowed-tools: Read",
                "allowed-tools: Read, Bash",
                "Read, Bash",
            ),
            (
                "allowed-tools: Read",
                "tools: codex",
                "every tool, if `tools`",
            ),
            (
                "tools: [Read, codex]",
                "tools: codex",
                "every tool, if `tools`",
            ),
            (
                "allowed-tools: Read",
                "tools: Read",
                "every tool, if `tools`",
            ),
            ("disallowed-tools: Bash", "", "Bash, which it denies now"),
            (
                "disallowed-tools: Bash",
                "disallowed-tools: Bash(rm:*)",
                "Bash, which",
            ),
            (
                "disallowed-tools: {Bash: true}",
                "disallowed-tools: {Bash: false}",
                "Bash, which",
            ),
        ]);
    }

    #[test]
    fn what_could_do_more_is_named() {
        each_is_named(&[
            (
                "execution: {sandbox: true}",
                "",
                "`execution` is nothing, not {\"sandbox\":true}",
            ),
            (
                "execution: {sandbox: true}",
                "Execution: {sandbox: true}",
                "`execution` is nothing",
            ),
            (
                "execution: {sandbox: true, network: restricted}",
                "execution: {sandbox: true}",
                "`execution`",
            ),
            (
                "execution: {sandbox: true}",
                "execution: {sandbox: true, allowed-paths: ['~']}",
                "[\"~\"]",
            ),
            (
                "disable-model-invocation: true",
                "",
                "`disable-model-invocation` is nothing",
            ),
            (
                "disable_model_invocation: yes",
                "disable-model-invocation: maybe",
                "is nothing",
            ),
            (
                "user-invocable: false",
                "user-invocable: true",
                "`user-invocable`",
            ),
            (
                "scope: {agents: [ops]}",
                "",
                "`scope` is nothing, not agents ops",
            ),
            (
                "scope: {agents: [ops]}",
                "scope: {agents: ['*']}",
                "`scope` is agents *",
            ),
            (
                "context: fork",
                "context: inline",
                "`context` is nothing, not fork",
            ),
            (
                "",
                "hooks: {pre: run.sh}",
                "`hooks` is {\"pre\":\"run.sh\"}",
            ),
            ("hooks: {pre: a.sh}", "hooks: {pre: b.sh}", "b.sh"),
            ("", "requires: other", "`requires` is \"other\""),
            ("", "priority: 10", "`priority` is 10, not 0"),
            ("priority: -2", "", "`priority` is 0, not -2"),
        ]);
    }

    #[test]
    fn what_could_do_less_is_no_matter() {
        for (wide, narrow) in [
            ("", "allowed-tools: Read"),
            ("allowed-tools: [Read, Bash]", "allowed-tools: [Read]"),
            ("", "disallowed-tools: Bash"),
            ("", "execution: {sandbox: true}"),
            ("", "disable-model-invocation: true"),
            ("", "scope: {agents: [ops]}"),
            ("", "context: fork"),
            ("hooks: {pre: run.sh}", ""),
            ("priority: 10", "priority: 9"),
            ("scope: project\ncontext: a", "scope: x\ncontext: b"),
            ("version: 1\nauthor: a", "version: 2\nlicense: MIT"),
            ("user-invocable: true", ""),
        ] {
            assert_eq!(more(wide, narrow), [""; 0], "{wide} > {narrow}");
        }
    }

    /// A new key is read from the frontmatter by one of these calls, or is in the table of fields.
    #[test]
    fn every_key_is_a_power_or_a_description() {
        const CALLS: [&str; 9] = [
            "fields.value(\"",
            "fields.text(\"",
            "self.value(\"",
            "self.text(\"",
            "spelled(\"",
            "flag(\"",
            "folds_to(key,\"",
            "folded=[\"",
            "keys=[\"",
        ];
        let folded = |key: &str| key.replace(['-', '_'], "").to_lowercase();
        let quoted = |text: &str| text.split('"').next().map(folded);
        let decide = LIMITS.iter().chain(&REQUESTS).map(|(key, _)| folded(key));
        let known = [&DESCRIBE[..], &TOOLS, &["priority"]].concat();
        let known: BTreeSet<String> = known.into_iter().map(str::to_owned).chain(decide).collect();
        let mut found = BTreeSet::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for path in everything(&root) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let mut source = text;
            source.retain(|c| !c.is_whitespace());
            let source = source.split("#[cfg(test)]").next().unwrap_or_default();
            // Elsewhere, the other calls read other things.
            let of_skill = path.starts_with(root.join("skill"));
            for call in &CALLS[..if of_skill { CALLS.len() } else { 2 }] {
                found.extend(source.split(*call).skip(1).filter_map(quoted));
            }
        }
        found.extend(FIELDS.iter().map(|field| folded(field.key)));
        assert!(found.len() > 20, "{found:?}");
        let unknown: Vec<_> = found.difference(&known).collect();
        assert!(unknown.is_empty(), "classify them: {unknown:?}");
    }
}
