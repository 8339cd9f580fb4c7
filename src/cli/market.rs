//! `install`, `remove`, `update`, `list` and `search`: the marketplace's verbs, with consent.

use std::fmt::Write as _;
use std::io::{BufRead, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use super::args::{Catalogue, Install};
use super::installed::{brief, to_json};
use super::run::Caller;
use crate::app::App;
use crate::catalog::Layer;
use crate::error::{Error, Result};
use crate::governance::{Event, Policies};
use crate::marketplace::{
    Change, InstallOptions, Installed, Listed, Market, Plan, Planned, Status, Updated,
};
use crate::request::Protocol;
use crate::skill::one_line;
use crate::sys::limits;

/// Installs what a reference names, after showing it to whoever can be asked.
pub fn install(app: &App, install: Install, caller: Caller) -> Result<String> {
    let asks = caller == Caller::Person { terminal: true } && !install.yes;
    let options = InstallOptions {
        all: install.all,
        skills: install.skill,
    };
    let policies = app.policies()?;
    let mut forbidden = None;
    let mut confirm = |plan: &Plan| {
        forbidden = forbidden_by(&policies, plan).filter(|_| install.layer != Layer::Enterprise);
        if forbidden.is_some() {
            return false;
        }
        eprint!("{}", describe(plan));
        !asks || agrees()
    };
    let dir = app.layer_dir(install.layer)?;
    let market = market(app, &dir);
    let installed = market.install(&install.reference, &options, &mut confirm, &mut note)?;
    if let Some(reason) = forbidden {
        return Err(Error::new(format!("nothing was installed: {reason}"))
            .hint("ask the administrator of this machine"));
    }
    for skill in installed.iter().filter(|skill| skill.status == Status::New) {
        let event = Event::new("install")
            .with("skill", skill.name.as_str())
            .with("source", skill.source.clone())
            .with("commit", skill.commit.clone())
            .with("layer", install.layer.as_str());
        app.record(event);
    }
    if installed
        .iter()
        .all(|skill| skill.status == Status::Declined)
    {
        return Err(Error::new("nothing was installed: you said no"));
    }
    let mut text: String = installed.iter().map(outcome).collect();
    if install.layer == Layer::Project {
        text.push_str("  it is used once the project is trusted: agent-skills trust\n");
    }
    Ok(text)
}

/// Why a policy keeps this from being installed, if one does.
fn forbidden_by(policies: &Policies, plan: &Plan) -> Option<String> {
    let refused =
        |skill: &Planned| policies.refuses_skill(skill.name.as_str(), skill.name.as_str());
    policies
        .refuses_source(Some(&plan.source))
        .or_else(|| plan.skills.iter().find_map(refused))
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
    eprint!("Install? [y/N] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str())
}

/// Removes one skill.
pub fn remove(app: &App, name: &str, layer: Layer) -> Result<String> {
    let removed = market(app, &app.layer_dir(layer)?).remove(name)?;
    let event = Event::new("remove")
        .with("skill", removed.name.as_str())
        .with("source", removed.source.clone())
        .with("layer", layer.as_str());
    app.record(event);
    Ok(format!("removed `{}`\n", removed.name))
}

/// Brings skills up to date.
pub fn update(app: &App, names: &[String], layer: Layer) -> Result<String> {
    let updated = market(app, &app.layer_dir(layer)?).update(names, &mut note)?;
    for skill in &updated {
        if let Change::Updated { from, to, .. } = &skill.change {
            let event = Event::new("update")
                .with("skill", skill.name.as_str())
                .with("from", from.clone())
                .with("commit", to.clone())
                .with("layer", layer.as_str());
            app.record(event);
        }
    }
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
    let listed = market(app, &app.dirs.plugin).list(catalogue.offline, &mut note)?;
    show(&listed, catalogue.json, "The source has no skills.\n")
}

/// What can be installed and has to do with some words.
pub fn search(app: &App, words: &[String], catalogue: &Catalogue) -> Result<String> {
    let listed = market(app, &app.dirs.plugin).search(words, catalogue.offline, &mut note)?;
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
    let dir = Path::new(dir);
    let name = dir.file_name()?.to_string_lossy();
    let layer_dir = dir.parent()?.parent()?;
    let entry = market(app, layer_dir).origin(&name).ok().flatten()?;
    let commit = entry
        .commit
        .map(|commit| format!(" at {commit}"))
        .unwrap_or_default();
    Some(format!("{}{commit}", entry.source))
}

fn market<'a>(app: &'a App, layer_dir: &'a Path) -> Market<'a> {
    let waits = || Instant::now() + Duration::from_secs(limits::HOST_CALL_SECONDS);
    Market {
        plugin_dir: layer_dir,
        env: &app.env,
        deadline: (app.protocol == Some(Protocol::Stdin)).then(waits),
    }
}

fn note(text: &str) {
    eprintln!("agent-skills: {}", one_line(text));
}
