//! The system prompt's block on active skills. The older host forgets tool results between prompts,
//! so the block repeats the instructions; the newer one keeps them, and a reminder covers what
//! compaction may have dropped (docs/hosts.md#generations).

use std::path::Path;

use serde_json::json;

use crate::activation::{Instructions, handed, to_read};
use crate::catalog::{Catalog, Entry};
use crate::facts::Facts;
use crate::host::{Protocol, ours};
use crate::session::{ActiveSkill, Session};
use crate::skill::{SKILL, Skill, guarded, wrapped};

/// All instructions of active skills that are repeated in the system prompt.
const REINJECTED: usize = 256 * 1024;

/// The block; `None` if nothing is active.
pub fn active_block(facts: &Facts) -> Option<String> {
    let session = facts.session().ok()?;
    // Always-on skills are in the prompt already.
    activated(&session).next()?;
    let mut block = reminder(&session);
    if facts.run.protocol == Some(Protocol::Environment) {
        block.push_str("\n\n<active_skills>");
        let catalog = Catalog::of(facts);
        let mut room = REINJECTED;
        let mut given: Vec<(&Skill, Option<&str>)> = Vec::new();
        for active in activated(&session) {
            let entry = catalog.in_dir(Path::new(&active.dir));
            let skill = entry.and_then(Entry::usable);
            let text = again(facts, skill, active);
            let text = if text.len() > room {
                let left_out = "Its instructions are too long to stand here.";
                let left_out = format!("{left_out} {}", to_read(&active.name, "SKILL.md"));
                wrapped(SKILL, &active.name, &left_out)
            } else {
                room -= text.len();
                given.extend(skill.map(|skill| (skill, active.arguments.as_deref())));
                text
            };
            block.push('\n');
            block.push_str(&text);
        }
        block.push_str("\n</active_skills>");
        // Arguments too long to store are lost after the call; calling the skill's tool with them
        // again returns its instructions again.
        handed(facts, &given);
    } else if let Some(last) = activated(&session).next_back()
        && is_there(last)
    {
        let read = to_read(&last.name, "SKILL.md");
        block = format!("{block} If they are no longer there: {read}");
        if let Some(arguments) = last.arguments.as_deref() {
            let text = "Its arguments, which replace $ARGUMENTS there:";
            let text = format!("{text}\n\n{}", guarded(arguments));
            block = format!("{block}\n\n{}", wrapped(SKILL, &last.name, &text));
        }
    }
    Some(block)
}

fn activated(session: &Session) -> impl DoubleEndedIterator<Item = &ActiveSkill> {
    let besides = |skill: &&ActiveSkill| !session.always.contains(&skill.dir);
    session.active().filter(besides)
}

fn reminder(session: &Session) -> String {
    let restricts = |active: &ActiveSkill| {
        let note = " (restricts which tools may be used)";
        let note = if active.is_restricted() { note } else { "" };
        let gone = " (its files are gone: tell the user)";
        let gone = if is_there(active) { "" } else { gone };
        format!("`{}`{note}{gone}", active.name)
    };
    let names: Vec<String> = activated(session).map(restricts).collect();
    format!(
        "## Active Skills\n\nActive now, the most recently loaded last: {}. Keep following their \
         instructions; later ones take precedence.",
        names.join(", ")
    )
}

/// A skill's current instructions. Its restriction stays as it was at activation.
fn again(facts: &Facts, skill: Option<&Skill>, active: &ActiveSkill) -> String {
    let Some(skill) = skill else {
        let gone = "This skill is gone or no longer offered. Its restrictions stay in force. \
                    Tell the user.";
        return wrapped(SKILL, &active.name, gone);
    };
    let changed = (skill.digest != active.digest).then(|| {
        format!(
            "It has changed since it was loaded, but its restrictions have not. To load it as it \
             is now: {} {}",
            ours::SESSION,
            json!({"action": "load", "names": [active.name], "mode": "add"})
        )
    });
    let name = skill.name.as_str();
    let instructions = Instructions {
        skill,
        reference: name,
        arguments: active.arguments.as_deref(),
        more: changed.into_iter().collect(),
        wrapper: SKILL,
    }
    .text(facts);
    instructions.unwrap_or_else(|why| {
        let unread = format!("Its instructions cannot be read: {why}. Tell the user.");
        wrapped(SKILL, name, &unread)
    })
}

fn is_there(active: &ActiveSkill) -> bool {
    Path::new(&active.dir).is_dir()
}
