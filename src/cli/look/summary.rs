//! `audit --summary`: how often each skill was used, and with what result.

use std::collections::HashSet;

use super::audit::{AuditArgs, each_since, since};
use crate::cli::prelude::*;
use crate::policy::LoggedEvent;

/// The longest name, in characters. Longer ones are cut, and count together if they begin alike.
const NAME: usize = 120;

/// A value for each name, as it is shown.
type Tally<T> = BTreeMap<String, T>;

/// What a skill, a model or an agent did.
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
    events: u64,
    all: Figures,
    skills: Tally<Figures>,
    models: Tally<Figures>,
    /// By the agent that called: chibi unless another is named.
    hosts: Tally<Figures>,
    /// Refusals by what refused.
    rules: Tally<u64>,
    /// The jobs whose end was counted: each later query of one records it again.
    ended_jobs: HashSet<String>,
}

impl Summary {
    fn add(&mut self, line: &LoggedEvent) {
        self.events += 1;
        let (event, skill) = (line.text("event"), line.text("skill"));
        let counts = ["activate", "tool", "read", "script", "job"].contains(&event);
        let is_again = event == "job" && !self.ended_jobs.insert(line.text("job").to_owned());
        if !counts || is_again || (skill.is_empty() && !is_refusal(line)) {
            return;
        }
        self.all.add(line);
        let model = line.text("model");
        for (tally, name) in [(&mut self.skills, skill), (&mut self.models, model)] {
            if !name.is_empty() {
                of(tally, name).add(line);
            }
        }
        let text_or = |key, otherwise| match line.text(key) {
            "" => otherwise,
            text => text,
        };
        let host = text_or("host", text_or("agent", "chibi"));
        of(&mut self.hosts, host).add(line);
        if is_refusal(line) {
            *of(&mut self.rules, text_or("by", "(not recorded)")) += 1;
        }
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
pub fn summarize(audit: &AuditArgs, call: CliCall) -> Result<String> {
    let mut summary = Summary::default();
    let catalog = Catalog::of(call.facts);
    for skill in catalog.entries().iter().filter_map(Entry::usable) {
        of(&mut summary.skills, skill.name.as_str());
    }
    each_since(call.facts, since(audit.since.as_deref())?, &mut |line| {
        summary.add(line);
        Ok(())
    })?;
    let rows = |key: &str, tally: &Tally<Figures>| -> Vec<Value> {
        let row = |(name, figures): (&String, &Figures)| with(json!({key: name}), value(figures));
        used(tally).map(row).collect()
    };
    let answer = json!({
        "events": summary.events,
        "total": value(&summary.all),
        "skills": rows("skill", &summary.skills),
        "models": rows("model", &summary.models),
        "hosts": rows("host", &summary.hosts),
        "rules": summary.rules,
        "never_used": summary.never_used(),
    });
    call.answer(&answer, || match summary.all.last_used {
        None => "No skill was used.\n".to_owned(),
        Some(_) => table(&summary.skills).render(call.screen),
    })
}

/// The figures as data, in which "" is that it was not used.
fn value(figures: &Figures) -> Value {
    let last = figures.last_used.map(|moment| moment.to_string());
    let last = json!({"last_used": last.unwrap_or_default()});
    with(json!(figures), last)
}

fn table(skills: &Tally<Figures>) -> Table {
    let numbers = Figures::default().columns().map(|(heading, _)| heading);
    let mut columns = vec![("SKILL", 12)];
    columns.extend(numbers.map(|heading| (heading, 0)));
    columns.push(("LAST USED", 0));
    let leave_out = "TOKENS, SCRIPTS READ, MEAN MS, SUCCEEDED, LAST USED, SCRIPTS, REFUSALS";
    let mut table = Table::new(&columns, leave_out).numbers(&numbers);
    table.headed = true;
    for (name, one) in used(skills) {
        let last = one.last_used.map(UnixMillis::local).unwrap_or_default();
        let mut cells = vec![Cell::new(name)];
        cells.extend(one.columns().map(|(_, value)| Cell::new(value)));
        cells.push(Cell::new(last));
        table.row(cells, Vec::new());
    }
    table
}
