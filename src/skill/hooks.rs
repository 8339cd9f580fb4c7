//! A skill's own scripts around its activation: `hooks: {pre: …, post: …}`. Under the same key,
//! other clients have a map of events to shell commands, which is recognised and never run by chibi
//! (docs/spec/skills.md#fields). Whether and how the scripts run is decided elsewhere.

use serde_json::Value;

use super::diagnostic::HOOK_SCRIPTS;
use super::{Diagnostic, Fields, one_line};

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
    pub fn diagnostics(fields: &Fields) -> Vec<Diagnostic> {
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
    use crate::skill::mapping;
    use proptest::prelude::*;

    fn fields(yaml: &str) -> Fields {
        Fields(mapping::read(yaml).values)
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
