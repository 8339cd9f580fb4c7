//! Which restrictions of the session apply, and how they combine
//! (docs/spec/restriction.md#several-skills).

use std::path::Path;

use super::restriction::Restriction;
use super::rule::Rule;
use super::scope::Scope;
use super::settings::{Enforce, Settings, Stacking};
use crate::sys::text::distinct;

/// The restrictions that apply to one call.
#[derive(Debug)]
pub struct InForce<'a> {
    /// Every one of these must allow the call.
    pub groups: Vec<Group<'a>>,
    /// What denies calls.
    pub denials: Denials<'a>,
    /// What only warns of them.
    pub warnings: Denials<'a>,
    /// The skills' own directories, which commands may use: those that every group owns.
    pub own: Vec<&'a Path>,
    /// The user's settings.
    pub settings: &'a Settings,
}

/// A group of restrictions; a rule of one of them must grant the call.
#[derive(Debug)]
pub struct Group<'a> {
    /// The restrictions of the skills.
    pub members: Vec<&'a Restriction>,
    /// What happens to a call that none of their rules grants.
    pub enforce: Enforce,
    /// Whether no setting of the user takes a call out of it.
    pub binds: bool,
}

/// Restrictions whose denials count, those of policies first.
#[derive(Debug)]
pub struct Denials<'a>(Vec<&'a Restriction>);

impl<'a> InForce<'a> {
    /// Combines the restrictions of a scope.
    pub fn new(scope: &Scope<'a>) -> Self {
        let Scope {
            restrictions,
            settings,
            ..
        } = *scope;
        let enforcement = |one: &Restriction| {
            if one.binds {
                return Enforce::Restrict;
            }
            settings.enforcement(&one.source)
        };
        let limits =
            |one: &&Restriction| one.allowed().is_some() && enforcement(one) != Enforce::Off;
        let (binding, free): (Vec<&Restriction>, Vec<&Restriction>) =
            restrictions.iter().partition(|one| one.binds);
        let last = free.last().copied();
        let mut limiting = free.iter().copied().filter(limits);
        let single = |one| vec![one];
        let members: Vec<Vec<&Restriction>> = match settings.stacking {
            Stacking::Replace => last.filter(limits).map(single).into_iter().collect(),
            Stacking::Ratchet => limiting.next_back().map(single).into_iter().collect(),
            Stacking::Intersect => limiting.map(single).collect(),
            // One unrestricted skill in a union allows everything.
            Stacking::Union if limiting.clone().count() < free.len() => Vec::new(),
            Stacking::Union if free.is_empty() => Vec::new(),
            Stacking::Union => vec![limiting.collect()],
        };
        let group = |members: Vec<&'a Restriction>| Group {
            // Each of them may allow the call, if only with a warning.
            enforce: members
                .iter()
                .map(|one| enforcement(one))
                .min()
                .unwrap_or_default(),
            binds: members.iter().all(|one| one.binds),
            members,
        };
        // Each that binds has to allow the call, whatever else decides.
        let binding = binding.into_iter().filter(limits).map(single);
        let groups: Vec<Group> = binding.chain(members).map(group).collect();
        let of_mode = |mode| {
            restrictions
                .iter()
                .filter(move |one| enforcement(one) == mode)
        };
        // Of replaced skills the session keeps those that restrict, so only those count of others.
        let last = restrictions.last();
        let is_latest = |one: &Restriction| last.is_some_and(|last| std::ptr::eq(last, one));
        let own = restrictions
            .iter()
            .filter(|one| one.is_restricted() || is_latest(one));
        let own = own.map(|one| one.directory.as_path());
        let own = own.filter(|dir| groups.iter().all(|group| group.owns(dir)));
        let denying = scope.policy_deny.iter().chain(of_mode(Enforce::Restrict));
        Self {
            denials: Denials(denying.collect()),
            warnings: Denials(of_mode(Enforce::Warn).collect()),
            own: own.collect(),
            groups,
            settings,
        }
    }

    /// Whether a call could be refused; if not, the user is at most warned.
    pub fn may_refuse(&self) -> bool {
        let restricts = |group: &Group| group.enforce == Enforce::Restrict;
        self.groups.iter().any(restricts) || self.denials.iter().next().is_some()
    }

    /// Whether anything applies to a call, even just to warn.
    pub fn is_anything(&self) -> bool {
        !self.groups.is_empty() || self.denials.iter().next().is_some()
    }
}

impl<'a> Denials<'a> {
    /// Every denial.
    pub fn iter(&self) -> impl Iterator<Item = &'a Rule> {
        self.0.iter().flat_map(|one| &one.denied)
    }

    /// The first skill, active or not, that denies something.
    pub fn skill(&self) -> Option<&'a str> {
        let denies = |one: &&&Restriction| one.of_skill && !one.denied.is_empty();
        self.0.iter().find(denies).map(|one| one.source.as_str())
    }
}

impl<'a> Group<'a> {
    /// The rules that may grant a call.
    pub fn rules(&self) -> impl Iterator<Item = &'a Rule> {
        self.members
            .iter()
            .filter_map(|one| one.allowed())
            .flatten()
    }

    /// Whether the skill in this directory is one of its members.
    pub fn owns(&self, dir: &Path) -> bool {
        self.members.iter().any(|one| one.directory == dir)
    }

    /// Whether the skill in `dir` may be activated without a rule: `Skill(name)` entries limit
    /// which others may.
    pub fn may_activate(&self, dir: &Path) -> bool {
        let mut lists = self.members.iter().filter_map(|one| one.allowed());
        self.owns(dir) || !lists.all(|rules| rules.iter().any(Rule::narrows_skills))
    }

    /// The skill or skills, for a message.
    pub fn skill(&self) -> String {
        let skills: Vec<&str> = self.members.iter().map(|one| one.source.as_str()).collect();
        skills.join("`, `")
    }

    /// What these rules grant, in the host's names and without duplicates.
    pub fn host_names(&self) -> Vec<String> {
        distinct(self.rules().flat_map(Rule::host_names))
    }
}
