//! Precedence among skills of one name: by layer, priority and directory order. Only this file
//! assigns a standing. The rules decide first whether anything in a directory may be shown, then
//! whether its skill may be offered. An administrator's skill reserves its name even if it is
//! hidden, broken or out of scope.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::directory_name::named_by_directory;
use super::entry::{Admission, Entry, Standing};
use super::layer::{Layer, Order};
use super::tool_name::tool_name;
use crate::skill::{Diagnostic, Skill, SkillName};
use crate::sys::tree;

/// The rules on who may see what.
pub trait Rules {
    /// Why nothing in the entry's directory may be shown, if so. Depends only on its location.
    fn distrusts(&self, entry: &Entry) -> Option<Diagnostic>;

    /// What may be done with a skill whose text may be shown.
    fn admits(&self, entry: &Entry, skill: &Skill) -> Admission;
}

/// Rules that offer every skill.
#[derive(Debug)]
pub struct NoRules;

impl Rules for NoRules {
    fn distrusts(&self, _: &Entry) -> Option<Diagnostic> {
        None
    }

    fn admits(&self, _: &Entry, _: &Skill) -> Admission {
        Admission::Shown
    }
}

/// Sets every entry's standing, and drops copies: entries of another root with the same content as
/// the offered one.
pub fn settle(entries: &mut Vec<Entry>, order: Order, rules: &dyn Rules) {
    let mut contests: BTreeMap<SkillName, Vec<usize>> = BTreeMap::new();
    for (at, entry) in entries.iter_mut().enumerate() {
        if let Some(name) = check_eligibility(entry, rules) {
            contests.entry(name).or_default().push(at);
        }
    }
    let mut copies = Vec::new();
    for mut contenders in contests.into_values() {
        contenders.sort_by_key(|at| rank(&entries[*at], order, *at));
        let winner = contenders[0];
        for at in contenders.drain(1..) {
            if is_copy(&entries[at], &entries[winner]) {
                copies.push(at);
                continue;
            }
            let standing = loses(&entries[winner], &entries[at]);
            if let Some(standing) = standing {
                entries[at].standing = standing;
            }
        }
    }
    copies.sort_unstable_by_key(|at| Reverse(*at));
    for at in copies {
        entries.remove(at);
    }
    for entry in entries {
        if let (Standing::Offered { .. }, Ok(skill)) = (&entry.standing, &entry.skill) {
            entry.tool = Some(tool_name(&skill.name));
        }
    }
}

/// Sets the entry's standing by the rules; returns the name it competes for, if any.
fn check_eligibility(entry: &mut Entry, rules: &dyn Rules) -> Option<SkillName> {
    if let Some(why) = rules.distrusts(entry) {
        entry.standing = Standing::Untrusted(why);
        return None;
    }
    let reserves = entry.layer == Layer::Enterprise;
    let Ok(skill) = &entry.skill else {
        return reserves.then(|| named_by_directory(&entry.dir)).flatten();
    };
    let (standing, takes_part) = match rules.admits(entry, skill) {
        Admission::Shown => (Standing::Offered { name_only: false }, true),
        Admission::NameOnly => (Standing::Offered { name_only: true }, true),
        Admission::ForPeople(why) => (Standing::ForPeople(why), true),
        Admission::Hidden(why) => (Standing::Hidden(why), true),
        Admission::Excluded(why) => (Standing::Hidden(why), false),
    };
    // A skill without a description cannot be chosen, so it displaces no other.
    let described = skill.is_offered();
    let name = skill.name.clone();
    if described || !takes_part {
        entry.standing = standing;
    }
    (reserves || described && takes_part).then_some(name)
}

/// The new standing of `loser` because of `winner`; `None` if it stays, as for a hidden skill,
/// which has a reason already.
fn loses(winner: &Entry, loser: &Entry) -> Option<Standing> {
    let is_overridden = winner.layer == Layer::Enterprise && loser.layer != Layer::Enterprise;
    match loser.standing {
        Standing::Offered { .. } | Standing::ForPeople(_) if is_overridden => {
            let text = format!(
                "`{}` is the administrator's skill of this name, and no other can be used in its \
                 place",
                winner.dir.display()
            );
            let why = Diagnostic::warning("hidden-enterprise", text);
            Some(Standing::Hidden(why))
        }
        Standing::Offered { .. } => Some(Standing::Shadowed(why(winner, loser))),
        _ => None,
    }
}

/// Whether two skills of one name differ only in their directories.
fn are_equals(a: &Entry, b: &Entry) -> bool {
    a.root == b.root && priority(a) == priority(b)
}

/// The sort key; the smallest wins.
fn rank(entry: &Entry, order: Order, at: usize) -> impl Ord + use<> {
    // Of two skills of the administrator, a usable one wins.
    let is_out = matches!(entry.standing, Standing::Hidden(_) | Standing::Unusable);
    (
        order.rank(entry.layer),
        entry.layer == Layer::Enterprise && is_out,
        Reverse(priority(entry)),
        entry.root,
        !bears_its_name(entry),
        at,
    )
}

fn priority(entry: &Entry) -> i64 {
    entry
        .skill
        .as_ref()
        .map_or(0, |skill| skill.fields.priority())
}

fn bears_its_name(entry: &Entry) -> bool {
    let directory = entry.dir.file_name();
    entry
        .skill
        .as_ref()
        .is_ok_and(|skill| directory.is_some_and(|name| name == skill.name.as_str()))
}

fn is_copy(entry: &Entry, winner: &Entry) -> bool {
    let (Ok(a), Ok(b)) = (&entry.skill, &winner.skill) else {
        return false;
    };
    let content = |entry: &Entry| tree::digest(std::slice::from_ref(&entry.dir)).ok();
    entry.root != winner.root && a.digest == b.digest && {
        let content = (content(entry), content(winner));
        content.0.is_some() && content.0 == content.1
    }
}

fn why(winner: &Entry, loser: &Entry) -> Diagnostic {
    let dir = winner.dir.display();
    if are_equals(winner, loser) {
        let text = format!(
            "`{dir}` has a skill of the same name and is offered instead: rename or remove one"
        );
        return Diagnostic::error("duplicate-name", text);
    }
    let reason = if winner.layer != loser.layer {
        format!("{} skills come before {} ones", winner.layer, loser.layer)
    } else if priority(winner) == priority(loser) {
        "its directory is looked at first".to_owned()
    } else {
        "its priority is higher".to_owned()
    };
    let text = format!(
        "`{dir}` has a skill of the same name and stands in its place, because {reason}: this one \
         is `{}/{}`",
        loser.layer,
        loser.name()
    );
    Diagnostic::warning("shadowed", text)
}
