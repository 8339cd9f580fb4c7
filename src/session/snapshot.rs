//! A skill in the form in which the session records it.

use super::{ActiveSkill, Standing};
use crate::host::alias::{self, Capability};
use crate::host::{ours, tools};
use crate::skill::Skill;

/// The snapshot of a skill that becomes active.
pub fn snapshot(skill: &Skill, tool: &str) -> ActiveSkill {
    let allowed = skill.fields.allowed_tools();
    ActiveSkill {
        name: skill.name.to_string(),
        tool: tool.to_owned(),
        dir: skill.dir.display().to_string(),
        digest: skill.digest.clone(),
        // Some authors list clients under `tools`, so a list that names no tool is not a
        // restriction.
        allowed: allowed
            .filter(|entries| !skill.fields.tools_are_ambiguous() || names_a_tool(entries)),
        denied: skill.fields.disallowed_tools(),
        standing: Standing::Active,
        handed: None,
        arguments: None,
    }
}

fn names_a_tool(entries: &[String]) -> bool {
    let words = entries
        .iter()
        .flat_map(|entry| entry.split([' ', ',', '(', '\n']));
    words.into_iter().any(|word| {
        Capability::named(word).is_some()
            || tools::find(word).is_some()
            || alias::programs(word).is_some()
            || ours::FIXED.contains(&word)
            || word.starts_with("skill_")
            || word.starts_with("mcp__")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_clients_names_no_tool() {
        let own = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        assert!(!names_a_tool(&own(&["claude-code", "codex"])));
        assert!(names_a_tool(&own(&["claude-code", "Bash(git:*)"])));
    }
}
