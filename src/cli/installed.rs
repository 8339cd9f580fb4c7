//! `list-installed`: the installed skills and their diagnostics.

use std::time::Instant;

use super::json;
use super::options::{Listing, SortInstalled};
use super::report::Report;
use super::screen::{Paint, Screen};
use super::table::{Cell, Column, Table};
use crate::activation::run_post_hooks;
use crate::catalog::{Entry, Standing};
use crate::error::{Error, Result};
use crate::run_context::RunContext;
use crate::skill::{Diagnostic, Level, one_line};
use crate::sys::text::quoted;

/// Every skill directory, including those that are not offered.
pub fn list(ctx: &RunContext, listing: &Listing, screen: Screen) -> Result<String> {
    let catalog = ctx.catalog();
    let mut reports = Report::of_all(ctx, &catalog);
    if let Some(order) = listing.sort {
        sort(&mut reports, order);
    }
    if listing.json {
        return json::list("skills", &reports);
    }
    // A model learns only the number of untrusted skills, because even their names are untrusted
    // text.
    let is_untold = |entry: &&Entry| matches!(entry.standing, Standing::Untrusted(_));
    let untold = match ctx.protocol {
        Some(_) => catalog.entries().iter().filter(is_untold).count(),
        None => 0,
    };
    let untold = match untold {
        0 => String::new(),
        count => format!(
            "{count} more come with the project, which the user does not trust so far: they can see \
             them with `agent-skills list-installed`\n"
        ),
    };
    if reports.is_empty() && !untold.is_empty() {
        return Ok(untold);
    }
    if reports.is_empty() {
        return Ok(
            "No skills are installed. `agent-skills list` shows what there is.\n".to_owned(),
        );
    }
    let mut table = Table::new(
        vec![
            Column::new("NAME").least(12),
            Column::new("VERSION").least(7),
            Column::new("LAYER"),
            Column::new("SOURCE").least(12),
            Column::new("TOKENS").right(),
            Column::new("RESTRICTION"),
            Column::new("PROBLEMS").least(12),
        ],
        &[
            "VERSION",
            "SOURCE",
            "LAYER",
            "RESTRICTION",
            "TOKENS",
            "PROBLEMS",
        ],
    );
    // A model has no other way to see these lines.
    let long = listing.long || screen.is_host();
    for report in &reports {
        table.row(
            row(report, screen),
            if long { below(report) } else { Vec::new() },
        );
    }
    Ok(table.render(screen) + &untold)
}

fn sort(reports: &mut [Report], order: SortInstalled) {
    match order {
        SortInstalled::Name => reports.sort_by(|a, b| a.name.cmp(&b.name)),
        // The catalog's own order.
        SortInstalled::Layer => {}
        SortInstalled::Source => reports.sort_by_key(Report::origin),
        SortInstalled::Tokens => reports
            .sort_by_key(|report| std::cmp::Reverse(report.tokens.map(|cost| cost.instructions))),
        SortInstalled::Problems => reports
            .sort_by_key(|report| std::cmp::Reverse((report.worst(), report.diagnostics.len()))),
    }
}

fn row(report: &Report, screen: Screen) -> Vec<Cell> {
    let restriction = match &report.restriction {
        None => "",
        Some(restriction) if restriction.allowed.is_some() => "restricted",
        Some(_) => "denials",
    };
    // Without a heading, the number needs its unit.
    let unit = if screen.is_terminal() { "" } else { " tokens" };
    let tokens = report
        .tokens
        .map(|cost| format!("{}{unit}", cost.instructions));
    vec![
        Cell::new(one_line(&report.name)),
        Cell::new(one_line(report.version.as_deref().unwrap_or_default())),
        Cell::new(report.layer),
        Cell::new(one_line(&report.origin())).paint(Paint::Dim),
        Cell::new(tokens.unwrap_or_default()),
        Cell::new(restriction),
        problems(report),
    ]
}

/// The codes of the diagnostics, the worst first.
fn problems(report: &Report) -> Cell {
    let mut found: Vec<&Diagnostic> = report.diagnostics.iter().collect();
    found.sort_by_key(|found| std::cmp::Reverse(found.level));
    let codes: Vec<&str> = found.iter().map(|found| found.code.as_str()).collect();
    let codes = codes.join(", ");
    let text = match (report.offered, codes.is_empty()) {
        (true, _) => codes,
        (false, true) => "not offered".to_owned(),
        (false, false) => format!("not offered: {codes}"),
    };
    Cell::new(text).paint(match report.worst() {
        _ if !report.offered => Paint::Bad,
        Some(Level::Error) => Paint::Bad,
        Some(Level::Warning) => Paint::Warn,
        Some(Level::Note) | None => Paint::Dim,
    })
}

fn below(report: &Report) -> Vec<Cell> {
    let mut lines = Vec::new();
    if let Some(description) = &report.description {
        lines.push(Cell::new(one_line(description)));
    }
    lines.push(Cell::new(one_line(&report.path)).paint(Paint::Dim));
    lines.extend(report.diagnostics.iter().map(|found| {
        Cell::new(remark(found)).paint(match found.level {
            Level::Error => Paint::Bad,
            Level::Warning => Paint::Warn,
            Level::Note => Paint::Dim,
        })
    }));
    lines
}

/// A diagnostic on one line.
pub fn remark(diagnostic: &Diagnostic) -> String {
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

/// Deactivates skills in running hosts, and clears what is stored for conversations.
pub fn deactivate(ctx: &RunContext, context: Option<&str>) -> Result<String> {
    if let Some(context) = context {
        must_be_known(ctx, context)?;
    }
    let ended = ctx.store().deactivate(context)?;
    let names: Vec<String> = ended.iter().map(|end| end.skill.clone()).collect();
    ctx.record_ends(ended);
    run_post_hooks(ctx, false, Instant::now());
    Ok(match names.len() {
        0 => "Nothing was active.\n".to_owned(),
        _ => format!("No longer active: {}\n", names.join(", ")),
    })
}

/// A misspelled name would deactivate nothing and look like success.
fn must_be_known(ctx: &RunContext, context: &str) -> Result<()> {
    let Some(known) = ctx.store().contexts()? else {
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
