//! Why each rule of the policies lets a skill be used or not. It asks the functions that decide.

use std::path::PathBuf;

use serde::Serialize;

use super::eligibility::Rules;
use super::entry::{Entry, Standing, Withheld};
use super::layer::Layer;
use crate::facts::Facts;
use crate::policy::{Asks, Finding, approval_needed};
use crate::skill::{Diagnostic, Skill};

const ROOTS: &str = "only root can change it, where it is";
const REQUIRED: &str = "a policy requires the skill, so nothing hides it";

/// What one rule says of one skill.
#[derive(Debug, Clone, Serialize)]
pub struct Explained {
    /// The rule, as `table.key` of a policy or the configuration; `precedence` between skills of one
    /// name.
    pub rule: &'static str,
    /// The policy that has it, if it is one's.
    pub file: Option<PathBuf>,
    /// Whether the skill keeps it.
    pub outcome: Holds,
    /// What shows that, or the reason against it.
    pub why: String,
}

/// Whether a skill keeps a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// It does.
    Holds,
    /// It does not, and is not offered.
    Fails,
    /// The rule is not about it.
    DoesNotApply,
}

/// Explains decisions about the skills of one catalog.
#[derive(Debug)]
pub struct Explainer<'a>(Rules<'a>);

impl<'a> Explainer<'a> {
    /// For the policies and configuration that are in force.
    pub fn new(facts: &'a Facts) -> Self {
        Self(Rules::new(facts, Asks::ToUse))
    }

    /// Every rule that is about a skill or about all of its kind, in the order in which they decide.
    /// Of what a project brings that is not trusted, nothing is read, so that only this is said.
    pub fn explain(&self, entry: &Entry) -> Vec<Explained> {
        let mut all = Vec::new();
        let mut add = |rule, file: Option<PathBuf>, outcome, why: String| {
            all.push(Explained {
                rule,
                file,
                outcome,
                why,
            });
        };
        if entry.layer == Layer::Project {
            let refusal = self.0.distrusts(entry.layer, &entry.dir);
            let file = self.0.policies().project_file();
            match refusal {
                Some((_, why)) => add("project.trust", file, Holds::Fails, why.to_string()),
                None => add(
                    "project.trust",
                    file,
                    Holds::Holds,
                    "it is trusted".to_owned(),
                ),
            }
        }
        let Some(skill) = entry.disclosed() else {
            if let Some(why) = entry.reason_not_offered().filter(|_| !entry.is_concealed()) {
                add("SKILL.md", None, Holds::Fails, why);
            }
            return all;
        };
        for Finding {
            file,
            key,
            holds,
            why,
        } in self.0.by_policy(entry, skill)
        {
            let outcome = if holds { Holds::Holds } else { Holds::Fails };
            add(key, Some(file), outcome, why);
        }
        all.extend(self.approval(entry, skill));
        all.extend(self.signature(entry, skill));
        all.extend(self.others(entry, skill));
        all
    }

    fn approval(&self, entry: &Entry, skill: &Skill) -> Option<Explained> {
        let needs = self.0.policies().needs_approval();
        if needs.is_empty() {
            return None;
        }
        let (outcome, why) = match self.0.unapproved(entry, skill) {
            Some((_, why)) => (Holds::Fails, why.to_string()),
            None if self.0.is_roots(entry) => (Holds::DoesNotApply, ROOTS.to_owned()),
            None => approval_needed(skill, &needs).map_or_else(
                || {
                    let why = "it has nothing that needs an approval";
                    (Holds::DoesNotApply, why.to_owned())
                },
                |need| (Holds::Holds, format!("{need}, and it is approved as it is")),
            ),
        };
        Some(Explained {
            rule: "approval.require",
            file: self.0.policies().approval_file(),
            outcome,
            why,
        })
    }

    fn signature(&self, entry: &Entry, skill: &Skill) -> Option<Explained> {
        if !self.0.requires_signatures() {
            return None;
        }
        let (outcome, why) = match self.0.unsigned(entry, skill) {
            Some((_, why)) => (Holds::Fails, why.to_string()),
            None if self.0.is_roots(entry) => (Holds::DoesNotApply, ROOTS.to_owned()),
            None => (
                Holds::Holds,
                "what is required for its source is met".to_owned(),
            ),
        };
        let mut signing = self.0.policies().signing();
        let file = signing.find(|(_, rules)| rules.require_anything());
        Some(Explained {
            rule: "signing.require",
            file: file.map(|(file, _)| file.to_owned()),
            outcome,
            why,
        })
    }

    /// What its author and the user chose, and other skills of its name.
    fn others(&self, entry: &Entry, skill: &Skill) -> Vec<Explained> {
        let mut all = Vec::new();
        let mut add = |rule, outcome, why: String| {
            all.push(Explained {
                rule,
                file: None,
                outcome,
                why,
            });
        };
        let required = self.0.policies().requires(skill.name.as_str());
        if let Some((_, why)) = self.0.out_of_scope(skill) {
            match required {
                Some(_) => add("scope", Holds::DoesNotApply, REQUIRED.to_owned()),
                None => add("scope", Holds::Fails, why.to_string()),
            }
        }
        if self.0.config.visibility.contains_key(&skill.name) && entry.is_required {
            add("visibility", Holds::DoesNotApply, REQUIRED.to_owned());
        }
        if let Standing::Withheld(_, why) = &entry.standing {
            let rule = match why {
                Diagnostic::HiddenOff(_) | Diagnostic::HiddenFromModel(_) => "visibility",
                Diagnostic::HiddenCatalog(_) => "catalog",
                Diagnostic::HiddenEnterprise(_) => "precedence",
                _ if entry.withheld() == Some(Withheld::Shadowed) => "precedence",
                _ => return all,
            };
            add(rule, Holds::Fails, why.to_string());
        }
        all
    }
}
