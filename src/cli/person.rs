//! The single function that checks whether the caller may run a command (see `decisions`).

use super::args::Verb;
use super::caller::{Caller, agent_above, decided_by_a_person, only_for_people, pasted};
use super::decisions::{Class, decision};
use super::model_install::model_may;
use super::options::Common;
use crate::catalog::{Catalog, Entry};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::protocol::ModelInstall;
use crate::session::snapshot;
use crate::skill::one_line;

/// Allows the caller to run `verb`, whose words are `words`, or refuses.
///
/// # Errors
/// When a person has to decide it.
pub fn may(
    facts: &Facts,
    caller: Caller,
    common: Common,
    verb: &Verb,
    words: &[String],
) -> Result<()> {
    let class = decision(common, verb).class;
    if class == Class::Reads {
        return Ok(());
    }
    let command = pasted(words);
    let agent = agent_above(facts, caller);
    let is_persons = caller != Caller::Host && agent.is_none();
    match (class, verb) {
        // Nothing is decided by it, and it shows a user's own program what that user may read.
        (Class::Decides, _) if common.dry_run && is_persons => Ok(()),
        (Class::Decides, _) => decided_by_a_person(facts, caller, &command),
        // It asks nobody, so without a terminal somebody has to have said yes.
        (_, Verb::Remove(_)) if is_persons && !common.yes && !common.dry_run => {
            decided_by_a_person(facts, caller, &command)
                .map_err(|error| error.hint("run it in a terminal; in a script `--yes` agrees"))
        }
        _ if is_persons => Ok(()),
        (_, Verb::Remove(remove)) if remove.names.iter().any(|name| is_in_force(facts, name)) => {
            Err(only_for_people(agent.as_ref(), &command))
        }
        // `pre_tool` has decided on a model's request; a direct call comes from the user.
        _ if agent.is_none() => Ok(()),
        _ => match model_may(facts, words) {
            ModelInstall::Allowed => Ok(()),
            ModelInstall::AllowedAs(reference) => {
                let words = one_line(&words.join(" "));
                let text = format!("`{words}` can be understood in several ways");
                Err(Error::new(text).hint(format!("write `agent-skills install {reference}`")))
            }
            ModelInstall::Refused(_) => Err(only_for_people(agent.as_ref(), &command)),
        },
    }
}

/// Whether the skill `written` restricts something or is always on: its removal would allow what it
/// denies.
fn is_in_force(facts: &Facts, written: &str) -> bool {
    let catalog = Catalog::naming(facts, written);
    let is_meant = |entry: &&Entry| {
        entry.name() == written || entry.dir.file_name().is_some_and(|dir| dir == written)
    };
    let named = catalog.by_name(written).into_iter();
    let mut meant = catalog.entries().iter().filter(is_meant).chain(named);
    meant.any(|entry| restricts(entry) || is_always_on(facts, entry))
}

fn restricts(entry: &Entry) -> bool {
    let skill = entry.disclosed();
    skill.is_some_and(|skill| snapshot(skill, "").is_restricted())
}

/// Whether it is always on in any context, even one invisible from this one. Doubt counts as yes.
fn is_always_on(facts: &Facts, entry: &Entry) -> bool {
    facts.config().map_or(true, |config| {
        let is_it = |name: &str| {
            let catalog = Catalog::naming(facts, name);
            let qualified = catalog.by_qualified_name(name);
            let named = qualified.or_else(|| catalog.by_name(name));
            named.is_some_and(|named| named.dir == entry.dir)
        };
        config.uses_skills.names().any(is_it)
    })
}
