//! `audit --summary`: how often each skill was used, and with what result, from the audit log or from
//! those of other machines.

use std::collections::{BTreeMap, HashSet};

use super::audit::{Audit, By, each_since, since, tell_torn};
use crate::cli::prelude::*;
use crate::policy::{LoggedEvent, each_event_of};
use crate::sys::hash;
use crate::sys::text::shorten;

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
    last_used: Option<UnixMillis>,
}

/// All figures of a period.
#[derive(Debug, Default)]
struct Summary {
    /// Events that were counted.
    events: u64,
    /// Events that were delivered again, and not counted again.
    repeated: u64,
    all: Figures,
    skills: Tally<Figures>,
    models: Tally<Figures>,
    /// By the agent that called: chibi unless another is named.
    hosts: Tally<Figures>,
    machines: Tally<Figures>,
    /// Refusals by what refused.
    rules: Tally<u64>,
    /// Hashes of the jobs and of the events that were counted.
    seen: HashSet<u64>,
}

impl Summary {
    /// Counts an event, of the log of `machine` unless it names another.
    fn add(&mut self, line: &LoggedEvent, machine: &str) {
        let (event, skill) = (line.text("event"), line.text("skill"));
        let id = line.text("event_id");
        if !id.is_empty() && !self.is_new(id) {
            self.repeated += 1;
            return;
        }
        self.events += 1;
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
        if is_refusal(line) {
            *of(&mut self.rules, &or("by", "(not recorded)")) += 1;
        }
    }

    fn is_new(&mut self, identity: &str) -> bool {
        self.seen.insert(hash(identity.as_bytes()))
    }

    /// The skills that are installed and were not used.
    fn never_used(&self) -> Vec<&String> {
        let unused = self.skills.iter();
        let unused = unused.filter(|(_, figures)| figures.last_used.is_none());
        unused.map(|(name, _)| name).collect()
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
    fn add(&mut self, line: &LoggedEvent) {
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

    /// Each column of a table with its heading.
    fn columns(&self) -> [(&'static str, String); 7] {
        // The mean duration of a script.
        let mean = self.scripts_ms.checked_div(self.scripts);
        let mean = mean.map_or("-".to_owned(), |mean| mean.to_string());
        [
            ("ACTIVATIONS", self.activations.to_string()),
            ("REFUSALS", self.refusals.to_string()),
            ("SCRIPTS", self.scripts.to_string()),
            ("SUCCEEDED", self.scripts_succeeded.to_string()),
            ("MEAN MS", mean),
            ("SCRIPTS READ", self.script_reads.to_string()),
            ("TOKENS", self.tokens.to_string()),
        ]
    }
}

fn number(line: &LoggedEvent, key: &str) -> Option<i64> {
    line.value.get(key).and_then(Value::as_i64)
}

/// A number that counts something; 0 if there is none.
fn amount(line: &LoggedEvent, key: &str) -> u64 {
    number(line, key).unwrap_or(0).unsigned_abs()
}

fn is_refusal(line: &LoggedEvent) -> bool {
    ["tool", "read"].contains(&line.text("event")) && line.text("decision") == "blocked"
}

fn is_script_read(line: &LoggedEvent) -> bool {
    let read = line.value.get("script_read");
    read.is_some_and(|read| *read != Value::Bool(false)) || line.text("by") == "script_reads"
}

/// Counts everything that happened since the time that is asked for.
pub fn summarize(audit: &Audit, call: Call) -> Result<String> {
    let summary = summary(audit, call.facts)?;
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
        "never_used": summary.never_used(),
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

fn table(title: &'static str, tally: &Tally<Figures>) -> Table {
    let numbers = Figures::default().columns().map(|(heading, _)| heading);
    let mut columns = vec![(title, 12)];
    columns.extend(numbers.map(|heading| (heading, 0)));
    columns.push(("LAST USED", 0));
    let leave_out = "TOKENS, SCRIPTS READ, MEAN MS, SUCCEEDED, LAST USED, SCRIPTS, REFUSALS";
    let mut table = Table::new(&columns, leave_out).numbers(&numbers);
    table.headed = true;
    for (name, one) in used(tally) {
        let last = one.last_used.map(UnixMillis::local).unwrap_or_default();
        let mut cells = vec![Cell::new(name)];
        cells.extend(one.columns().map(|(_, value)| Cell::new(value)));
        cells.push(Cell::new(last));
        table.row(cells, Vec::new());
    }
    table
}
