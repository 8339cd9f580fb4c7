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
    app: &RunContext,
    words: &[OsString],
    caller: Caller,
    live: &mut dyn Write,
) -> Result<String, Failure> {
    let screen = Screen::of(&app.env, caller);
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
    match answer(app, words, caller, live) {
        Ok(text) => Ok(fit(text)),
        Err(Failure::Answered(text)) => Err(Failure::Answered(fit(text))),
        Err(other) => Err(other),
    }
}

/// Verbs whose output other programs read: the model's text, and the reference validator's output.
const DATA: [&str; 3] = ["try", "read-properties", "to-prompt"];

fn answer(
    app: &RunContext,
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
    let screen = Screen::of(&app.env, caller);
    let Some(verb) = cli.verb else {
        return Ok(if screen.is_terminal() {
            welcome::welcome(app, screen)
        } else {
            help()
        });
    };
    let words = words.iter().map(|word| word.to_string_lossy().into_owned());
    may(app, caller, &verb, &words.collect::<Vec<_>>())?;
    Ok(match verb {
        Verb::Install(install) => market::install(app, install, caller)?,
        Verb::Remove { name, scope } => market::remove(app, &name, scope)?,
        Verb::Update(update) => market::update(app, &update, caller)?,
        Verb::Outdated { names, scope, json } => {
            market::outdated(app, &names, json, scope, caller)?
        }
        Verb::Rollback { name, scope } => market::rollback(app, &name, scope)?,
        Verb::History(of) => history::history(app, &of)?,
        Verb::Proposals(verb) => proposals::proposals(app, verb, caller)?,
        Verb::Verify { names, scope, json } => market::verify(app, &names, json, scope)?,
        Verb::Link { dir, name, scope } => market::link(app, &dir, name.as_deref(), scope)?,
        Verb::ImportLock {
            path,
            consent,
            scope,
        } => market::import_lock(app, &path, consent, scope, caller)?,
        Verb::Scan {
            target,
            json,
            fail_on,
            offline,
        } => look::scan(app, &target, json, fail_on, offline)?,
        Verb::Show { wanted, json } => look::show(app, &wanted, json)?,
        Verb::Cat { file, offline } => look::cat(app, &file, offline)?,
        Verb::Sources(verb) => look::sources(app, &verb)?,
        Verb::List(catalogue) => available::list(app, &catalogue, screen)?,
        Verb::Search { words, catalogue } => available::search(app, &words, &catalogue, screen)?,
        Verb::ListInstalled(listing) => installed::list(app, &listing, screen)?,
        Verb::SearchInstalled { words, json } => search::search(app, &words, json)?,
        Verb::Use { name, .. } => return Err(search::not_here(&name).into()),
        Verb::Check(call) => check(app, &call)?,
        Verb::Deactivate { context } => installed::deactivate(app, context.as_deref())?,
        Verb::Jobs {
            follow: Some(id), ..
        } => jobs::follow(app, &id, live)?,
        Verb::Jobs { follow: None, json } => jobs::list(app, json)?,
        Verb::Info { name, json } => info::info(app, &name, json, screen)?,
        Verb::Tree { name, json } => tree::tree(app, &name, json, screen)?,
        Verb::Doctor(options) => doctor::doctor(app, options, screen)?,
        Verb::Completions { shell } => complete::script(shell).to_owned(),
        Verb::Man => man::page(),
        Verb::Complete { words } => complete::complete(app, &words),
        Verb::Trust(TrustOf { list: true, .. }) => trust::list(app)?,
        Verb::Trust(of) => trust::trust(app, &of)?,
        Verb::Untrust(of) => trust::untrust(app, &of)?,
        Verb::Approve { name } => approve::approve(app, &name)?,
        Verb::Enable { name, name_only } => visibility::enable(app, &name, name_only)?,
        Verb::Disable { name, user } => visibility::disable(app, &name, user)?,
        Verb::New(wanted) => new::new(app, &wanted, caller)?,
        Verb::Try(wanted) => try_skill::try_skill(app, &wanted)?,
        Verb::Simulate(wanted) => simulate::simulate(app, &wanted)?,
        Verb::Package(wanted) => pack::pack(app, &wanted)?,
        Verb::Validate(given) => validate::validate(app, &given)?,
        Verb::ReadProperties { path } => validate::read_properties(&path)?,
        Verb::ToPrompt { paths } => validate::to_prompt(&paths)?,
        Verb::Audit(filter) => audit::audit(app, &filter)?,
        Verb::Stats { since, json } => stats::stats(app, since.as_deref(), json, screen)?,
        Verb::Config { verb } => config::config(app, verb)?,
    })
}

fn help() -> String {
    use clap::CommandFactory;
    Cli::command().render_help().to_string()
}
