//! `install`, `remove`, `update`, `list` and `search`: the marketplace's verbs, with consent.

use std::fmt::Write as _;
use std::io::BufRead;
use std::path::Path;
use std::time::{Duration, Instant};

use super::args::{Catalogue, Install};
use super::installed::{brief, to_json};
use super::run::Caller;
use crate::app::App;
use crate::error::{Error, Result};
use crate::marketplace::{
    Change, InstallOptions, Installed, Listed, Market, Plan, Planned, Status, Updated,
};
use crate::request::Protocol;
use crate::skill::one_line;
use crate::sys::limits;
use crate::sys::{remark, tell};

/// Installs what a reference names, after showing it to whoever can be asked.
pub fn install(app: &App, install: Install, caller: Caller) -> Result<String> {
    let asks = caller == Caller::Person { terminal: true } && !install.yes;
    let options = InstallOptions {
        all: install.all,
        skills: install.skill,
    };
    let mut confirm = |plan: &Plan| {
        tell(format_args!("{}", describe(plan)));
        !asks || agrees()
    };
    let market = market(app);
    let installed = market.install(&install.reference, &options, &mut confirm, &mut note)?;
    if installed
        .iter()
        .all(|skill| skill.status == Status::Declined)
    {
        return Err(Error::new("nothing was installed: you said no"));
    }
    Ok(installed.iter().map(outcome).collect())
}

fn outcome(skill: &Installed) -> String {
    let mut text = skill.summary() + "\n";
    for remark in skill.dropped.iter().chain(&skill.warnings) {
        let _ = writeln!(text, "  note: {}", one_line(remark));
    }
    if skill.status == Status::New {
        let _ = writeln!(text, "  it can be used from the next start of chibi on");
    }
    text
}

/// What would land: enough to decide about it.
fn describe(plan: &Plan) -> String {
    let commit = plan
        .commit
        .as_deref()
        .map(|commit| format!(" at {commit}"))
        .unwrap_or_default();
    let mut text = format!("From {}{commit}:\n", one_line(&plan.source));
    for skill in &plan.skills {
        describe_skill(&mut text, skill);
    }
    text
}

fn describe_skill(text: &mut String, skill: &Planned) {
    let description = brief(
        skill.description.as_deref().unwrap_or("no description"),
        200,
    );
    let _ = writeln!(text, "  {}: {description}", skill.name);
    let _ = writeln!(text, "    {} files, {} bytes", skill.files, skill.bytes);
    let list = |items: &[String]| brief(&items.join(", "), 300);
    if !skill.scripts.is_empty() {
        let _ = writeln!(text, "    scripts: {}", list(&skill.scripts));
    }
    let tools = match &skill.allowed_tools {
        None => "every tool, as it has no allowed-tools".to_owned(),
        Some(tools) => list(tools),
    };
    let _ = writeln!(text, "    may use: {tools}");
    for remark in skill.dropped.iter().chain(&skill.warnings) {
        let _ = writeln!(text, "    note: {}", one_line(remark));
    }
}

fn agrees() -> bool {
    tell(format_args!("Install? [y/N] "));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str())
}

/// Removes one skill.
pub fn remove(app: &App, name: &str) -> Result<String> {
    let removed = market(app).remove(name)?;
    Ok(format!("removed `{}`\n", removed.name))
}

/// Brings skills up to date.
pub fn update(app: &App, names: &[String]) -> Result<String> {
    let updated = market(app).update(names, &mut note)?;
    if updated.is_empty() {
        return Ok("No skill here came from a source that could have a newer one.\n".to_owned());
    }
    Ok(updated.iter().map(what_changed).collect())
}

fn what_changed(skill: &Updated) -> String {
    let name = &skill.name;
    let short = |commit: &Option<String>| {
        let commit = commit.as_deref().unwrap_or("an unknown state");
        commit.get(..12).unwrap_or(commit).to_owned()
    };
    match &skill.change {
        Change::UpToDate => format!("`{name}` is up to date\n"),
        Change::Updated { from, to, dropped } => {
            let mut text = format!(
                "`{name}` was updated from {} to {}\n",
                short(from),
                short(to)
            );
            for remark in dropped {
                let _ = writeln!(text, "  note: {}", one_line(remark));
            }
            text
        }
        Change::Kept { reason, hint } => {
            let hint = hint
                .as_deref()
                .map(|hint| format!("; {hint}"))
                .unwrap_or_default();
            format!(
                "`{name}` was left as it is: {}\n",
                one_line(&format!("{reason}{hint}"))
            )
        }
    }
}

/// What can be installed.
pub fn list(app: &App, catalogue: &Catalogue) -> Result<String> {
    let listed = market(app).list(catalogue.offline, &mut note)?;
    show(&listed, catalogue.json, "The source has no skills.\n")
}

/// What can be installed and has to do with some words.
pub fn search(app: &App, words: &[String], catalogue: &Catalogue) -> Result<String> {
    let listed = market(app).search(words, catalogue.offline, &mut note)?;
    let none = format!(
        "No skill matches `{}`. `list` shows all.\n",
        words.join(" ")
    );
    show(&listed, catalogue.json, &none)
}

fn show(listed: &[Listed], json: bool, none: &str) -> Result<String> {
    if json {
        return to_json(&listed);
    }
    if listed.is_empty() {
        return Ok(none.to_owned());
    }
    let width = listed
        .iter()
        .map(|skill| skill.reference.chars().count())
        .max()
        .unwrap_or(0);
    let line = |skill: &Listed| {
        let text = format!(
            "{:width$}  {}",
            one_line(&skill.reference),
            brief(&skill.description, 100)
        );
        text.trim_end().to_owned() + "\n"
    };
    Ok(listed.iter().map(line).collect())
}

/// Where the skill in `dir` came from, as one line.
pub fn origin(app: &App, dir: &str) -> Option<String> {
    let name = Path::new(dir).file_name()?.to_string_lossy();
    let entry = market(app).origin(&name).ok().flatten()?;
    let commit = entry
        .commit
        .map(|commit| format!(" at {commit}"))
        .unwrap_or_default();
    Some(format!("{}{commit}", entry.source))
}

fn market(app: &App) -> Market<'_> {
    let waits = || Instant::now() + Duration::from_secs(limits::HOST_CALL_SECONDS);
    Market {
        plugin_dir: &app.dirs.plugin,
        env: &app.env,
        deadline: (app.protocol == Some(Protocol::Stdin)).then(waits),
    }
}

fn note(text: &str) {
    remark(format_args!("{}", one_line(text)));
}
