//! Parses words into a verb and runs it, for a person and for the tools that take a command line.

use std::ffi::OsString;
use std::io::Write;

use clap::FromArgMatches;

use super::args::{Cli, Proposals, Sync, Verb, command};
use super::caller::{Answer, Caller, Failure};
use super::look::{
    info::{files, history},
    list_installed::list_installed,
    summary::summarize,
};
use super::options::Common;
use super::person::may;
use super::screen::Screen;
use super::set_up::man;
use crate::facts::Facts;
use crate::sys::{be_quiet, keep_told, kept, running, shown};

/// Runs a command; the answer is for standard output, and `live` receives output that cannot wait
/// for the end. Untrusted text in it is escaped by [`shown`].
///
/// # Errors
/// See [`Failure`].
pub fn run(facts: &Facts, words: &[OsString], caller: Caller, live: &mut dyn Write) -> Answer {
    let screen = Screen::new(&facts.run.env, caller);
    // The clock of its progress starts.
    let _ = running();
    let all = std::iter::once(OsString::from("agent-skills")).chain(words.iter().cloned());
    let parsed = command().try_get_matches_from(all);
    let cli = match parsed.and_then(|found| Cli::from_arg_matches(&found)) {
        Ok(cli) => cli,
        // Help and version are answers, although clap returns them as errors.
        Err(error) if !error.use_stderr() => return Ok(screen.fit(error.to_string())),
        Err(error) => return Err(Failure::Misused(error.to_string())),
    };
    let common = cli.common;
    be_quiet(common.quiet);
    let Some(verb) = cli.verb else {
        return Ok(screen.fit(command().render_help().to_string()));
    };
    // Other programs read it, so that nothing in it is altered: the model's text.
    let is_data = matches!(verb, Verb::Try(_));
    let is_file = common.json || is_file(&verb);
    let fit = |answer: String| match (is_data && !screen.is_terminal(), is_file) {
        (true, _) => answer,
        (false, true) => shown(answer, screen.colour),
        (false, false) => screen.fit(shown(answer, screen.colour)),
    };
    // Who reads this one's answer reads no text.
    let synced = match &verb {
        Verb::Sync(sync) if common.json => Some(sync.layer(facts)),
        _ => None,
    };
    let words = words.iter().map(|word| word.to_string_lossy().into_owned());
    // A host shows standard output only.
    if screen.is_host && !common.json {
        keep_told();
    }
    let answer = may(facts, caller, common, &verb, &words.collect::<Vec<_>>())
        .map_err(Failure::from)
        .and_then(|()| run_verb(facts, verb, common, caller, screen, live))
        .map_err(|failure| match failure {
            Failure::Failed(error) if common.verbose => error.with_causes().into(),
            other => other,
        })
        .map_err(|failure| match (failure, synced) {
            (Failure::Failed(error), Some(layer)) => Sync::refused(&error, layer, common),
            (other, _) => other,
        });
    with_told(answer).map(fit).map_err(|failure| match failure {
        Failure::Answered(text) => Failure::Answered(fit(text)),
        Failure::Changed(text) => Failure::Changed(fit(text)),
        other => other,
    })
}

/// The answer after what was told on the way. An error stays in front: its first word says that it
/// is one.
fn with_told(answer: Answer) -> Answer {
    let told = kept();
    match answer {
        Ok(answer) => Ok(told + &answer),
        Err(Failure::Answered(answer)) => Err(Failure::Answered(told + &answer)),
        Err(Failure::Changed(answer)) => Err(Failure::Changed(told + &answer)),
        Err(Failure::Failed(error)) if !told.is_empty() => {
            let next = error.next_step().unwrap_or_default();
            let next = format!("{next}\n\n{}", told.trim_end());
            Err(error.hint(next.trim_start()).into())
        }
        Err(failure) => Err(failure),
    }
}

/// Whether the output is, or contains, lines of a file, which are not broken.
fn is_file(verb: &Verb) -> bool {
    match verb {
        Verb::Show(show) => show.file.is_some(),
        Verb::Update(update) => update.diff,
        Verb::List(list) => list.sbom,
        Verb::Hosts(hosts) => hosts.shows_files(),
        Verb::Completions(_) | Verb::Complete(_) | Verb::Man | Verb::Try(_) => true,
        Verb::Proposals(proposals) => matches!(proposals, Proposals::Show { .. }),
        _ => false,
    }
}

fn run_verb(
    facts: &Facts,
    verb: Verb,
    common: Common,
    caller: Caller,
    screen: Screen,
    live: &mut dyn Write,
) -> Answer {
    Ok(match verb {
        Verb::Install(verb) => verb.run(facts, common, caller)?,
        Verb::Remove(verb) => verb.run(facts, common, caller)?,
        Verb::Sync(verb) => verb.run(facts, common, caller)?,
        Verb::Update(verb) if verb.check => verb.check(facts, common, caller)?,
        Verb::Update(verb) => verb.run(facts, common, caller)?,
        Verb::Rollback(verb) => verb.run(facts, common, caller)?,
        Verb::Proposals(verb) => verb.run(facts, common, caller)?,
        Verb::Verify(verb) => verb.run(facts, common, caller)?,
        Verb::Keys(verb) => verb.run(facts, common, caller, screen)?,
        Verb::Scan(verb) => verb.run(facts, common, caller)?,
        Verb::Show(verb) => verb.run(facts, common, caller)?,
        Verb::Sources(verb) => verb.run(facts, common, caller)?,
        Verb::List(verb) => verb.run(facts, common, screen)?,
        Verb::ListInstalled => list_installed(facts, common, screen, None, false)?,
        Verb::SearchInstalled(verb) => verb.run(facts, common)?,
        Verb::Search(verb) => verb.run(facts, common, screen)?,
        Verb::Deactivate(verb) => verb.run(facts, common, caller)?,
        Verb::Policy(verb) => verb.run(facts, common, screen)?,
        Verb::Jobs(verb) => verb.run(facts, common, live)?,
        Verb::Check(verb) => verb.run(facts, common)?,
        Verb::Suggest(verb) => verb.run(facts, common, caller, screen)?,
        Verb::Info(verb) if verb.files => files(&verb, facts, common, caller, screen)?,
        Verb::Info(verb) if verb.history => history(&verb, facts, common, caller)?,
        Verb::Info(verb) => verb.run(facts, common, caller, screen)?,
        Verb::Doctor(verb) => verb.run(facts, common, screen)?,
        Verb::Hosts(verb) => verb.run(facts, common, caller, screen)?,
        Verb::Confine(verb) => verb.run(facts, common, caller)?,
        Verb::Completions(verb) => verb.run(common)?,
        Verb::Man => man::page(command()),
        Verb::Complete(verb) => verb.run(facts, command()),
        Verb::Trust(verb) => verb.run(facts, common, caller)?,
        Verb::Approve(verb) => verb.run(facts, common, caller, screen)?,
        Verb::Enable(verb) => verb.run(facts, common, caller)?,
        Verb::Disable(verb) => verb.run(facts, common, caller)?,
        Verb::New(verb) => verb.run(facts, common, caller)?,
        Verb::Validate(verb) => verb.run(facts, common)?,
        Verb::Try(verb) => verb.run(facts, common)?,
        Verb::Simulate(verb) => verb.run(facts, common)?,
        Verb::Package(verb) => verb.run(facts, common, caller)?,
        Verb::Publish(verb) => verb.run(facts, common, caller)?,
        Verb::Audit(verb) if verb.summary => summarize(&verb, facts, common, screen)?,
        Verb::Audit(verb) => verb.run(facts, common, caller, screen, live)?,
        Verb::Config(verb) => verb.run(facts, common, caller, screen)?,
    })
}
