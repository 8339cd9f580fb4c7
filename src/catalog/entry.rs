//! One directory that should contain a skill, its standing, and the name of its tool: `skill_<name>`,
//! adapted to what model providers accept.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::roots::{Layer, Root};
use crate::run_context::RunContext;
use crate::skill::{Diagnostic, Level, Skill, SkillName};

/// What providers accept: `^[A-Za-z0-9_-]{1,64}$` (docs/spec/skills.md#tool-names-of-skills).
const MAX: usize = 64;

/// What follows `skill_` in tools of our own, present or future.
const TAKEN: [&str; 2] = ["marketplace", "session"];

/// One directory that should contain a skill.
#[derive(Debug)]
pub struct Entry {
    /// The directory.
    pub dir: PathBuf,
    /// The layer it belongs to.
    pub layer: Layer,
    /// The skill, or why it could not be loaded. Other modules use [`Entry::disclosed`],
    /// [`Entry::offered`] and [`Entry::usable`].
    pub(super) skill: Result<Skill, Diagnostic>,
    /// The tool that activates it; `None` if it is not offered.
    pub tool: Option<String>,
    /// Its standing.
    pub eligibility: Eligibility,
    /// Whether it is one that a policy requires; then nothing in a configuration hides it.
    pub is_required: bool,
    /// The account it was installed from, if known.
    pub(super) owner: Option<String>,
    /// The index of its root in the list of roots.
    pub(super) root: usize,
}

/// The standing of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Eligibility {
    /// The model is told about it, with its description unless `name_only`.
    Offered {
        /// Whether the description is withheld.
        name_only: bool,
    },
    /// The model is not told about it, for this reason.
    Withheld(WithheldReason, Diagnostic),
    /// It could not be loaded, or has no description.
    Unusable,
}

/// Why a skill is not offered, which decides what may still be done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithheldReason {
    /// Another skill of this name is offered; this one can be used by a qualified name.
    Shadowed,
    /// A person may call it; it keeps its name.
    ForPeople,
    /// Nobody may use it. It keeps its name, and hides skills of lower precedence.
    Hidden,
    /// Nobody may use it: another skill of its name may be offered.
    Excluded,
    /// As [`WithheldReason::Excluded`], until an administrator approves it.
    Unapproved,
    /// As [`WithheldReason::Excluded`], until it is signed as is required.
    Unsigned,
    /// As [`WithheldReason::Excluded`]; this context does not even learn of it.
    OtherContext,
    /// It belongs to an untrusted project. Nothing in it may be shown, not even a parser's message.
    Untrusted,
    /// As [`WithheldReason::Untrusted`]: a policy forbids skills from projects.
    Forbidden,
}

/// A skill as disclosed to the model.
#[derive(Debug, Clone, Copy)]
pub struct OfferedSkill<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// Its tool.
    pub tool: &'a str,
    /// Its description, unless withheld; unescaped.
    pub description: &'a str,
    /// Whether a policy requires it.
    pub is_required: bool,
}

impl OfferedSkill<'_> {
    /// What its author wrote to help choose it, unescaped; empty if withheld.
    pub fn told(&self) -> String {
        if self.description.is_empty() {
            return String::new();
        }
        let mut told = vec![self.description.to_owned()];
        told.extend(self.skill.fields.when_to_use());
        let tags = self.tags().join(", ");
        if !tags.is_empty() {
            told.push(format!("[{tags}]"));
        }
        told.join(" ")
    }

    /// Its tags, unless they are withheld with its description.
    pub fn tags(&self) -> Vec<String> {
        match self.description {
            "" => Vec::new(),
            _ => self.skill.fields.tags(),
        }
    }
}

impl Entry {
    /// What is in `dir`, in the root `at` this place; its standing is decided later.
    pub(super) fn new(
        at: usize,
        root: &Root,
        dir: PathBuf,
        skill: Result<Skill, Diagnostic>,
    ) -> Self {
        Self {
            dir,
            layer: root.layer,
            skill,
            tool: None,
            eligibility: Eligibility::Unusable,
            is_required: false,
            owner: None,
            root: at,
        }
    }

    /// The skill's name, or its directory's if the skill could not be loaded.
    pub fn name(&self) -> String {
        let directory = self.dir.file_name().unwrap_or_default();
        match &self.skill {
            Ok(skill) => skill.name.to_string(),
            Err(_) => directory.to_string_lossy().into_owned(),
        }
    }

    /// Its name with its layer, which means no namesake in another.
    pub fn in_layer(&self) -> String {
        format!("{}/{}", self.layer, self.name())
    }

    /// The directory whose trust covers it.
    pub fn holder(&self) -> &Path {
        let root = self.dir.parent();
        root.map_or(self.dir.as_path(), RunContext::holder_of)
    }

    /// The skill, if the model is told about it.
    pub fn offered(&self) -> Option<OfferedSkill<'_>> {
        let skill = self.skill.as_ref().ok()?;
        let description = match self.eligibility {
            Eligibility::Offered { name_only: false } => skill.description.as_deref(),
            _ => None,
        };
        Some(OfferedSkill {
            skill,
            tool: self.tool.as_deref()?,
            description: description.unwrap_or_default(),
            is_required: self.is_required,
        })
    }

    /// The skill, if it is shadowed: it can be used by its qualified name.
    pub fn shadowed(&self) -> Option<&Skill> {
        let is_shadowed = self.withheld() == Some(WithheldReason::Shadowed);
        self.skill.as_ref().ok().filter(|_| is_shadowed)
    }

    /// The skill, if a person may call it: an offered one, one withheld only from the model, or a
    /// shadowed one by its qualified name. Its author can forbid this.
    pub fn callable(&self) -> Option<&Skill> {
        self.usable().filter(|skill| skill.fields.user_invocable())
    }

    /// The skill, if it may stay active once activated.
    pub fn usable(&self) -> Option<&Skill> {
        match self.eligibility {
            Eligibility::Offered { .. }
            | Eligibility::Withheld(WithheldReason::Shadowed | WithheldReason::ForPeople, _) => {
                self.skill.as_ref().ok()
            }
            Eligibility::Withheld(..) | Eligibility::Unusable => None,
        }
    }

    /// The names by which this skill and certainly no other is found.
    pub fn names(&self) -> Vec<String> {
        let Ok(skill) = &self.skill else {
            return Vec::new();
        };
        let name = &skill.name;
        let of_all = [
            name.to_string(),
            tool_name(name),
            format!("{}/{name}", self.layer),
        ];
        let owner = self.owner.iter();
        let of_owner =
            owner.flat_map(|owner| [format!("{owner}/{name}"), format!("{name}@{owner}")]);
        of_all.into_iter().chain(of_owner).collect()
    }

    /// Why the rules withhold it from the model, if they do.
    pub fn withheld(&self) -> Option<WithheldReason> {
        match self.eligibility {
            Eligibility::Withheld(why, _) => Some(why),
            Eligibility::Offered { .. } | Eligibility::Unusable => None,
        }
    }

    /// Whether nothing in it may be shown, because a project that is not trusted wrote it.
    pub fn is_concealed(&self) -> bool {
        matches!(
            self.withheld(),
            Some(WithheldReason::Untrusted | WithheldReason::Forbidden)
        )
    }

    /// Whether a model may know of it: its content may be shown, and the context sees it (`catalog`
    /// in the configuration).
    pub fn is_for_models(&self) -> bool {
        !self.is_concealed() && self.withheld() != Some(WithheldReason::OtherContext)
    }

    /// The skill, if its text may be shown: text from an untrusted project never is.
    pub fn disclosed(&self) -> Option<&Skill> {
        self.skill.as_ref().ok().filter(|_| !self.is_concealed())
    }

    /// All diagnostics about it.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = match &self.skill {
            _ if self.is_concealed() => Vec::new(),
            Ok(skill) => skill.diagnostics().collect(),
            Err(diagnostic) => vec![diagnostic.clone()],
        };
        if let Eligibility::Withheld(_, why) = &self.eligibility {
            found.push(why.clone());
        }
        found
    }

    /// Why it is not offered.
    pub fn not_offered(&self) -> Option<Diagnostic> {
        match &self.eligibility {
            Eligibility::Offered { .. } => None,
            Eligibility::Withheld(_, why) => Some(why.clone()),
            Eligibility::Unusable => {
                let mut errors = self.diagnostics();
                errors.retain(|found| found.level() == Level::Error);
                errors.pop()
            }
        }
    }

    /// The same as a sentence fragment.
    pub fn reason_not_offered(&self) -> Option<String> {
        self.not_offered().map(|why| why.to_string())
    }
}

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
