//! What the tool lists of a skill mean, in the host's names.

use std::path::Path;

use crate::marketplace::{Powers, ToolKey};
use crate::permission::{Restriction, Rule};
use crate::skill::shown_name;
use crate::sys::text::distinct;

/// What a skill may and what it must not use, in the host's names.
pub fn tools(name: &str, powers: &Powers) -> Vec<(&'static str, String)> {
    let nowhere = Path::new("");
    let (allowed, denied) = (powers.allowed_tools.as_deref(), &powers.disallowed_tools);
    let read = Restriction::parse(name, allowed, denied, nowhere, nowhere);
    let mut may_use = match read.allowed().map(named) {
        None if allowed.is_none() => "every tool, as it has no allowed-tools".to_owned(),
        None => "every tool, as its allowed-tools has `*`".to_owned(),
        Some(tools) if tools.is_empty() => "only what is always allowed".to_owned(),
        Some(tools) => tools,
    };
    if powers.is_unclear {
        may_use += "; or every tool, if its `tools` names none";
    }
    let mut rows = vec![("may use", may_use), ("never", named(&read.denied))];
    rows.retain(|(_, tools)| !tools.is_empty());
    rows
}

/// The tools that a new version asks for or no longer denies, in the host's names. What means nothing
/// new there stays as its author wrote it.
pub fn newly_usable((old, new): &(Powers, Powers)) -> Vec<String> {
    old.wider(new, |key, entries, others| {
        let known = host_names(key, others);
        let mut names = host_names(key, &entries);
        names.retain(|name| !known.contains(name));
        if names.is_empty() { entries } else { names }
    })
}

fn host_names(key: ToolKey, entries: &[String]) -> Vec<String> {
    let nowhere = Path::new("");
    let (allowed, denied) = match key {
        ToolKey::Allowed => (Some(entries), &[][..]),
        ToolKey::Denied => (None, entries),
    };
    let read = Restriction::parse("", allowed, denied, nowhere, nowhere);
    if allowed.is_some() && read.allowed().is_none() {
        return vec!["every tool".to_owned()];
    }
    distinct(read.rules().flat_map(Rule::host_names))
}

/// All tools that these rules cover.
fn named(rules: &[Rule]) -> String {
    let names = rules.iter().flat_map(Rule::host_names);
    let names = distinct(names.map(|name| shown_name(&name)));
    names.join(", ")
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
            let found = newly_usable(&(powers(old), powers(new)));
            assert_eq!(found, [expected], "{old} > {new}");
        }
    }
}
