//! `list-installed` and `info`: what is here.

use std::fmt::Write;
use std::time::Instant;

use super::report::{Origins, Report};
use super::run::Caller;
use crate::app::{App, quoted, run_post_hooks, suggestion};
use crate::catalog::{Cut, Disclosure};
use crate::error::{Error, Result};
use crate::skill::{Diagnostic, Level, Listing, Skill, one_line, shown_tokens};
use crate::sys::limits;

/// Every skill directory, those that are not offered included.
pub fn list(app: &App, json: bool) -> Result<String> {
    let catalog = app.catalog();
    let config = app.config().unwrap_or_default();
    let disclosure = Disclosure::of(&catalog, config.budget());
    let origins = Origins::default();
    let report = |entry| {
        let mut report = Report::of(app, &origins, entry);
        let cut = disclosure.cut_of(entry).map(Cut::diagnostic);
        report.diagnostics.extend(cut);
        report
    };
    let reports: Vec<Report> = catalog.entries().iter().map(report).collect();
    if json {
        return to_json(&reports);
    }
    if reports.is_empty() {
        return Ok(
            "No skills are installed. `agent-skills list` shows what there is.\n".to_owned(),
        );
    }
    let width = reports
        .iter()
        .map(|report| report.name.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for report in &reports {
        let offer = match (&report.restriction, report.offered) {
            (_, false) => "not offered",
            (Some(_), true) => "restricted",
            (None, true) => "",
        };
        let description = brief(report.description.as_deref().unwrap_or_default(), 100);
        let line = format!(
            "{:width$}  {offer:11}  {description}",
            one_line(&report.name)
        );
        let _ = writeln!(text, "{}", line.trim_end());
        let (version, commit) = (report.version.as_deref(), report.commit.as_deref());
        if let Some(at) = state(version, commit) {
            let _ = writeln!(text, "{:width$}  {at}", "");
        }
        if let Some(to) = &report.linked_to {
            let _ = writeln!(text, "{:width$}  linked to {}", "", one_line(to));
        }
        for diagnostic in &report.diagnostics {
            let _ = writeln!(text, "{:width$}  {}", "", remark(diagnostic));
        }
    }
    Ok(text)
}

/// A version and a commit as one phrase.
pub fn state(version: Option<&str>, commit: Option<&str>) -> Option<String> {
    let version = version.map(|version| format!("version {}", brief(version, 40)));
    let commit = commit.map(|commit| format!("at {}", commit.get(..12).unwrap_or(commit)));
    let parts: Vec<String> = version.into_iter().chain(commit).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Everything about one skill.
pub fn info(app: &App, name: &str, json: bool) -> Result<String> {
    let catalog = app.catalog_naming(name);
    let entry = catalog.by_name(name).ok_or_else(|| {
        Error::new(format!("there is no installed skill `{}`", quoted(name)))
            .hint(suggestion(&catalog, name))
    })?;
    let report = Report::of(app, &Origins::default(), entry);
    if json {
        return to_json(&report);
    }
    let mut text = String::new();
    let mut field = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:12} {}", one_line(value));
    };
    field("name", &report.name);
    field(
        "tool",
        report.tool.as_deref().unwrap_or("none: it is not offered"),
    );
    field(
        "description",
        report.description.as_deref().unwrap_or("none"),
    );
    field("path", &report.path);
    field("layer", report.layer);
    for rival in catalog.rivals(entry) {
        let state = rival
            .reason_not_offered()
            .unwrap_or_else(|| "it is the one that is offered".to_owned());
        field(
            "also",
            &format!("{} ({}): {state}", rival.dir.display(), rival.layer),
        );
    }
    if let Some((skill, tokens)) = entry.disclosed().zip(report.tokens) {
        let callers = callers(skill, entry.tool.is_some());
        field("called by", callers);
        for key in ["license", "compatibility"] {
            if let Some(value) = skill.fields.text(key) {
                field(key, &value);
            }
        }
        if let Some(version) = &report.version {
            field("version", version);
        }
        field("tokens", &format!("approx. {}", shown_tokens(tokens)));
        let listing = Listing::of(&skill.dir, limits::LISTED_RESOURCES);
        field("files", &listing.total.to_string());
    }
    if let Some(entry) = super::market::origin(app, &report.path) {
        field("source", &entry);
    }
    match &report.restriction {
        None => field(
            "restriction",
            "none: every tool may be used while it is active",
        ),
        Some(restriction) => {
            let last = "while it is active, only what is listed here and what is always allowed";
            field(
                "restriction",
                if restriction.allowed.is_some() {
                    last
                } else {
                    "denials only"
                },
            );
            for rule in &restriction.rules {
                field("", rule);
            }
        }
    }
    for diagnostic in &report.diagnostics {
        let _ = writeln!(text, "{}", remark(diagnostic));
    }
    Ok(text)
}

/// Who may activate it.
fn callers(skill: &Skill, offered: bool) -> &'static str {
    match (offered, skill.fields.user_invocable()) {
        (true, true) => "the model and people",
        (true, false) => "the model",
        (false, true) => "people",
        (false, false) => "nobody",
    }
}

/// Ends what is active in hosts that run now, and what is kept for conversations.
pub fn deactivate(app: &App, context: Option<&str>, caller: Caller) -> Result<String> {
    // Through the host it could be the model who asks, by way of another plugin's shell.
    if caller == Caller::Host {
        return Err(
            Error::new("only a person at a shell can end what is active")
                .hint("ask the user to run `agent-skills deactivate`"),
        );
    }
    if let Some(context) = context {
        must_be_known(app, context)?;
    }
    let ended = app.store().deactivate(context)?;
    let names: Vec<String> = ended.iter().map(|end| end.skill.clone()).collect();
    app.record_ends(ended);
    run_post_hooks(app, false, Instant::now());
    Ok(match names.len() {
        0 => "Nothing was active.\n".to_owned(),
        _ => format!("No longer active: {}\n", names.join(", ")),
    })
}

/// A misspelt name would end nothing, and look as if there were nothing to end.
fn must_be_known(app: &App, context: &str) -> Result<()> {
    let Some(known) = app.store().contexts()? else {
        return Ok(());
    };
    if known.contains(context) {
        return Ok(());
    }
    let known: Vec<String> = known
        .iter()
        .map(|name| format!("`{}`", quoted(name)))
        .collect();
    let text = format!("no conversation `{}` is known", quoted(context));
    Err(Error::new(text).hint(match known.len() {
        0 => "leave out --context to end whatever is active".to_owned(),
        _ => format!("known are {}", known.join(", ")),
    }))
}

fn remark(diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.level {
        Level::Note => "note",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    format!(
        "{level}: {} ({})",
        one_line(&diagnostic.message),
        diagnostic.code
    )
}

/// At most `max` characters on one line.
pub fn brief(text: &str, max: usize) -> String {
    let line = one_line(text);
    if line.chars().count() <= max {
        return line;
    }
    let kept: String = line.chars().take(max - 1).collect();
    format!("{}…", kept.trim_end())
}

pub fn to_json(value: &impl serde::Serialize) -> Result<String> {
    let json =
        serde_json::to_string_pretty(value).map_err(|error| Error::new(error.to_string()))?;
    Ok(json + "\n")
}
