//! Which restrictions of the session apply to a call, and how they combine
//! (docs/spec/restriction.md#several-skills).

use std::collections::BTreeSet;
use std::path::Path;

use super::places::RuleDirectories;
use super::restriction::Restriction;
use super::rule::Rule;
use super::settings::{Enforce, Settings, Stacking};
use skill_text::distinct;

/// Everything that applies to a call.
#[derive(Debug, Clone, Default)]
pub struct RestrictionInputs {
    /// The restrictions of all skills activated in this session, oldest first, including replaced
    /// ones, whose denials stay in force.
    pub restrictions: Vec<Restriction>,
    /// Denials from the configuration and the administrator's policy.
    pub policy_deny: Vec<Restriction>,
    /// The user's settings.
    pub settings: Settings,
    /// The directories that rules refer to.
    pub places: RuleDirectories,
    /// Tools that the host attributes to MCP servers.
    pub mcp_tools: BTreeSet<String>,
}

impl RestrictionInputs {
    /// The same with each skill's restriction changed.
    #[must_use]
    pub fn changed(&self, change: impl Fn(&Restriction) -> Restriction) -> Self {
        Self {
            restrictions: self.restrictions.iter().map(change).collect(),
            ..self.clone()
        }
    }

    /// The same with entries of another source added to the lists of the skills that have one.
    #[must_use]
    pub fn adding(&self, source: &str, entries: &[String]) -> Self {
        let root = &self.places.project_root;
        self.changed(|one| one.clone().adding(source, entries, root))
    }

    /// The entries of the skills' lists, as their authors wrote them.
    pub fn entries(&self) -> Vec<String> {
        let rules = self.restrictions.iter().filter_map(Restriction::allowed);
        distinct(rules.flatten().map(|rule| rule.cited.rule.clone()))
    }
}

/// The restrictions that apply to one call.
#[derive(Debug)]
pub struct ActiveRestrictions<'a> {
    /// Every one of these must allow the call.
    pub lists: Vec<ActiveList<'a>>,
    /// What denies calls.
    pub denials: Denials<'a>,
    /// What only warns of them.
    pub warnings: Denials<'a>,
    /// The directories of the active skills, whose scripts may run and whose files commands may use.
    /// While a skill binds, only its own.
    pub own: Vec<&'a Path>,
    /// The user's settings.
    pub settings: &'a Settings,
}

/// The list of a skill; one of its rules must grant the call.
#[derive(Debug)]
pub struct ActiveList<'a> {
    /// The skill's restriction.
    pub skill: &'a Restriction,
    /// The rules that may grant a call.
    pub rules: &'a [Rule],
    /// What happens to a call that none of them grants.
    pub enforce: Enforce,
}

/// Restrictions whose denials count, those of policies first.
#[derive(Debug)]
pub struct Denials<'a>(Vec<&'a Restriction>);

impl<'a> ActiveRestrictions<'a> {
    /// Combines the restrictions of a scope.
    pub fn new(scope: &'a RestrictionInputs) -> Self {
        let (restrictions, settings) = (&scope.restrictions, &scope.settings);
        let enforcement = |one: &Restriction| {
            if one.binds {
                Enforce::Restrict
            } else {
                settings.enforcement(&one.source)
            }
        };
        let latest = restrictions.iter().rfind(|one| one.is_active && !one.binds);
        let is_latest = |one: &Restriction| latest.is_some_and(|latest| std::ptr::eq(latest, one));
        let counts = |one: &&Restriction| {
            // Each that binds has to allow the call, whatever else decides.
            let counts = one.binds || settings.stacking == Stacking::Intersect || is_latest(one);
            counts && enforcement(one) != Enforce::Off
        };
        let list = |one: &'a Restriction| {
            Some(ActiveList {
                skill: one,
                rules: one.allowed()?,
                enforce: enforcement(one),
            })
        };
        let counting = restrictions.iter().filter(counts);
        let lists: Vec<ActiveList> = counting.filter_map(list).collect();
        let all = restrictions.iter();
        let of_mode = |mode| all.clone().filter(move |one| enforcement(one) == mode);
        let own = restrictions.iter().filter(|one| one.is_active);
        let own = own.map(|one| one.directory.as_path());
        let binding = lists.iter().filter(|list| list.skill.binds);
        let own = own.filter(|dir| binding.clone().all(|list| list.skill.directory == *dir));
        let denying = scope.policy_deny.iter().chain(of_mode(Enforce::Restrict));
        Self {
            denials: Denials(denying.collect()),
            warnings: Denials(of_mode(Enforce::Warn).collect()),
            own: own.collect(),
            lists,
            settings,
        }
    }

    /// Whether a call could be refused; if not, the user is at most warned.
    pub fn may_refuse(&self) -> bool {
        let restricts = |list: &ActiveList| list.enforce == Enforce::Restrict;
        self.lists.iter().any(restricts) || self.denials.iter().next().is_some()
    }

    /// Whether anything applies to a call, even just to warn.
    pub fn has_any(&self) -> bool {
        !self.lists.is_empty() || self.denials.iter().next().is_some()
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

impl ActiveList<'_> {
    /// Whether the skill in `dir` may be activated without a rule: `Skill(name)` entries limit
    /// which others may.
    pub fn may_activate(&self, dir: &Path) -> bool {
        self.skill.directory == dir || !self.rules.iter().any(Rule::narrows_skills)
    }

    /// What these rules grant, in the host's names and without duplicates.
    pub fn host_names(&self) -> Vec<String> {
        distinct(self.rules.iter().flat_map(Rule::host_names))
    }
}
