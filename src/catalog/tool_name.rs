//! The name of a skill's tool: `skill_<name>`, adapted to what model providers accept.

use sha2::{Digest, Sha256};

use crate::skill::SkillName;

/// What providers accept: `^[A-Za-z0-9_-]{1,64}$` (docs/spec/skills.md#tool-names-of-skills).
const MAX: usize = 64;

/// What follows `skill_` in tools of our own, present or future.
const TAKEN: [&str; 2] = ["marketplace", "session"];

/// The tool name of a skill. It depends only on the skill's name, so that installing another skill
/// never changes it. Names that do not fit are altered and end in `_` and a hash; no other tool
/// name does, because skill names have no underscore.
pub fn tool_name(name: &SkillName) -> String {
    let fits = name.as_str().is_ascii() && "skill_".len() + name.as_str().len() <= MAX;
    if fits && !TAKEN.contains(&name.as_str()) {
        return format!("skill_{name}");
    }
    let hash = format!("{:x}", Sha256::digest(name.as_str()));
    let hash = &hash[..10];
    let ascii = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let room = MAX - "skill__".len() - hash.len();
    let shortened: String = name.as_str().chars().map(ascii).take(room).collect();
    match shortened.trim_matches('-') {
        "" => format!("skill_{hash}"),
        plain => format!("skill_{plain}_{hash}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tool(name: &str) -> String {
        tool_name(&SkillName::from_written(name).unwrap())
    }

    #[test]
    fn plain_names_are_prefixed_and_nothing_else() {
        assert_eq!(tool("pdf"), "skill_pdf");
        assert_eq!(tool(&"a".repeat(58)), format!("skill_{}", "a".repeat(58)));
    }

    #[test]
    fn names_that_do_not_fit_get_a_stable_hash() {
        assert_eq!(tool("marketplace"), "skill_marketplace_dfd76b3ecb");
        for name in [&"a".repeat(59), "技能", "мой-навык", "café", "session"] {
            let tool_name = tool(name);
            assert!(tool_name.len() <= 64 && tool_name.is_ascii(), "{tool_name}");
            assert_eq!(tool_name, tool(name));
        }
        assert_ne!(tool(&"a".repeat(59)), tool(&"a".repeat(60)));
        assert_ne!(tool("技能"), tool("技"));
    }

    proptest! {
        #[test]
        fn every_name_is_one_providers_accept(written in any::<String>()) {
            if let Some(name) = SkillName::from_written(&written) {
                let tool = tool_name(&name);
                let accepted = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                prop_assert!(tool.len() <= 64 && tool.chars().all(accepted), "{}", tool);
            }
        }
    }
}
