//! One directory that should contain a skill, and its standing.

use std::path::PathBuf;

use super::Layer;
use crate::skill::{Diagnostic, Level, Skill};

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
    pub standing: Standing,
    /// The account it was installed from, if known.
    pub(super) owner: Option<String>,
    /// The index of its root in the list of roots.
    pub(super) root: usize,
}

/// Whether a skill may be used, and by whom, as decided by the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// The model is told about it.
    Shown,
    /// The model is told that it exists, without its description.
    NameOnly,
    /// The model is not told about it, but a person may call it; it keeps its name.
    ForPeople(Diagnostic),
    /// Nobody may use it. It keeps its name, and hides skills of lower precedence.
    Hidden(Diagnostic),
    /// Treated as absent: another skill of its name may be offered.
    Excluded(Diagnostic),
}

/// The standing of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The model is told about it, with its description unless `name_only`.
    Offered {
        /// Whether the description is withheld.
        name_only: bool,
    },
    /// Another skill of this name is offered; this one can be used by a qualified name.
    Shadowed(Diagnostic),
    /// The model is not told about it, but a person may call it.
    ForPeople(Diagnostic),
    /// It exists but may not be used.
    Hidden(Diagnostic),
    /// It belongs to an untrusted project. Nothing in it may be shown, not even a parser's message.
    Untrusted(Diagnostic),
    /// It could not be loaded, or has no description.
    Unusable,
}

/// A skill as disclosed to the model.
#[derive(Debug, Clone, Copy)]
pub struct Offered<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// Its tool.
    pub tool: &'a str,
    /// Its description, unless withheld; unescaped.
    pub description: &'a str,
}

impl Offered<'_> {
    /// What its author wrote to help choose it, unescaped; empty if withheld.
    pub fn told(&self) -> String {
        let mut told = self.description.to_owned();
        if !told.is_empty() {
            let when = self.skill.fields.when_to_use();
            let tags = self.tags();
            let tags = (!tags.is_empty()).then(|| format!("[{}]", tags.join(", ")));
            for more in [when, tags].into_iter().flatten() {
                told.push(' ');
                told.push_str(&more);
            }
        }
        told
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
    /// The skill's name, or its directory's if the skill could not be loaded.
    pub fn name(&self) -> String {
        match &self.skill {
            Ok(skill) => skill.name.to_string(),
            Err(_) => self
                .dir
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        }
    }

    /// The skill, if the model is told about it.
    pub fn offered(&self) -> Option<Offered<'_>> {
        let skill = self.skill.as_ref().ok()?;
        let description = match self.standing {
            Standing::Offered { name_only: false } => skill.description.as_deref(),
            _ => None,
        };
        Some(Offered {
            skill,
            tool: self.tool.as_deref()?,
            description: description.unwrap_or_default(),
        })
    }

    /// The skill, if it is shadowed: it can be used by its qualified name.
    pub fn shadowed(&self) -> Option<&Skill> {
        match self.standing {
            Standing::Shadowed(_) => self.skill.as_ref().ok(),
            _ => None,
        }
    }

    /// The skill, if a person may call it: an offered one, one withheld only from the model, or a
    /// shadowed one by its qualified name. Its author can forbid this.
    pub fn callable(&self) -> Option<&Skill> {
        let skill = match self.standing {
            Standing::Offered { .. } | Standing::Shadowed(_) | Standing::ForPeople(_) => {
                self.skill.as_ref().ok()?
            }
            Standing::Hidden(_) | Standing::Untrusted(_) | Standing::Unusable => return None,
        };
        skill.fields.user_invocable().then_some(skill)
    }

    /// The skill, if it may stay active once activated.
    pub fn usable(&self) -> Option<&Skill> {
        match self.standing {
            Standing::Offered { .. } | Standing::Shadowed(_) | Standing::ForPeople(_) => {
                self.skill.as_ref().ok()
            }
            Standing::Hidden(_) | Standing::Untrusted(_) | Standing::Unusable => None,
        }
    }

    /// Whether a model may know of it: its content may be shown, and the context sees it (`catalog`
    /// in the configuration).
    pub fn is_for_models(&self) -> bool {
        match &self.standing {
            Standing::Hidden(why) => why.code != "hidden-catalog",
            Standing::Untrusted(_) => false,
            _ => true,
        }
    }

    /// The skill, if its text may be shown: text from an untrusted project never is.
    pub fn disclosed(&self) -> Option<&Skill> {
        match self.standing {
            Standing::Untrusted(_) => None,
            _ => self.skill.as_ref().ok(),
        }
    }

    /// All diagnostics about it.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        if let Standing::Untrusted(why) = &self.standing {
            return vec![why.clone()];
        }
        let mut found = match &self.skill {
            Ok(skill) => skill.diagnostics.clone(),
            Err(diagnostic) => vec![diagnostic.clone()],
        };
        if let Standing::Shadowed(why) | Standing::ForPeople(why) | Standing::Hidden(why) =
            &self.standing
        {
            found.push(why.clone());
        }
        found
    }

    /// Why it is not offered, as a sentence fragment.
    pub fn reason_not_offered(&self) -> Option<String> {
        let worst = || {
            let mut errors = self.diagnostics();
            errors.retain(|found| found.level == Level::Error);
            errors.pop().map(|found| found.message).unwrap_or_default()
        };
        match &self.standing {
            Standing::Offered { .. } => None,
            Standing::Shadowed(why)
            | Standing::ForPeople(why)
            | Standing::Hidden(why)
            | Standing::Untrusted(why) => Some(why.message.clone()),
            Standing::Unusable => Some(worst()),
        }
    }
}
