//! Skills that the configuration activates in a context from the start (`uses_skills`). They are
//! activated like any other skill, by the prompt instead of a call.

use std::fmt::Write;

use crate::protocol::prelude::*;

const LEAD: &str = "## Skills in force\n\n\
    These instructions hold in this conversation from the start. Their skills need not be called.";

/// Characters of the always-on skills in one context: about 10,000 tokens in every system prompt.
/// 99 % of real skills have less than 39,000 bytes.
const ALWAYS_ON_CHARS: usize = 40_000;

/// A skill with the instructions that are shown.
type AlwaysOnSkill = (CalledSkill, Option<String>);

/// Activates them and returns the instructions that fit; a skill that cannot be activated is not
/// handed over. On the first prompt the user learns what is missing and why.
pub fn instructions(facts: &Facts, context: Option<&str>, is_first: bool) -> Option<String> {
    // With an unreadable configuration nothing is offered, and the user has been told.
    let config = facts.config().ok()?;
    let names = config.uses_skills.names_for(context.unwrap_or_default());
    let names: Vec<String> = names.unwrap_or_default().into_iter().cloned().collect();
    let tell = |name: &str, why: &dyn std::fmt::Display| {
        if is_first {
            let name = one_line(name);
            let why = one_line(&why.to_string());
            warn(format_args!("the skill `{name}` is not always on: {why}"));
        }
    };
    // Most users have none, and their prompt needs no catalog.
    let catalog = if names.is_empty() {
        Catalog::default()
    } else {
        Catalog::naming_each(facts, &names)
    };
    let chosen = choose(facts, &catalog, &names, &tell);
    // What is not handed over is not put in force.
    let shown = chosen.iter().filter(|(_, text)| text.is_some());
    let snapshots = shown.map(|(called, _)| snapshot(&called.skill, &called.tool));
    let snapshots: Vec<ActiveSkill> = snapshots.collect();
    // While one is missing without which nothing may be done, none is in force, so all is refused.
    let is_there = |name: &SkillName| snapshots.iter().any(|one| one.name == name.as_str());
    let is_whole = facts.policies().ok()?.always_on(true).all(is_there);
    let wanted = (!names.is_empty() && is_whole).then_some(&snapshots[..]);
    if let Err(error) = put_in_force(facts, &chosen, wanted) {
        let names: Vec<&str> = snapshots.iter().map(|skill| skill.name.as_str()).collect();
        let names = names.join(", ");
        warn(format_args!("not always on this time: {names}: {error}"));
        return None;
    }
    block(&chosen, catalog.has_one_tool())
}

/// The session in which a call is decided. If no prompt put its always-on skills in force, because
/// it was cut short or the host sent none, this does; [`judge`] refuses if it fails.
///
/// [`judge`]: crate::protocol::judge::judge
pub fn session(facts: &Facts) -> Result<Session, StateUnreadable> {
    let session = facts.session();
    let lacks = |session: &Session| missing_always_on(facts, session).is_some();
    if !session.as_ref().is_ok_and(lacks) {
        return session;
    }
    instructions(facts, facts.context().ok().flatten().as_deref(), true);
    facts.session()
}

/// The skills in the order of the configuration, with their instructions if there is room for them.
/// A shorter one may still fit after one that is too long.
fn choose(
    facts: &Facts,
    catalog: &Catalog,
    names: &[String],
    tell: &dyn Fn(&str, &dyn std::fmt::Display),
) -> Vec<AlwaysOnSkill> {
    let mut chosen: Vec<AlwaysOnSkill> = Vec::new();
    let mut room = ALWAYS_ON_CHARS;
    let session = facts.session().unwrap_or_default();
    for name in names {
        let found =
            find(catalog, name).and_then(|called| Ok((text(facts, &called, None)?, called)));
        let (text, mut called) = match found {
            Ok(found) => found,
            Err(error) => {
                tell(name, &error);
                continue;
            }
        };
        let dir = &called.skill.dir;
        if chosen.iter().any(|(other, _)| other.skill.dir == *dir) {
            continue;
        }
        let length = text.chars().count();
        // What a policy requires takes no room from the user's.
        let is_required = catalog.in_dir(dir).is_some_and(|entry| entry.is_required);
        let fits = is_required || length <= room;
        if !fits {
            let why =
                format!("it has {length} characters and {room} of {ALWAYS_ON_CHARS} are left");
            tell(name, &why);
        } else if !is_required {
            room -= length;
        }
        // What a model passed to one of them takes no room from the others.
        called.arguments = session.last_arguments(&called.skill).map(str::to_owned);
        let filled = self::text(facts, &called, called.arguments.as_deref());
        let filled = filled
            .ok()
            .filter(|text| text.chars().count() <= ALWAYS_ON_CHARS);
        chosen.push((called, fits.then(|| filled.unwrap_or(text))));
    }
    chosen
}

fn find(catalog: &Catalog, name: &str) -> Result<CalledSkill> {
    let entry = catalog.by_users_name(name);
    let entry = entry.ok_or_else(|| Error::new("there is no skill of this name"))?;
    let offered = entry.offered().map(|offered| offered.skill);
    let skill = offered
        .or_else(|| entry.shadowed())
        .ok_or_else(|| Error::new(entry.reason_not_offered().unwrap_or_default()))?;
    let qualified = format!("{}/{}", entry.layer, skill.name);
    Ok(CalledSkill::new(catalog, skill, Some(&qualified), None))
}

fn text(facts: &Facts, called: &CalledSkill, arguments: Option<&str>) -> Result<String> {
    let skill = &called.skill;
    let hooks = hooks_wait(skill).map(str::to_owned);
    Instructions {
        skill,
        reference: &called.reference,
        arguments,
        more: hooks.into_iter().collect(),
        wrapper: SKILL_CONTENT,
    }
    .text(facts)
}

fn put_in_force(
    facts: &Facts,
    chosen: &[AlwaysOnSkill],
    wanted: Option<&[ActiveSkill]>,
) -> Result<()> {
    let kept = facts.store().keep_always_on(facts.key(), wanted)?;
    for (called, _) in chosen {
        if kept.has_begun(&called.skill.dir) {
            facts.record(activation_event(&called.skill));
        }
    }
    facts.record_ends(kept.ended);
    Ok(())
}

fn block(chosen: &[AlwaysOnSkill], one_tool: bool) -> Option<String> {
    chosen.first()?;
    let mut block = LEAD.to_owned();
    // Writing to a string cannot fail.
    for text in chosen.iter().filter_map(|(_, text)| text.as_ref()) {
        let _ = write!(block, "\n\n{text}");
    }
    let hidden = chosen.iter().filter(|(_, text)| text.is_none());
    for (at, (called, _)) in hidden.enumerate() {
        if at == 0 {
            let lead = "Not shown for lack of room; call these tools before anything else:";
            let _ = write!(block, "\n\n{lead}");
        }
        let tool = match &*called.reference {
            _ if one_tool => ours::SKILL,
            name if name == called.skill.name.as_str() => &called.tool,
            _ => ours::MARKETPLACE,
        };
        let _ = write!(block, "\n- {} (tool `{tool}`)", called.reference);
    }
    Some(block)
}
