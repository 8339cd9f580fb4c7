//! Diagnostics on a skill that is installed: those of its format, and why it is not found, not read, not
//! offered or not all of it told.

use skill_format::{Diagnostic as Format, variant_code};

use super::{Level, rules};

/// One diagnostic. Its text is one sentence for a person: what is wrong, why, and what to do. The
/// name of its variant is its code, which is stable across releases; [`rules`] has its level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(test, derive(serde::Deserialize))]
#[cfg_attr(
    test,
    serde(tag = "code", content = "fields", rename_all = "kebab-case")
)]
pub enum Diagnostic {
    /// The directory.
    #[error("`{0}` has no SKILL.md")]
    NoSkillFile(String),
    /// The path, and why.
    #[error("could not read `{0}`: {1}")]
    Unreadable(String, String),
    /// The file.
    #[error("`{0}` changed just now: call again")]
    Changed(String),
    /// The names.
    #[error("it requires skills that are not installed or not offered: {0}")]
    RequiresMissing(String),
    /// The names, in order.
    #[error("its requirements are circular: {0}")]
    RequiresCircle(String),
    /// The number of skills, and how many can be active.
    #[error(
        "it and the skills that it requires are {0}, and at most {1} can be active (`max_active`)"
    )]
    RequiresTooMany(usize, usize),
    /// The directory of the other skill.
    #[error("`{0}` has a skill of the same name and is offered instead: rename or remove one")]
    DuplicateName(String),
    /// The directory of the other skill, the reason, and the qualified name of this one.
    #[error("the skill of the same name in `{0}` is used instead, because {1}: this one is `{2}`")]
    Shadowed(String, String, String),
    /// The directory of the administrator's skill.
    #[error(
        "`{0}` is the administrator's skill of this name, and no other can be used in its place"
    )]
    HiddenEnterprise(String),
    /// Why it is not trusted, and the directory to trust.
    #[error("{0}: look at it, then run `agent-skills trust {1}`")]
    HiddenUntrusted(String, String),
    /// What the policy says.
    #[error("{0}")]
    HiddenPolicy(String),
    /// What needs an approval, and the skill.
    #[error("{0}: look at it, then run `agent-skills approve {1}`")]
    HiddenUnapproved(String, String),
    /// What is required of its signature, and what is wrong.
    #[error("{0}")]
    HiddenUnsigned(String),
    /// What its author names, and what this is.
    #[error("its scope {0}")]
    HiddenScope(String),
    /// The context.
    #[error("the configuration's `catalog` leaves it out of the context `{0}`")]
    HiddenCatalog(String),
    /// The skill.
    #[error("it is switched off: `agent-skills enable {0}` switches it on")]
    HiddenOff(String),
    /// Who keeps it from the model.
    #[error("{0}")]
    HiddenFromModel(String),
    /// The error.
    #[error("the configuration cannot be read, so no skill is offered: {0}")]
    HiddenConfiguration(String),
    /// The prompt has room for a part of it.
    #[error("{}", no_room("the beginning of its description"))]
    DescriptionShortened,
    /// The prompt has room for its name.
    #[error("{}", no_room("its name"))]
    DescriptionOmitted,
    /// The prompt has no room.
    #[error("{}", no_room("nothing, but it finds it by searching"))]
    NameOmitted,
    /// Its files are not those installed.
    #[error("its files have changed since it was installed: `agent-skills verify` names them")]
    ChangedSince,
    /// What its author wrote.
    #[error("{_0}{}", rules::in_this_program(&_0.code()))]
    #[cfg_attr(test, serde(skip))]
    Format(#[from] Format),
}

impl Diagnostic {
    /// Its code: lowercase, hyphenated.
    pub fn code(&self) -> String {
        if let Self::Format(found) = self {
            return found.code();
        }
        variant_code(self)
    }

    /// In a few words, why the skill is not offered; `None` if this is no reason for that.
    pub fn in_short(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoSkillFile(_) => "no SKILL.md",
            Self::Unreadable(..) => "unreadable",
            Self::Changed(_) => "just changing",
            Self::Format(Format::NameUnusable(_)) => "no name",
            Self::Format(Format::DescriptionMissing) => "no description",
            Self::DuplicateName(_) => "name taken",
            Self::Shadowed(..) => "replaced",
            Self::HiddenEnterprise(_) => "name is reserved",
            Self::HiddenUntrusted(..) => "not trusted",
            Self::HiddenPolicy(_) => "by policy",
            Self::HiddenUnapproved(..) => "not approved",
            Self::HiddenUnsigned(_) => "not signed",
            Self::HiddenScope(..) => "out of scope",
            Self::HiddenCatalog(_) => "other context",
            Self::HiddenOff(_) => "switched off",
            Self::HiddenFromModel(_) => "for people only",
            Self::HiddenConfiguration(_) => "bad configuration",
            _ => return None,
        })
    }

    /// Its severity.
    pub fn level(&self) -> Level {
        rules::level(&self.code())
    }
}

fn no_room(told: &str) -> String {
    format!(
        "the prompt has no room for it, so the model is told {told}: shorten descriptions, or \
         disable skills"
    )
}
