//! Parses words into a verb and runs it, for a person and for the tools that take a command line.

use std::ffi::OsString;
use std::io::Write;

use clap::Parser;

use super::args::{Cli, Verb};
use super::caller::{Caller, Failure};
use super::check::check;
use super::person::may;
use super::screen::Screen;
use super::trust::{self, TrustOf};
use super::{
    approve, audit, available, complete, config, doctor, history, info, installed, jobs, look, man,
    market, new, pack, proposals, search, simulate, stats, tree, try_skill, validate, visibility,
    welcome,
};
use crate::run_context::RunContext;
use crate::sys::shown;

/// Runs a command; the answer is for standard output, and `live` receives output that cannot wait
/// for the end. Untrusted text in it is escaped by [`shown`].
///
/// # Errors
/// See [`Failure`].
pub fn run(
    ctx: &RunContext,
    words: &[OsString],
    caller: Caller,
    live: &mut dyn Write,
) -> Result<String, Failure> {
    let screen = Screen::of(&ctx.env, caller);
    // Output for another program is data and must not be altered.
    let is_data = words
        .first()
        .is_some_and(|verb| DATA.iter().any(|data| verb == data));
    let is_shown = !is_data || screen.is_terminal();
    let fit = |answer: String| {
        if is_shown {
            shown(&answer, screen.is_coloured())
        } else {
            answer
        }
    };
    match answer(ctx, words, caller, live) {
        Ok(text) => Ok(fit(text)),
        Err(Failure::Answered(text)) => Err(Failure::Answered(fit(text))),
        Err(other) => Err(other),
    }
}

/// Verbs whose output other programs read: the model's text, and the reference validator's output.
const DATA: [&str; 3] = ["try", "read-properties", "to-prompt"];

fn answer(
    ctx: &RunContext,
    words: &[OsString],
    caller: Caller,
    live: &mut dyn Write,
) -> Result<String, Failure> {
    let all = std::iter::once(OsString::from("agent-skills")).chain(words.iter().cloned());
    let cli = match Cli::try_parse_from(all) {
        Ok(cli) => cli,
        // Help and version are answers, although clap returns them as errors.
        Err(error) if !error.use_stderr() => return Ok(error.to_string()),
        Err(error) => return Err(Failure::Misused(error.to_string())),
    };
    let screen = Screen::of(&ctx.env, caller);
    let Some(verb) = cli.verb else {
        return Ok(if screen.is_terminal() {
            welcome::welcome(ctx, screen)
        } else {
            help()
        });
    };
    let words = words.iter().map(|word| word.to_string_lossy().into_owned());
    may(ctx, caller, &verb, &words.collect::<Vec<_>>())?;
    Ok(match verb {
        Verb::Install(install) => market::install(ctx, install, caller)?,
        Verb::Remove { name, scope } => market::remove(ctx, &name, scope)?,
        Verb::Update(update) => market::update(ctx, &update, caller)?,
        Verb::Outdated { names, scope, json } => {
            market::outdated(ctx, &names, json, scope, caller)?
        }
        Verb::Rollback { name, scope } => market::rollback(ctx, &name, scope)?,
        Verb::History(of) => history::history(ctx, &of)?,
        Verb::Proposals(verb) => proposals::proposals(ctx, verb, caller)?,
        Verb::Verify { names, scope, json } => market::verify(ctx, &names, json, scope)?,
        Verb::Link { dir, name, scope } => market::link(ctx, &dir, name.as_deref(), scope)?,
        Verb::ImportLock {
            path,
            consent,
            scope,
        } => market::import_lock(ctx, &path, consent, scope, caller)?,
        Verb::Scan {
            target,
            json,
            fail_on,
            offline,
        } => look::scan(ctx, &target, json, fail_on, offline)?,
        Verb::Show { wanted, json } => look::show(ctx, &wanted, json)?,
        Verb::Cat { file, offline } => look::cat(ctx, &file, offline)?,
        Verb::Sources(verb) => look::sources(ctx, &verb)?,
        Verb::List(catalogue) => available::list(ctx, &catalogue, screen)?,
        Verb::Search { words, catalogue } => available::search(ctx, &words, &catalogue, screen)?,
        Verb::ListInstalled(listing) => installed::list(ctx, &listing, screen)?,
        Verb::SearchInstalled { words, json } => search::search(ctx, &words, json)?,
        Verb::Use { name, .. } => return Err(search::not_here(&name).into()),
        Verb::Check(call) => check(ctx, &call)?,
        Verb::Deactivate { context } => installed::deactivate(ctx, context.as_deref())?,
        Verb::Jobs {
            follow: Some(id), ..
        } => jobs::follow(ctx, &id, live)?,
        Verb::Jobs { follow: None, json } => jobs::list(ctx, json)?,
        Verb::Info { name, json } => info::info(ctx, &name, json, screen)?,
        Verb::Tree { name, json } => tree::tree(ctx, &name, json, screen)?,
        Verb::Doctor(options) => doctor::doctor(ctx, options, screen)?,
        Verb::Completions { shell } => complete::script(shell).to_owned(),
        Verb::Man => man::page(),
        Verb::Complete { words } => complete::complete(ctx, &words),
        Verb::Trust(TrustOf { list: true, .. }) => trust::list(ctx)?,
        Verb::Trust(of) => trust::trust(ctx, &of)?,
        Verb::Untrust(of) => trust::untrust(ctx, &of)?,
        Verb::Approve { name } => approve::approve(ctx, &name)?,
        Verb::Enable { name, name_only } => visibility::enable(ctx, &name, name_only)?,
        Verb::Disable { name, user } => visibility::disable(ctx, &name, user)?,
        Verb::New(wanted) => new::new(ctx, &wanted, caller)?,
        Verb::Try(wanted) => try_skill::try_skill(ctx, &wanted)?,
        Verb::Simulate(wanted) => simulate::simulate(ctx, &wanted)?,
        Verb::Package(wanted) => pack::pack(ctx, &wanted)?,
        Verb::Validate(given) => validate::validate(ctx, &given)?,
        Verb::ReadProperties { path } => validate::read_properties(&path)?,
        Verb::ToPrompt { paths } => validate::to_prompt(&paths)?,
        Verb::Audit(filter) => audit::audit(ctx, &filter)?,
        Verb::Stats { since, json } => stats::stats(ctx, since.as_deref(), json, screen)?,
        Verb::Config { verb } => config::config(ctx, verb)?,
    })
}

fn help() -> String {
    use clap::CommandFactory;
    Cli::command().render_help().to_string()
}
