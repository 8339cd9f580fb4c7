//! Which restrictions of the session apply, and how they combine
//! (docs/spec/restriction.md#several-skills).

use std::path::Path;

use super::baseline::Context;
use super::restriction::Restriction;
use super::rule::Rule;
use super::scope::Scope;
use super::settings::{Enforce, Settings, Stacking};

/// The restrictions that apply to one call.
#[derive(Debug)]
pub struct InForce<'a> {
    /// Every one of these must allow the call.
    pub groups: Vec<Group<'a>>,
    denying: Vec<&'a Restriction>,
    warning: Vec<&'a Restriction>,
    active: Vec<&'a Restriction>,
    skills_narrowed: bool,
}

/// A group of rules; one of them must grant the call.
#[derive(Debug)]
pub struct Group<'a> {
    /// The skills they come from.
    pub skills: Vec<&'a str>,
    /// Their directories.
    pub directories: Vec<&'a Path>,
    /// The rules, each with its skill.
    pub rules: Vec<(&'a str, &'a Rule)>,
    /// What happens to a call that none of them grants.
    pub enforce: Enforce,
}

impl<'a> InForce<'a> {
    /// Combines the restrictions of a scope.
    pub fn of(scope: &Scope<'a>) -> Self {
        let Scope {
            restrictions,
            settings,
            ..
        } = *scope;
        let enforcement = |one: &Restriction| settings.enforcement(one.source());
        let limits =
            |one: &&Restriction| one.allowed().is_some() && enforcement(one) != Enforce::Off;
        let last = restrictions.last();
        let counting: Vec<&Restriction> = match settings.stacking {
            Stacking::Replace => last.into_iter().collect(),
            Stacking::Ratchet => {
                let kept = restrictions.iter().rev().find(limits);
                kept.or(last).into_iter().collect()
            }
            Stacking::Intersect | Stacking::Union => restrictions.iter().collect(),
        };
        let group = |members: &[&'a Restriction]| Group {
            skills: members.iter().map(|one| one.source()).collect(),
            directories: members.iter().map(|one| one.directory()).collect(),
            rules: members
                .iter()
                .flat_map(|one| rules_of(one, one.allowed().unwrap_or_default()))
                .collect(),
            // With the mildest, activating another skill would override the strictest.
            enforce: if members
                .iter()
                .any(|one| enforcement(one) == Enforce::Restrict)
            {
                Enforce::Restrict
            } else {
                Enforce::Warn
            },
        };
        let groups: Vec<Group> = match settings.stacking {
            // One unrestricted skill in a union allows everything.
            Stacking::Union if !counting.iter().all(limits) => Vec::new(),
            Stacking::Union if counting.is_empty() => Vec::new(),
            Stacking::Union => vec![group(&counting)],
            _ => counting
                .iter()
                .filter(|one| limits(one))
                .map(|one| group(&[*one]))
                .collect(),
        };
        let of_mode = |mode| {
            let wanted = move |one: &&Restriction| enforcement(one) == mode;
            restrictions.iter().filter(wanted)
        };
        Self {
            skills_narrowed: narrows(&groups),
            groups,
            denying: scope
                .policy_deny
                .iter()
                .chain(of_mode(Enforce::Restrict))
                .collect(),
            warning: of_mode(Enforce::Warn).collect(),
            active: match (settings.stacking, last) {
                (Stacking::Replace, Some(last)) => vec![last],
                _ => restrictions.iter().collect(),
            },
        }
    }

    /// Whether a call could be refused; if not, the user is at most warned.
    pub fn may_refuse(&self) -> bool {
        let restricts = |group: &Group| group.enforce == Enforce::Restrict;
        self.groups.iter().any(restricts) || self.denials().next().is_some()
    }

    /// Every denial with its source; those of policies come first.
    pub fn denials(&self) -> impl Iterator<Item = (&'a str, &'a Rule)> {
        let denying = self.denying.iter();
        denying.flat_map(|one| rules_of(one, one.denied()))
    }

    /// Whether anything applies to a call, even just to warn.
    pub fn is_anything(&self) -> bool {
        !self.groups.is_empty() || self.denials().next().is_some()
    }

    /// The first skill, active or not, whose denials are in force.
    pub fn denying_skill(&self) -> Option<&'a str> {
        let denies = |one: &&&Restriction| one.is_of_skill() && !one.denied().is_empty();
        self.denying.iter().find(denies).map(|one| one.source())
    }

    /// The active skills' own directories.
    pub fn own_directories(&self) -> Vec<&'a Path> {
        self.active.iter().map(|one| one.directory()).collect()
    }

    /// A copy with only the denials that produce warnings.
    pub fn warnings(&self) -> Self {
        Self {
            groups: Vec::new(),
            denying: self.warning.clone(),
            warning: Vec::new(),
            active: self.active.clone(),
            skills_narrowed: self.skills_narrowed,
        }
    }

    /// What the baseline needs to know.
    pub fn baseline(&self, settings: &'a Settings) -> Context<'_> {
        Context {
            settings,
            active: &self.active,
            skills_narrowed: self.skills_narrowed,
        }
    }
}

/// Rules of a restriction, each with its source.
fn rules_of<'a>(
    one: &'a Restriction,
    rules: &'a [Rule],
) -> impl Iterator<Item = (&'a str, &'a Rule)> {
    rules.iter().map(|rule| (one.source(), rule))
}

fn narrows(groups: &[Group]) -> bool {
    groups
        .iter()
        .any(|group| group.rules.iter().any(|(_, rule)| rule.narrows_skills()))
}

impl Group<'_> {
    /// The skill or skills, for a message.
    pub fn skill(&self) -> String {
        self.skills.join("`, `")
    }

    /// What these rules grant, in the host's names and without duplicates.
    pub fn host_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.rules.iter().flat_map(|(_, rule)| rule.host_names()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}
