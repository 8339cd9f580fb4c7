//! `audit --summary`: how often each skill was used, and with what result, from the
//! audit log or from those of other machines; as a table, as JSON or as a page.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::audit::{Audit, each_since, since, tell_torn};
use super::figures::Tally;
use super::figures::{By, Figures, Summary};
use super::page::page;
use crate::catalog::{Catalog, Entry};
use crate::cli::{Cell, Column, Common, Screen, Table, json};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::policy::{audit_file, each_event_of};
use crate::skill::shown_name;
use crate::sys::text::count;
use crate::sys::{Durable, files};

/// Counts everything that happened since the time that is asked for.
pub fn summarize(audit: &Audit, facts: &Facts, common: Common, screen: Screen) -> Result<String> {
    let summary = summary(audit, facts)?;
    if let Some(file) = &audit.html {
        return write_page(audit, facts, common, file, &page(&summary));
    }
    json::answer(common, &answer(&summary), || {
        if summary.all.last_used.is_none() {
            return "No skill was used.\n".to_owned();
        }
        let (title, tally) = match audit.by.unwrap_or_default() {
            By::Skill => ("SKILL", &summary.skills),
            By::Model => ("MODEL", &summary.models),
            By::Host => ("HOST", &summary.hosts),
            By::Machine => ("MACHINE", &summary.machines),
        };
        table(title, tally).render(screen)
    })
}

fn summary(audit: &Audit, facts: &Facts) -> Result<Summary> {
    let (from, mut summary) = (since(audit.since.as_deref())?, Summary::default());
    let catalog = Catalog::of(facts);
    for skill in catalog.entries().iter().filter_map(Entry::usable) {
        summary.skills.reserve(skill.name.as_str());
    }
    if audit.log.is_empty() {
        each_since(facts, from, &mut |line| {
            summary.add(line, "this machine");
            Ok(())
        })?;
    }
    for log in &audit.log {
        let name = log.file_stem().unwrap_or(log.as_os_str()).to_string_lossy();
        let torn = each_event_of(&facts.run.env.cwd.join(log), &mut |line| {
            if line.time >= from {
                summary.add(line, &name);
            }
            Ok(())
        })?;
        tell_torn(torn);
    }
    Ok(summary)
}

fn write_page(
    audit: &Audit,
    facts: &Facts,
    common: Common,
    file: &Path,
    page: &str,
) -> Result<String> {
    let target = facts.run.env.cwd.join(file);
    let shown = shown_name(&file.to_string_lossy());
    let bytes = count(page.len(), "byte");
    let other = target
        .symlink_metadata()
        .is_ok_and(|found| !found.is_file());
    if other {
        let text = format!("`{shown}` is not a regular file");
        return Err(Error::new(text).hint("give the file to write: --html FILE.html"));
    }
    let read = audit.log.iter().map(|log| facts.run.env.cwd.join(log));
    let is_read = |log: PathBuf| {
        let same = log.canonicalize().ok().zip(target.canonicalize().ok());
        same.is_some_and(|(log, target)| log == target)
    };
    if read.chain([audit_file(facts.state())]).any(is_read) {
        let text = format!("`{shown}` is a log, which the page would replace");
        return Err(Error::new(text).hint("give another file: --html FILE.html"));
    }
    if common.dry_run {
        return Ok(format!("would write {shown}: {bytes}\n"));
    }
    files::replace(&target, page.as_bytes(), 0o644, Durable::No)
        .map_err(|error| error.hint("check the directory, or write elsewhere"))?;
    Ok(format!("Wrote {shown}: {bytes}\n"))
}

/// The summary in the format that `--json` documents.
fn answer(summary: &Summary) -> Value {
    let rules = summary.rules.rows();
    json!({
        "events": summary.events,
        "repeated": summary.repeated,
        "total": summary.all,
        "skills": rows("skill", &summary.skills),
        "models": rows("model", &summary.models),
        "hosts": rows("host", &summary.hosts),
        "machines": rows("machine", &summary.machines),
        "rules": rules.collect::<BTreeMap<_, _>>(),
        "never_used": summary.never_used().collect::<Vec<_>>(),
    })
}

fn rows(key: &str, tally: &Tally<Figures>) -> Vec<Value> {
    let used = tally.rows().filter(|(_, one)| one.last_used.is_some());
    let row = |(name, figures): (&str, &Figures)| {
        let mut row = Map::from_iter([(key.to_owned(), json!(name))]);
        if let Value::Object(figures) = json!(figures) {
            row.extend(figures);
        }
        Value::Object(row)
    };
    used.map(row).collect()
}

fn table(title: &'static str, tally: &Tally<Figures>) -> Table {
    let mut table = Table::headed(
        vec![
            Column::new(title, 12),
            Column::number("ACTIVATIONS"),
            Column::number("REFUSALS"),
            Column::number("SCRIPTS"),
            Column::number("SUCCEEDED"),
            Column::number("MEAN MS"),
            Column::number("SCRIPTS READ"),
            Column::number("TOKENS"),
            Column::new("LAST USED", 0),
        ],
        &[
            "TOKENS",
            "SCRIPTS READ",
            "MEAN MS",
            "SUCCEEDED",
            "LAST USED",
            "SCRIPTS",
            "REFUSALS",
        ],
    );
    for (name, one) in tally.rows() {
        let Some(last) = one.last_used else { continue };
        let cells = [
            name.to_owned(),
            one.activations.to_string(),
            one.refusals.to_string(),
            one.scripts.to_string(),
            one.scripts_succeeded.to_string(),
            one.mean()
                .map_or_else(|| "-".to_owned(), |mean| mean.to_string()),
            one.script_reads.to_string(),
            one.tokens.to_string(),
            last.local(),
        ];
        table.row(cells.into_iter().map(Cell::new).collect(), Vec::new());
    }
    table
}
