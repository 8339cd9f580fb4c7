//! Who is offered when several skills have one name: the layer decides, inside a layer the
//! priority, then the order of the directories. Tool names depend on the skill's name alone.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::entry::{Admission, Entry, Standing};
use super::layer::Order;
use super::tool_name::tool_name;
use crate::skill::{Diagnostic, Skill, SkillName};
use crate::sys::tree;

/// What the rules say about a skill of the layer.
pub type Rules<'a> = &'a dyn Fn(&Entry, &Skill) -> Admission;

/// Settles every entry's standing, and drops copies: an entry of another root that has the very
/// content of the one that is offered.
pub fn settle(entries: &mut Vec<Entry>, order: Order, rules: Rules) {
    let mut contests: BTreeMap<SkillName, Vec<usize>> = BTreeMap::new();
    for (at, entry) in entries.iter_mut().enumerate() {
        if let Some(name) = admit(entry, rules) {
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
            if let Standing::Offered { .. } = entries[at].standing {
                let why = why(&entries[winner], &entries[at]);
                entries[at].standing = Standing::Shadowed(why);
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

/// Sets the entry's standing by the rules; its name, if it takes part in the contest for that.
fn admit(entry: &mut Entry, rules: Rules) -> Option<SkillName> {
    let skill = entry.skill.as_ref().ok()?;
    let (standing, takes_part) = match rules(entry, skill) {
        Admission::Shown => (Standing::Offered { name_only: false }, true),
        Admission::NameOnly => (Standing::Offered { name_only: true }, true),
        Admission::Hidden(why) => (Standing::Hidden(why), true),
        Admission::Excluded(why) => (Standing::Hidden(why), false),
    };
    // A skill without a description cannot be chosen, so it takes nobody's place.
    let described = skill.is_offered();
    let name = skill.name.clone();
    if described || !takes_part {
        entry.standing = standing;
    }
    (described && takes_part).then_some(name)
}

/// Whether nothing but their directories tells two skills of one name apart.
fn are_equals(a: &Entry, b: &Entry) -> bool {
    a.root == b.root && priority(a) == priority(b)
}

/// The least comes first.
fn rank(entry: &Entry, order: Order, at: usize) -> impl Ord + use<> {
    (
        order.rank(entry.layer),
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
