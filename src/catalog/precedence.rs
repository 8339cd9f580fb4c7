//! Precedence among skills of one name: by layer, priority and directory order. Only this file
//! assigns a standing, also because of what a policy requires. The rules decide first whether anything in a directory may be shown, then
//! whether its skill may be offered. An administrator's skill reserves its name even if it is
//! hidden, broken or out of scope.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::eligibility::EligibilityRules;
use super::entry::{Eligibility, Entry, WithheldReason, tool_name};
use super::roots::Layer;
use crate::marketplace::named_by_directory;
use crate::policy::{Missing, MissingSkill, approval_digest};
use crate::run_context::real;
use crate::skill::{Diagnostic, SkillName};

/// Sets every entry's standing, and drops copies: entries of another root with the same content as
/// the offered one.
pub fn settle(entries: &mut Vec<Entry>, rules: &EligibilityRules) {
    let mut contests: BTreeMap<SkillName, Vec<usize>> = BTreeMap::new();
    for (at, entry) in entries.iter_mut().enumerate() {
        if let Some(name) = check_eligibility(entry, rules) {
            contests.entry(name).or_default().push(at);
        }
    }
    let mut copies = BTreeSet::new();
    for mut contenders in contests.into_values() {
        let links = links(entries, &contenders);
        contenders.retain(|at| !links.contains(at));
        copies.extend(links);
        contenders.sort_by_key(|at| rank(&entries[*at], *at));
        let winner = contenders[0];
        for at in contenders.drain(1..) {
            if is_copy(&entries[at], &entries[winner]) {
                copies.insert(at);
            } else if let Some(eligibility) = loses(&entries[winner], &entries[at]) {
                entries[at].eligibility = eligibility;
            }
        }
    }
    // Another agent may know a copy by its directory's name.
    let mut at = 0..;
    entries.retain(|_| {
        at.next().is_some_and(|at| !copies.contains(&at)) || rules.facts.run.agent.is_some()
    });
    for entry in entries {
        if let (Eligibility::Offered { .. }, Ok(skill)) = (&entry.eligibility, &entry.skill) {
            entry.tool = Some(tool_name(&skill.name));
        }
    }
}

/// Those of the contenders that are links to another one's directory, as other agents find a skill
/// (docs/guide.md#other-agents): they change nothing here.
fn links(entries: &[Entry], contenders: &[usize]) -> Vec<usize> {
    let place = |dir: &Path| Some((real(dir.parent()?), dir.file_name()?.to_owned()));
    let target = |at: &usize| {
        let dir = &entries[*at].dir;
        let to = std::fs::read_link(dir).ok()?;
        place(&dir.parent()?.join(to))
    };
    let is_link = |at: &&usize| {
        let to = target(at);
        let mut others = contenders.iter().filter(|other| other != at);
        to.is_some() && others.any(|other| place(&entries[*other].dir) == to)
    };
    match contenders {
        [_] => Vec::new(),
        several => several.iter().filter(is_link).copied().collect(),
    }
}

/// Sets the entry's standing by the rules; returns the name it competes for, if any.
fn check_eligibility(entry: &mut Entry, rules: &EligibilityRules) -> Option<SkillName> {
    if let Some((withheld, why)) = rules.distrusts(entry.layer, &entry.dir) {
        entry.skill = Err(why.clone());
        entry.eligibility = Eligibility::Withheld(withheld, why);
        return None;
    }
    let reserves = entry.layer == Layer::Enterprise;
    let Ok(skill) = &entry.skill else {
        return reserves.then(|| named_by_directory(&entry.dir)).flatten();
    };
    let eligibility = rules.eligibility(entry, skill);
    let takes_part = matches!(
        eligibility,
        Eligibility::Offered { .. }
            | Eligibility::Withheld(WithheldReason::ForPeople | WithheldReason::Hidden, _)
    );
    // A skill without a description cannot be chosen, so it displaces no other.
    let described = skill.is_offered();
    let name = skill.name.clone();
    if described || !takes_part {
        entry.eligibility = eligibility;
    }
    (reserves || described && takes_part).then_some(name)
}

/// The new standing of `loser` because of `winner`; `None` if it stays, as for a hidden skill,
/// which has a reason already.
fn loses(winner: &Entry, loser: &Entry) -> Option<Eligibility> {
    loser.usable()?;
    if winner.layer == Layer::Enterprise && loser.layer != Layer::Enterprise {
        let why = Diagnostic::HiddenEnterprise(winner.dir.display().to_string());
        return Some(Eligibility::Withheld(WithheldReason::Hidden, why));
    }
    let is_offered = matches!(loser.eligibility, Eligibility::Offered { .. });
    is_offered.then(|| Eligibility::Withheld(WithheldReason::Shadowed, why(winner, loser)))
}

/// The sort key; the smallest wins.
fn rank(entry: &Entry, at: usize) -> impl Ord + use<> {
    let directory = entry.dir.file_name();
    let bears_its_name = entry
        .skill
        .as_ref()
        .is_ok_and(|skill| directory.is_some_and(|name| name == skill.name.as_str()));
    (
        entry.layer,
        // Of two skills of the administrator, a usable one wins.
        entry.layer == Layer::Enterprise && entry.usable().is_none(),
        Reverse(priority(entry)),
        entry.root,
        !bears_its_name,
        at,
    )
}

fn priority(entry: &Entry) -> i64 {
    let skill = entry.skill.as_ref();
    skill.map_or(0, |skill| skill.fields.priority())
}

fn is_copy(entry: &Entry, winner: &Entry) -> bool {
    let (Ok(a), Ok(b)) = (&entry.skill, &winner.skill) else {
        return false;
    };
    entry.root != winner.root
        && a.digest == b.digest
        && approval_digest(a).is_ok_and(|own| approval_digest(b).is_ok_and(|other| own == other))
}

fn why(winner: &Entry, loser: &Entry) -> Diagnostic {
    let dir = winner.dir.display().to_string();
    let reason = if winner.layer != loser.layer {
        format!("{} skills come before {} ones", winner.layer, loser.layer)
    } else if priority(winner) != priority(loser) {
        "its priority is higher".to_owned()
    } else if winner.root != loser.root {
        "its directory is looked at first".to_owned()
    } else {
        return Diagnostic::DuplicateName(dir);
    };
    let qualified = format!("{}/{}", loser.layer, loser.name());
    Diagnostic::Shadowed(dir, reason, qualified)
}

/// Marks the entries that are required, and returns what is missing. If a policy wants it, nothing
/// else is offered then.
pub fn settle_required(entries: &mut [Entry], rules: &EligibilityRules) -> Vec<MissingSkill> {
    let policies = &rules.policies;
    for entry in &mut *entries {
        let is_offered = matches!(entry.eligibility, Eligibility::Offered { .. });
        entry.is_required = is_offered && policies.requires(&entry.name()).is_some();
    }
    let mut missing = Vec::new();
    for (file, required) in policies.required() {
        let of_name = |entry: &&Entry| required.is_named(&entry.name());
        if entries.iter().filter(of_name).any(|one| one.is_required) {
            continue;
        }
        // What a project has of this name explains least.
        let mut of_name: Vec<&Entry> = entries.iter().filter(of_name).collect();
        of_name.sort_by_key(|entry| entry.layer == Layer::Project);
        let why = of_name.first().and_then(|one| one.reason_not_offered());
        missing.push(MissingSkill {
            name: required.name.clone(),
            file: file.to_owned(),
            missing: policies.if_missing(file),
            why: why.unwrap_or_else(|| "there is no skill of this name".to_owned()),
        });
    }
    let mut blocking = missing.iter();
    if let Some(one) = blocking.find(|one| one.missing == Missing::Block) {
        let why = Diagnostic::HiddenPolicy(format!("no skill is offered, because {one}"));
        let usable = entries.iter_mut().filter(|entry| entry.usable().is_some());
        for entry in usable.filter(|entry| !entry.is_required) {
            entry.eligibility = Eligibility::Withheld(WithheldReason::Excluded, why.clone());
            entry.tool = None;
        }
    }
    missing
}
