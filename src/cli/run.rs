//! Parses words into a verb and runs it, for a person and for the tools that take a command line.

use crate::cli::prelude::*;
use std::ffi::OsString;
use std::io::Write;

use clap::FromArgMatches;

use super::args::{Cli, ProposalsCommand, SyncArgs, Verb, command};
use super::authorization::authorize;
use super::look::{list_installed::list_installed, summary::summarize};
use super::set_up::hosts::HostAction;
use crate::sys::{be_quiet, keep_messages, shown, take_kept_messages, time_running};

/// Runs a command; the answer is for standard output, and `live` receives output that cannot wait
/// for the end. Untrusted text in it is escaped by [`shown`].
///
/// # Errors
/// See [`Failure`].
pub fn run(facts: &Facts, words: &[OsString], caller: Caller, live: &mut dyn Write) -> Answer {
    let screen = Screen::new(&facts.run.env, caller == Caller::Host);
    // The clock of its progress starts.
    let _ = time_running();
    // `help VERB`, as many programs have it.
    let (asked, help) = match words.split_first() {
        Some((first, rest)) if first == "help" => {
            let end = rest.iter().position(|word| word == "--");
            (&rest[..end.unwrap_or(rest.len())], Some("--help".into()))
        }
        _ => (words, None),
    };
    let program = std::iter::once(OsString::from("agent-skills"));
    let all = program.chain(asked.iter().cloned()).chain(help);
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
    // Programs parse this answer, so its errors are JSON, too.
    let synced = match &verb {
        Verb::Sync(sync) if common.json => Some(sync.layer(facts)),
        _ => None,
    };
    let words = words.iter().map(|word| word.to_string_lossy().into_owned());
    let words: Vec<String> = words.collect();
    // A host shows standard output only.
    if screen.is_host && !common.json {
        keep_messages();
    }
    let call = CliCall {
        facts,
        common,
        caller,
        words: &words,
        screen,
    };
    let answer = authorize(call, &verb)
        .map_err(Failure::from)
        .and_then(|()| run_verb(call, verb, live))
        .map_err(|failure| match failure {
            Failure::Failed(error) if common.verbose => error.with_causes().into(),
            other => other,
        })
        .map_err(|failure| match (failure, synced) {
            (Failure::Failed(error), Some(layer)) => SyncArgs::refused(&error, layer, common),
            (other, _) => other,
        });
    with_told(answer)
        .map(fit)
        .map_err(|failure| failure.map(fit))
}

/// The answer after what was told on the way. An error stays in front: its first word says that it
/// is one.
fn with_told(answer: Answer) -> Answer {
    let told = take_kept_messages();
    match answer {
        Ok(answer) => Ok(told + &answer),
        Err(Failure::Failed(error)) if !told.is_empty() => {
            let next = error.next_step().unwrap_or_default();
            let next = format!("{next}\n\n{}", told.trim_end());
            Err(error.hint(next.trim_start()).into())
        }
        Err(failure) => Err(failure.map(|answer| told + &answer)),
    }
}

/// Whether the output is, or contains, lines of a file, which are not broken.
fn is_file(verb: &Verb) -> bool {
    match verb {
        Verb::Show(show) => show.file.is_some(),
        Verb::Update(update) => update.diff,
        Verb::List(list) => list.sbom,
        Verb::Hosts(hosts) => {
            matches!(
                hosts.change,
                Some(HostAction::Add { .. } | HostAction::Remove { .. })
            )
        }
        Verb::Completions(_) | Verb::Complete(_) | Verb::Try(_) => true,
        Verb::Proposals(proposals) => matches!(proposals, ProposalsCommand::Show { .. }),
        _ => false,
    }
}

/// Runs each of these verbs, whose `run` takes nothing but the call; the others by arms of their own.
macro_rules! run {
    ($verb:ident, $call:ident: $($plain:ident)*; $($others:tt)*) => {
        Ok(match $verb { $(Verb::$plain(verb) => verb.run($call)?,)* $($others)* })
    };
}

fn run_verb(call: CliCall, verb: Verb, live: &mut dyn Write) -> Answer {
    run!(verb, call:
        Install Update Remove Sync Search Show Sources List Info Check Suggest New Validate Try Simulate
        Package Publish Proposals Trust Approve Enable Disable Scan Verify Keys Rollback Deactivate
        Policy Doctor Config Hosts Completions SearchInstalled Confine;
        Verb::Audit(verb) if verb.summary => summarize(&verb, call)?,
        Verb::Audit(verb) => verb.run(call)?,
        Verb::Jobs(verb) => verb.run(call, live)?,
        Verb::ListInstalled => list_installed(call, false)?,
        Verb::Complete(verb) => verb.run(call.facts, command()),
    )
}
