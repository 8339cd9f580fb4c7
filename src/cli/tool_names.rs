//! What the tool lists of a skill mean, in names that their reader knows.

use std::path::Path;

use super::agents;
use crate::facts::Facts;
use crate::marketplace::{Powers, ToolKey};
use crate::permission::{Restriction, Rule};
use crate::skill::shown_name;
use crate::sys::text::distinct;

/// Whose names for tools their reader knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolNames {
    /// Those of chibi's tools.
    Chibi,
    /// Those that the skill wrote: each other agent has its own, and takes these.
    Written,
}

impl ToolNames {
    /// Those for whoever uses this machine.
    pub fn of(facts: &Facts) -> Self {
        if agents::has_chibi(&facts.run) {
            Self::Chibi
        } else {
            Self::Written
        }
    }

    /// The tools that a rule grants.
    fn of_rule(self, rule: &Rule) -> Vec<String> {
        match self {
            Self::Chibi => rule.host_names(),
            Self::Written => rule.written_names(),
        }
    }

    /// All tools that these rules cover.
    fn of_rules(self, rules: &[Rule]) -> String {
        let all = rules.iter().flat_map(|rule| self.of_rule(rule));
        let all = distinct(all.map(|name| shown_name(&name)));
        all.join(", ")
    }

    /// The tools that these entries cover.
    fn of_entries(self, key: ToolKey, entries: &[String]) -> Vec<String> {
        let nowhere = Path::new("");
        let (allowed, denied) = match key {
            ToolKey::Allowed => (Some(entries), &[][..]),
            ToolKey::Denied => (None, entries),
        };
        let read = Restriction::parse("", allowed, denied, nowhere, nowhere);
        if allowed.is_some() && read.allowed().is_none() {
            return vec!["every tool".to_owned()];
        }
        distinct(read.rules().flat_map(|rule| self.of_rule(rule)))
    }
}

/// What a skill may and what it must not use, in these names.
pub fn tools(name: &str, powers: &Powers, names: ToolNames) -> Vec<(&'static str, String)> {
    let nowhere = Path::new("");
    let (allowed, denied) = (powers.allowed_tools.as_deref(), &powers.disallowed_tools);
    let read = Restriction::parse(name, allowed, denied, nowhere, nowhere);
    let mut may_use = match read.allowed().map(|rules| names.of_rules(rules)) {
        None if allowed.is_none() => "every tool, as it has no allowed-tools".to_owned(),
        None => "every tool, as its allowed-tools has `*`".to_owned(),
        Some(tools) if tools.is_empty() => "only what is always allowed".to_owned(),
        Some(tools) => tools,
    };
    if powers.is_unclear {
        may_use += "; or every tool, if its `tools` names none";
    }
    let mut rows = vec![
        ("may use", may_use),
        ("never", names.of_rules(&read.denied)),
    ];
    rows.retain(|(_, tools)| !tools.is_empty());
    rows
}

/// The tools that a new version asks for or no longer denies, in these names. What means nothing new
/// there stays as its author wrote it.
pub fn newly_usable((old, new): &(Powers, Powers), names: ToolNames) -> Vec<String> {
    old.wider(new, |key, entries, others| {
        let known = names.of_entries(key, others);
        let mut more = names.of_entries(key, &entries);
        more.retain(|name| !known.contains(name));
        if more.is_empty() { entries } else { more }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::Skill;

    #[test]
    fn what_a_new_version_may_use_is_named_as_the_host_does() {
        for (old, new, expected) in [
            (
                "allowed-tools: Read",
                "allowed-tools: Read Bash",
                "shell_exec",
            ),
            (
                "allowed-tools: Bash(git:*)",
                "allowed-tools: Bash(git:*), Bash(rm:*)",
                "shell_exec(rm:*)",
            ),
            ("allowed-tools: Read", "allowed-tools: '*'", "every tool"),
            (
                "allowed-tools: Read",
                "allowed-tools: [Read, 'Task()']",
                "Task()",
            ),
            (
                "disallowed-tools: WebSearch, Bash",
                "disallowed-tools: Bash",
                "web_search, which it denies now",
            ),
        ] {
            let powers = |frontmatter| {
                let text = format!("---\nname: x\n{frontmatter}\n---\nb\n");
                let file = Path::new("/x/SKILL.md").to_owned();
                Powers::of(&Skill::parse(Path::new("/x"), file, text.as_bytes()).unwrap())
            };
            let versions = (powers(old), powers(new));
            let found = newly_usable(&versions, ToolNames::Chibi);
            assert_eq!(found, [expected], "{old} > {new}");
        }
    }
    #[test]
    fn without_chibi_tools_are_named_as_the_skill_wrote_them() {
        for (frontmatter, expected) in [
            ("allowed-tools: Read Bash(git:*)", "Read, Bash(git:*)"),
            ("allowed-tools: [TodoWrite, 'Task()']", "TodoWrite"),
            ("allowed-tools: []", "only what is always allowed"),
        ] {
            let text = format!("---\nname: x\n{frontmatter}\n---\nb\n");
            let file = Path::new("/x/SKILL.md").to_owned();
            let skill = Skill::parse(Path::new("/x"), file, text.as_bytes()).unwrap();
            let rows = tools("x", &Powers::of(&skill), ToolNames::Written);
            assert_eq!(rows, [("may use", expected.to_owned())]);
        }
    }
}
