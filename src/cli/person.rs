//! The single function that checks whether the caller may run a command (see `decisions`).

use super::args::Verb;
use super::caller::{
    Caller, decided_by_a_person, is_below_a_host, is_by_host, only_for_people, pasted,
};
use super::decision::Who;
use super::decisions::decision;
use super::mending::may_mend;
use super::model_install::model_may;
use super::options::Common;
use crate::catalog::Entry;
use crate::connection::last_seen;
use crate::error::{Error, Result};
use crate::host::agent::Agent;
use crate::protocol::ModelInstall;
use crate::run_context::RunContext;
use crate::session::snapshot;
use crate::skill::one_line;
use crate::sys::Moment;

/// Allows the caller to run `verb`, whose words are `words`, or refuses.
///
/// # Errors
/// When somebody else has to decide it.
pub fn may(
    ctx: &RunContext,
    caller: Caller,
    common: Common,
    verb: &Verb,
    words: &[String],
) -> Result<()> {
    let command = pasted(words);
    match (decision(common, verb).who, verb) {
        (Who::Anyone, _) => Ok(()),
        (Who::Remover, Verb::Remove(remove))
            if caller == Caller::Host && !is_below_a_host(ctx, caller) =>
        {
            let mut names = remove.names.iter();
            names.try_for_each(|name| may_take_away(ctx, caller, name, &command))
        }
        (Who::Person, Verb::Deactivate(_) | Verb::Doctor(_))
            if may_mend(ctx, caller, &command)?.is_some() =>
        {
            Ok(())
        }
        // Nothing is decided by it, and it shows a user's own program what that user may read.
        (Who::Person | Who::Remover | Who::Disconnector, _)
            if common.dry_run && !is_by_host(ctx, caller) && !is_below_a_host(ctx, caller) =>
        {
            Ok(())
        }
        (Who::Person | Who::Remover, _) => decided_by_a_person(ctx, caller, &command),
        (Who::Disconnector, _) => may_disconnect(ctx, caller, &command),
        // `pre_tool` has decided on a model's request; a direct call comes from the user.
        (Who::Installer, _) if !is_below_a_host(ctx, caller) => Ok(()),
        (Who::Installer, _) => match model_may(ctx, words) {
            ModelInstall::Allowed => Ok(()),
            ModelInstall::AllowedAs(reference) => {
                let words = one_line(&words.join(" "));
                let text = format!("`{words}` can be understood in several ways");
                Err(Error::new(text).hint(format!("write `agent-skills install {reference}`")))
            }
            ModelInstall::Refused(_) => Err(only_for_people(ctx, &command)),
        },
    }
}

/// How long an agent counts as at work after it asked, in milliseconds: no agent lets a command run
/// longer unless it is told to.
const AT_WORK: u64 = 10 * 60 * 1000;

/// Like [`decided_by_a_person`], but a script may do it too while no agent is at work: then it may be
/// no model, and it takes away nothing that is in force.
fn may_disconnect(ctx: &RunContext, caller: Caller, command: &str) -> Result<()> {
    decided_by_a_person(ctx, caller, command).or_else(|refused| {
        if is_by_host(ctx, caller) || is_below_a_host(ctx, caller) {
            return Err(refused);
        }
        let Some(why) = at_work(ctx) else {
            return Ok(());
        };
        let text =
            format!("only a person at a terminal can run `agent-skills {command}` now: {why}");
        Err(Error::new(text).hint("run it in a terminal, or when no agent is at work"))
    })
}

/// Which agent may be running this, if any.
fn at_work(ctx: &RunContext) -> Option<String> {
    let asked = Agent::ALL.into_iter().find(|agent| {
        last_seen(ctx, *agent).is_some_and(|seen| Moment::now().since(seen) < AT_WORK)
    });
    if let Some(agent) = asked {
        return Some(format!("{agent} asked less than ten minutes ago"));
    }
    match ctx.store().deactivate(None, true, &[]) {
        Ok(active) => {
            let first = active.first()?;
            Some(format!("the skill `{}` is active", one_line(&first.skill)))
        }
        Err(error) => Some(error.to_string()),
    }
}

/// Like [`decided_by_a_person`], for removing the skill `written`, but only if it restricts
/// something or is always on: removal would allow what it denies.
fn may_take_away(ctx: &RunContext, caller: Caller, written: &str, command: &str) -> Result<()> {
    let catalog = ctx.catalog_naming(written);
    let is_meant = |entry: &&Entry| {
        entry.name() == written || entry.dir.file_name().is_some_and(|dir| dir == written)
    };
    let named = catalog.by_name(written).into_iter();
    let mut meant = catalog.entries().iter().filter(is_meant).chain(named);
    if meant.any(|entry| restricts(entry) || is_always_on(ctx, entry)) {
        return decided_by_a_person(ctx, caller, command);
    }
    Ok(())
}

fn restricts(entry: &Entry) -> bool {
    let skill = entry.disclosed();
    skill.is_some_and(|skill| snapshot(skill, "").is_restricted())
}

/// Whether it is always on in any context, even one invisible from this one. Doubt counts as yes.
fn is_always_on(ctx: &RunContext, entry: &Entry) -> bool {
    ctx.config().map_or(true, |config| {
        let is_it = |name: &str| {
            let catalog = ctx.catalog_naming(name);
            let qualified = catalog.by_qualified_name(name);
            let named = qualified.or_else(|| catalog.by_name(name));
            named.is_some_and(|named| named.dir == entry.dir)
        };
        config.uses_skills.names().any(is_it)
    })
}
