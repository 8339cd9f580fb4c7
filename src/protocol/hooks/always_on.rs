//! Skills that the configuration activates in a context from the start (`uses_skills`). They are
//! activated like any other skill, by the prompt instead of a call.

use std::fmt::Write;

use crate::activation::{Instructions, fork, hooks_wait};
use crate::catalog::{Catalog, Offered};
use crate::error::{Error, Result};
use crate::host::ours;
use crate::policy::Config;
use crate::protocol::authorize::lacks_always_on;
use crate::run_context::RunContext;
use crate::session::{ActiveSkill, Session, Unreadable, snapshot};
use crate::skill::{Skill, Wrapper, one_line};
use crate::sys::warn;

const LEAD: &str = "## Skills in force\n\n\
    These instructions hold in this conversation from the start. Their skills need not be called.";

/// Activates them and returns the instructions that fit; a skill that cannot be activated is not
/// handed over. On the first prompt the user learns what is missing and why.
pub fn instructions(ctx: &RunContext, context: Option<&str>, is_first: bool) -> Option<String> {
    // With an unreadable configuration nothing is offered, and the user has been told.
    let config = ctx.config().ok()?;
    let names = config.uses_skills.names_for(context.unwrap_or_default());
    let names = names.unwrap_or_default();
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
        ctx.catalog()
    };
    let chosen = choose(ctx, &config, &catalog, &names, &tell);
    let fitting = chosen.fitting.iter();
    let snapshots = fitting.map(|(offered, _)| snapshot(offered.skill, offered.tool));
    let snapshots: Vec<ActiveSkill> = snapshots.collect();
    let wanted = (!names.is_empty()).then_some(&snapshots[..]);
    if let Err(error) = put_in_force(ctx, &chosen, wanted) {
        let names: Vec<&str> = snapshots.iter().map(|skill| skill.name.as_str()).collect();
        let names = names.join(", ");
        warn(format_args!("not always on this time: {names}: {error}"));
        return None;
    }
    chosen.block(catalog.has_one_tool(config.max_tools.0))
}

/// The session in which a call is decided. If no prompt put its always-on skills in force, because
/// it was cut short or the host sent none, this does; [`authorize`] refuses if it fails.
///
/// [`authorize`]: crate::protocol::authorize::authorize
pub fn session(ctx: &RunContext) -> Result<Session, Unreadable> {
    let session = ctx.active();
    let lacks = |session: &Session| lacks_always_on(ctx, session).is_some();
    if !session.as_ref().is_ok_and(lacks) {
        return session;
    }
    instructions(ctx, ctx.context().as_deref(), true);
    ctx.active()
}

/// Ends the always-on skills: the conversation has changed.
pub fn end(ctx: &RunContext) {
    match ctx.store().keep_always_on(&ctx.session(), None) {
        Ok(kept) => ctx.record_ends(kept.ended),
        // They stay active, which is safe.
        Err(error) => warn(format_args!("{error}")),
    }
}

#[derive(Default)]
struct Chosen<'a> {
    /// Skills with their instructions.
    fitting: Vec<(Offered<'a>, String)>,
    too_long: Vec<Offered<'a>>,
}

/// Selects skills in order while there is room; a shorter one may still fit after one that is too
/// long.
fn choose<'a>(
    ctx: &RunContext,
    config: &Config,
    catalog: &'a Catalog,
    names: &[&str],
    tell: &dyn Fn(&str, &dyn std::fmt::Display),
) -> Chosen<'a> {
    let mut chosen = Chosen::default();
    let mut room = config.uses_skills_chars.0;
    for name in names {
        let found = offered(catalog, name).and_then(|one| Ok((one, text(ctx, one.skill)?)));
        let (offered, text) = match found {
            Ok(found) => found,
            Err(error) => {
                tell(name, &error);
                continue;
            }
        };
        let is_this = |other: &Offered| other.skill.name == offered.skill.name;
        if chosen.all().any(is_this) {
            continue;
        }
        let length = text.chars().count();
        if length > room {
            let all = config.uses_skills_chars.0;
            let why = format!(
                "it has {length} characters and {room} of {all} are left; \
                 `uses_skills_chars` in the configuration sets how many there are"
            );
            tell(name, &why);
            chosen.too_long.push(offered);
            continue;
        }
        room -= length;
        chosen.fitting.push((offered, text));
    }
    chosen
}

fn offered<'a>(catalog: &'a Catalog, name: &str) -> Result<Offered<'a>> {
    let entry = catalog.by_name(name);
    let entry = entry.ok_or_else(|| Error::new("there is no skill of this name"))?;
    let reason = || Error::new(entry.reason_not_offered().unwrap_or_default());
    entry.offered().ok_or_else(reason)
}

fn text(ctx: &RunContext, skill: &Skill) -> Result<String> {
    let forked = skill.fields.is_forked();
    let notes = forked.then(|| fork::note(fork::ALWAYS_ON));
    let hooks = hooks_wait(skill).map(str::to_owned);
    let kept = ctx.last_arguments(skill);
    ctx.instructions(Instructions {
        skill,
        reference: skill.name.as_str(),
        arguments: kept.as_deref(),
        more: notes.into_iter().chain(hooks).collect(),
        wrapper: Wrapper::SkillContent,
    })
}

fn put_in_force(ctx: &RunContext, chosen: &Chosen, wanted: Option<&[ActiveSkill]>) -> Result<()> {
    let kept = ctx.store().keep_always_on(&ctx.session(), wanted)?;
    ctx.record_ends(kept.ended);
    for (offered, _) in &chosen.fitting {
        if kept.began.contains(&offered.skill.name.to_string()) {
            ctx.record_activation(offered.skill);
        }
    }
    Ok(())
}

impl<'a> Chosen<'a> {
    fn all(&self) -> impl Iterator<Item = &Offered<'a>> {
        let fitting = self.fitting.iter().map(|(offered, _)| offered);
        fitting.chain(&self.too_long)
    }

    fn block(&self, one_tool: bool) -> Option<String> {
        self.all().next()?;
        let mut block = LEAD.to_owned();
        for (_, text) in &self.fitting {
            block.push_str("\n\n");
            block.push_str(text);
        }
        if !self.too_long.is_empty() {
            block.push_str("\n\nNot shown for want of room; call the tool before anything else:");
        }
        for offered in &self.too_long {
            // Writing to a string cannot fail.
            let tool = if one_tool { ours::SKILL } else { offered.tool };
            let _ = write!(block, "\n- {} (tool `{tool}`)", offered.skill.name);
        }
        Some(block)
    }
}
