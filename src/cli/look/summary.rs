//! `audit --summary`: how often each skill was used, and with what result, from the audit log or from
//! those of other machines; as a table, as JSON or as a page of tables that needs nothing else: no
//! network, no script, no font, no image. Names in it are strangers' and are escaped; should one slip
//! through, the page forbids everything but its own style.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::audit::{Audit, By, each_since, since, tell_torn};
use crate::catalog::Entry;
use crate::cli::prelude::*;
use crate::policy::{Line, audit_file, each_event_of};
use crate::skill::shown_name;
use crate::sys::text::{count, shorten};
use crate::sys::{Durable, Moment, files, hash};

/// A day in milliseconds.
const DAY: u64 = 86_400_000;
/// The longest name, in characters. Longer ones are cut, and count together if they begin alike.
const NAME: usize = 120;

/// A value for each name, as it is shown.
type Tally<T> = BTreeMap<String, T>;

/// What a skill, a model, an agent or a machine did.
#[derive(Debug, Default, Serialize)]
struct Figures {
    activations: u64,
    refusals: u64,
    /// Those of the refusals that are about a path.
    path_refusals: u64,
    /// Scripts that were read, or were to be read, instead of run.
    script_reads: u64,
    scripts: u64,
    scripts_succeeded: u64,
    /// The total of all its scripts; the mean can be derived from it.
    scripts_ms: u64,
    /// Of the instructions and references that were handed over, approximately.
    tokens: u64,
    #[serde(skip)]
    last_used: Option<Moment>,
}

/// One day of all skills.
#[derive(Debug, Default, Clone, Copy)]
struct Day {
    activations: u64,
    refusals: u64,
}

/// All figures of a period.
#[derive(Debug, Default)]
struct Summary {
    /// Events that were counted.
    events: u64,
    /// Events that were delivered again, and not counted again.
    repeated: u64,
    /// The first and the last event.
    period: Option<(Moment, Moment)>,
    all: Figures,
    skills: Tally<Figures>,
    models: Tally<Figures>,
    /// By the agent that called: chibi unless another is named.
    hosts: Tally<Figures>,
    machines: Tally<Figures>,
    /// Refusals by what refused.
    rules: Tally<u64>,
    /// By the number of the day in UTC since 1970.
    days: BTreeMap<u64, Day>,
    /// Hashes of the jobs and of the events that were counted.
    seen: HashSet<u64>,
}

impl Summary {
    /// Counts an event, of the log of `machine` unless it names another.
    fn add(&mut self, line: &Line, machine: &str) {
        let (event, skill) = (line.text("event"), line.text("skill"));
        let id = line.text("event_id");
        if !id.is_empty() && !self.is_new(id) {
            self.repeated += 1;
            return;
        }
        self.events += 1;
        let (first, last) = self.period.unwrap_or((line.time, line.time));
        self.period = Some((first.min(line.time), last.max(line.time)));
        let counted = ["activate", "tool", "read", "script", "job"].contains(&event);
        // Each later query of a finished job records the same end again.
        let again = event == "job" && !self.is_new(&format!("job {}", line.text("job")));
        if !counted || again || (skill.is_empty() && !is_refusal(line)) {
            return;
        }
        self.all.add(line);
        let or = |key: &str, other: &str| {
            let text = line.text(key);
            if text.is_empty() { other } else { text }.to_owned()
        };
        if !skill.is_empty() {
            of(&mut self.skills, skill).add(line);
        }
        let model = line.text("model");
        if !model.is_empty() {
            of(&mut self.models, model).add(line);
        }
        of(&mut self.hosts, &or("host", &or("agent", "chibi"))).add(line);
        of(&mut self.machines, &or("machine", machine)).add(line);
        match event {
            "activate" => self.day(line.time).activations += 1,
            _ if is_refusal(line) => {
                self.day(line.time).refusals += 1;
                *of(&mut self.rules, &or("by", "(not recorded)")) += 1;
            }
            _ => {}
        }
    }

    fn is_new(&mut self, identity: &str) -> bool {
        self.seen.insert(hash(identity.as_bytes()))
    }

    fn day(&mut self, time: Moment) -> &mut Day {
        self.days.entry(time.0 / DAY).or_default()
    }

    /// The skills that are installed and were not used.
    fn never_used(&self) -> impl Iterator<Item = &str> {
        let unused = self.skills.iter();
        let unused = unused.filter(|(_, figures)| figures.last_used.is_none());
        unused.map(|(name, _)| name.as_str())
    }
}

/// The value of `name`.
fn of<'t, T: Default>(tally: &'t mut Tally<T>, name: &str) -> &'t mut T {
    tally.entry(shorten(&shown_name(name), NAME)).or_default()
}

/// Those whose figures are not empty.
fn used(tally: &Tally<Figures>) -> impl Iterator<Item = (&String, &Figures)> {
    tally.iter().filter(|(_, one)| one.last_used.is_some())
}

impl Figures {
    fn add(&mut self, line: &Line) {
        self.tokens = self.tokens.saturating_add(amount(line, "tokens"));
        self.script_reads += u64::from(is_script_read(line));
        match line.text("event") {
            "activate" => self.activations += 1,
            kind @ ("script" | "job") => {
                self.scripts += u64::from(kind == "script");
                self.scripts_succeeded += u64::from(number(line, "exit_code") == Some(0));
                let ms = amount(line, "duration_ms");
                self.scripts_ms = self.scripts_ms.saturating_add(ms);
            }
            _ if is_refusal(line) => {
                self.refusals += 1;
                self.path_refusals += u64::from(line.text("refused") == "path");
            }
            _ => {}
        }
        self.last_used = self.last_used.max(Some(line.time));
    }

    /// The mean duration of a script in milliseconds.
    fn mean(&self) -> Option<u64> {
        self.scripts_ms.checked_div(self.scripts)
    }
}

fn number(line: &Line, key: &str) -> Option<i64> {
    line.value.get(key).and_then(Value::as_i64)
}

/// A number that counts something; 0 if there is none.
fn amount(line: &Line, key: &str) -> u64 {
    number(line, key).unwrap_or(0).unsigned_abs()
}

fn is_refusal(line: &Line) -> bool {
    ["tool", "read"].contains(&line.text("event")) && line.text("decision") == "blocked"
}

fn is_script_read(line: &Line) -> bool {
    let read = line.value.get("script_read");
    read.is_some_and(|read| *read != Value::Bool(false)) || line.text("by") == "script_reads"
}

/// Counts everything that happened since the time that is asked for.
pub fn summarize(audit: &Audit, call: Call) -> Result<String> {
    let summary = summary(audit, call.facts)?;
    if let Some(file) = &audit.html {
        return write_page(audit, call, file, &page(summary));
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
        of(&mut summary.skills, skill.name.as_str());
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
    let other = target.symlink_metadata();
    let other = other.is_ok_and(|found| !found.is_file());
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
    json!({
        "events": summary.events,
        "repeated": summary.repeated,
        "total": value(&summary.all),
        "skills": rows("skill", &summary.skills),
        "models": rows("model", &summary.models),
        "hosts": rows("host", &summary.hosts),
        "machines": rows("machine", &summary.machines),
        "rules": summary.rules,
        "never_used": summary.never_used().collect::<Vec<_>>(),
    })
}

/// The figures as data, in which "" is that it was not used.
fn value(figures: &Figures) -> Value {
    let last = figures.last_used.map(|moment| moment.to_string());
    let last = json!({"last_used": last.unwrap_or_default()});
    with(json!(figures), last)
}

fn rows(key: &str, tally: &Tally<Figures>) -> Vec<Value> {
    let row = |(name, figures): (&String, &Figures)| with(json!({key: name}), value(figures));
    used(tally).map(row).collect()
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
    let mut columns = vec![(title, 12)];
    columns.extend(of(&Figures::default()).map(|(heading, ..)| (heading, 0)));
    let numbers: Vec<&str> = columns[1..].iter().map(|(title, _)| *title).collect();
    columns.push(("LAST USED", 0));
    let leave_out = "TOKENS, SCRIPTS READ, MEAN MS, SUCCEEDED, LAST USED, SCRIPTS, REFUSALS";
    let mut table = Table::new(&columns, leave_out).numbers(&numbers).headed();
    for (name, one) in used(tally) {
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
fn page(mut summary: Summary) -> String {
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
    text += &of_each(
        "In all",
        &Tally::from([("All".to_owned(), std::mem::take(&mut summary.all))]),
    );
    text += &of_each("Skill", &summary.skills);
    let mut rules: Vec<_> = summary.rules.iter().collect();
    rules.sort_by_key(|(_, times)| Reverse(**times));
    let row = |(name, times): (&String, &u64)| (name.clone(), vec![times.to_string()]);
    text += &html_table("Refused by", &["Times"], rules.into_iter().map(row));
    let unused = summary.never_used().map(|name| (name.to_owned(), vec![]));
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

/// The rows of these figures, each by its name, those with most first.
fn of_each(title: &str, tally: &Tally<Figures>) -> String {
    let of = |one: &Figures| {
        let cells = cells(one).into_iter();
        cells.filter(|(_, heading, _)| !heading.is_empty())
    };
    let columns = of(&Figures::default()).map(|(_, heading, _)| heading);
    let columns: Vec<&str> = columns.chain(["Last used"]).collect();
    let mut used: Vec<_> = used(tally).collect();
    used.sort_by_key(|(_, one)| Reverse(one.activations + one.refusals));
    let row = |(name, one): (&String, &Figures)| {
        let last = one.last_used.map(|last| date(last.0 / DAY));
        let cells = of(one).map(|(.., value)| value);
        let cells = cells.chain([last.unwrap_or_default()]);
        (name.clone(), cells.collect())
    };
    html_table(title, &columns, used.into_iter().map(row))
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
