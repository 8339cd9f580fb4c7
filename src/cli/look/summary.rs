//! `audit --summary`: how often each skill was used, and with what result, from the audit log or from
//! those of other machines; as a table, as JSON or as a page of tables that needs nothing else: no
//! network, no script, no font, no image. Names in it are strangers' and are escaped; should one slip
//! through, the page forbids everything but its own style.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::audit::{Audit, each_since, since, tell_torn};
use super::figures::{By, DAY, Figures, Summary, Tally};
use crate::catalog::Entry;
use crate::cli::prelude::*;
use crate::policy::{audit_file, each_event_of};
use crate::skill::shown_name;
use crate::sys::text::count;
use crate::sys::{Durable, Moment, files};

/// Counts everything that happened since the time that is asked for.
pub fn summarize(audit: &Audit, call: Call) -> Result<String> {
    let summary = summary(audit, call.facts)?;
    if let Some(file) = &audit.html {
        return write_page(audit, call, file, &page(&summary));
    }
    call.answer(&answer(&summary), || {
        if summary.all.last_used.is_none() {
            return "No skill was used.\n".to_owned();
        }
        let (title, tally) = match audit.by.unwrap_or_default() {
            By::Skill => ("SKILL", &summary.skills),
            By::Model => ("MODEL", &summary.models),
            By::Host => ("HOST", &summary.hosts),
            By::Machine => ("MACHINE", &summary.machines),
        };
        table(title, tally).render(call.screen)
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

fn write_page(audit: &Audit, call: Call, file: &Path, page: &str) -> Result<String> {
    let target = call.facts.run.env.cwd.join(file);
    let shown = shown_name(&file.to_string_lossy());
    let bytes = count(page.len(), "byte");
    let other = target
        .symlink_metadata()
        .is_ok_and(|found| !found.is_file());
    if other {
        let text = format!("`{shown}` is not a regular file");
        return Err(Error::new(text).hint("give the file to write: --html FILE.html"));
    }
    let read = audit.log.iter().map(|log| call.facts.run.env.cwd.join(log));
    let is_read = |log: PathBuf| {
        let same = log.canonicalize().ok().zip(target.canonicalize().ok());
        same.is_some_and(|(log, target)| log == target)
    };
    if read.chain([audit_file(call.facts.state())]).any(is_read) {
        let text = format!("`{shown}` is a log, which the page would replace");
        return Err(Error::new(text).hint("give another file: --html FILE.html"));
    }
    if call.common.dry_run {
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
        "total": value(&summary.all),
        "skills": rows("skill", &summary.skills),
        "models": rows("model", &summary.models),
        "hosts": rows("host", &summary.hosts),
        "machines": rows("machine", &summary.machines),
        "rules": rules.collect::<BTreeMap<_, _>>(),
        "never_used": summary.never_used().collect::<Vec<_>>(),
    })
}

/// The figures as data, in which "" is that it was not used.
fn value(figures: &Figures) -> Value {
    let last = figures.last_used.map(|moment| moment.to_string());
    with(
        json!(figures),
        json!({"last_used": last.unwrap_or_default()}),
    )
}

fn rows(key: &str, tally: &Tally<Figures>) -> Vec<Value> {
    let row = |(name, figures): (&str, &Figures)| with(json!({key: name}), value(figures));
    tally.used().map(row).collect()
}

/// Each figure with its headings, in the table and on the page; without one it is not there.
fn cells(one: &Figures) -> [(&'static str, &'static str, String); 8] {
    let mean = one.mean().map(|mean| mean.to_string());
    [
        ("ACTIVATIONS", "Activations", one.activations.to_string()),
        ("REFUSALS", "Refusals", one.refusals.to_string()),
        ("", "Of paths", one.path_refusals.to_string()),
        ("SCRIPTS", "Scripts", one.scripts.to_string()),
        ("SUCCEEDED", "Succeeded", one.scripts_succeeded.to_string()),
        ("MEAN MS", "", mean.unwrap_or("-".to_owned())),
        ("SCRIPTS READ", "Scripts read", one.script_reads.to_string()),
        ("TOKENS", "Tokens", one.tokens.to_string()),
    ]
}

fn table(title: &'static str, tally: &Tally<Figures>) -> Table {
    let of = |one: &Figures| {
        cells(one)
            .into_iter()
            .filter(|(heading, ..)| !heading.is_empty())
    };
    let mut columns = vec![Column::new(title, 12)];
    columns.extend(of(&Figures::default()).map(|(heading, ..)| Column::number(heading)));
    columns.push(Column::new("LAST USED", 0));
    let leave_out = &[
        "TOKENS",
        "SCRIPTS READ",
        "MEAN MS",
        "SUCCEEDED",
        "LAST USED",
        "SCRIPTS",
        "REFUSALS",
    ];
    let mut table = Table::new(columns, leave_out).headed();
    for (name, one) in tally.used() {
        let last = one.last_used.map(Moment::local).unwrap_or_default();
        let mut cells = vec![Cell::new(name)];
        cells.extend(of(one).map(|(.., value)| Cell::new(value)));
        cells.push(Cell::new(last));
        table.row(cells, Vec::new());
    }
    table
}

const STYLE: &str = include_str!("page.css");
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Rows of a table, those with most first.
const ROWS: usize = 100;

/// A row of a table: what it is about, and its figures.
type Row = (String, Vec<String>);

/// The page.
fn page(summary: &Summary) -> String {
    let period = match summary.period {
        Some((first, last)) => format!("{} to {}", first.local(), last.local()),
        None => "No events are recorded".to_owned(),
    };
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Use of skills</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>Use of skills</h1>\n<p>{period}. Events: {}; delivered again and not counted again: {}.</p>\n",
        summary.events, summary.repeated
    );
    text += &of_figures("In all", [("All", &summary.all)]);
    text += &of_each("Skill", &summary.skills);
    let rules = summary.rules.rows();
    let mut rules: Vec<_> = rules.map(|(name, times)| (name, *times)).collect();
    rules.sort_by_key(|(_, times)| Reverse(*times));
    let rules = rules.into_iter();
    let rules = rules.map(|(name, times)| (name.to_owned(), vec![times.to_string()]));
    text += &html_table("Refused by", &["Times"], rules);
    let unused = summary
        .never_used()
        .map(|name| (name.to_owned(), Vec::new()));
    text += &html_table("Installed here and never used", &[], unused);
    text += &of_each("Machine", &summary.machines);
    text += &of_each("Agent", &summary.hosts);
    text += &of_each("Model", &summary.models);
    let days = summary.days.iter().rev().map(|(day, of)| {
        let cells = [of.activations, of.refusals].map(|number| number.to_string());
        (date(*day), cells.to_vec())
    });
    text += &html_table("Day", &["Activations", "Refusals"], days);
    let _ = write!(
        text,
        "<p>Written by agent-skills {} on {} from the audit log. Days are those of UTC; tokens are \
         estimated.</p>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        Moment::now().local()
    );
    text
}

/// The rows of these figures, each by its name.
fn of_figures<'f>(title: &str, rows: impl IntoIterator<Item = (&'f str, &'f Figures)>) -> String {
    let of = |one: &Figures| {
        cells(one)
            .into_iter()
            .filter(|(_, heading, _)| !heading.is_empty())
    };
    let columns = of(&Figures::default()).map(|(_, heading, _)| heading);
    let columns: Vec<&str> = columns.chain(["Last used"]).collect();
    let row = |(name, one): (&str, &Figures)| {
        let last = one.last_used.map(|last| date(last.0 / DAY));
        let cells = of(one).map(|(.., value)| value);
        (
            name.to_owned(),
            cells.chain([last.unwrap_or_default()]).collect(),
        )
    };
    html_table(title, &columns, rows.into_iter().map(row))
}

fn of_each(title: &str, tally: &Tally<Figures>) -> String {
    let mut used: Vec<_> = tally.used().collect();
    used.sort_by_key(|(_, one)| Reverse(one.activations + one.refusals));
    of_figures(title, used)
}

/// The rows under a heading for each column; nothing without rows.
fn html_table(title: &str, columns: &[&str], rows: impl IntoIterator<Item = Row>) -> String {
    let rows: Vec<Row> = rows.into_iter().collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("<table>\n<tr><th>{title}</th>");
    for column in columns {
        let _ = write!(text, "<th>{column}</th>");
    }
    text += "</tr>\n";
    for (name, cells) in rows.iter().take(ROWS) {
        let _ = write!(text, "<tr><td><bdi>{}</bdi></td>", escaped(name));
        for cell in cells {
            let _ = write!(text, "<td>{cell}</td>");
        }
        text += "</tr>\n";
    }
    text += "</table>\n";
    if rows.len() > ROWS {
        let more = count(rows.len() - ROWS, "row");
        let _ = writeln!(text, "<p>{more} more, not shown.</p>");
    }
    text
}

fn date(day: u64) -> String {
    Moment(day.saturating_mul(DAY)).to_string()[..10].to_owned()
}

/// Text of others between tags.
fn escaped(text: &str) -> String {
    let text = shown_name(text).replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_stays_text() {
        let safe = escaped("</style><script>\u{202e}x\u{0}&");
        assert!(!safe.contains(['<', '>', '\u{202e}', '\u{0}']), "{safe}");
        assert!(safe.starts_with("&lt;/style&gt;"), "{safe}");
    }
}
