//! What the audit log says of a period: how often skills were used, by whom, and with what
//! result; in counts that whoever writes events cannot make grow without bound.

use std::collections::{BTreeMap, HashSet, VecDeque};

use clap::ValueEnum;
use serde::Serialize;

use crate::cli::prelude::*;
use crate::policy::Line;
use crate::skill::shown_name;
use crate::sys::text::shorten;
use crate::sys::{Moment, hash};

/// A day in milliseconds.
pub const DAY: u64 = 86_400_000;
/// Days that are counted each for itself.
const DAYS: usize = 4000;

/// What is counted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Skills
    #[default]
    Skill,
    /// Models, where the agent tells which
    Model,
    /// Agents: chibi, claude-code, …
    Host,
    /// Machines
    Machine,
}

/// What a skill, a model, an agent or a machine did.
#[derive(Debug, Default, Serialize)]
pub struct Figures {
    pub activations: u64,
    pub refusals: u64,
    /// Those of the refusals that are about a path.
    pub path_refusals: u64,
    /// Scripts that were read, or were to be read, instead of run.
    pub script_reads: u64,
    pub scripts: u64,
    pub scripts_succeeded: u64,
    /// The total of all its scripts; the mean can be derived from it.
    pub scripts_ms: u64,
    /// Of the instructions and references that were handed over, approximately.
    pub tokens: u64,
    #[serde(skip)]
    pub last_used: Option<Moment>,
}

/// One day of all skills.
#[derive(Debug, Default, Clone, Copy)]
pub struct Day {
    pub activations: u64,
    pub refusals: u64,
}

/// All figures of a period.
#[derive(Debug, Default)]
pub struct Summary {
    /// Events that were counted.
    pub events: u64,
    /// Events that were delivered again, and not counted again.
    pub repeated: u64,
    /// The first and the last event.
    pub period: Option<(Moment, Moment)>,
    pub all: Figures,
    pub skills: Tally<Figures>,
    pub models: Tally<Figures>,
    /// By the agent that called: chibi unless another is named.
    pub hosts: Tally<Figures>,
    pub machines: Tally<Figures>,
    /// Refusals by what refused.
    pub rules: Tally<u64>,
    /// By the number of the day in UTC since 1970.
    pub days: BTreeMap<u64, Day>,
    jobs: Seen,
    ids: Seen,
}

impl Summary {
    /// Counts an event, of the log of `machine` unless it names another.
    pub fn add(&mut self, line: &Line, machine: &str) {
        let (event, skill) = (line.text("event"), line.text("skill"));
        let id = line.text("event_id");
        if !id.is_empty() && !self.ids.is_new(id) {
            self.repeated += 1;
            return;
        }
        self.events += 1;
        let (first, last) = self.period.unwrap_or((line.time, line.time));
        self.period = Some((first.min(line.time), last.max(line.time)));
        let counted = ["activate", "tool", "read", "script", "job"].contains(&event);
        // Each later query of a finished job records the same end again.
        let again = event == "job" && !self.jobs.is_new(line.text("job"));
        if !counted || again || (skill.is_empty() && !is_refusal(line)) {
            return;
        }
        self.all.add(line);
        let or = |key: &str, other: &str| {
            let text = line.text(key);
            if text.is_empty() { other } else { text }.to_owned()
        };
        if !skill.is_empty() {
            self.skills.of(skill).add(line);
        }
        let model = line.text("model");
        if !model.is_empty() {
            self.models.of(model).add(line);
        }
        self.hosts.of(&or("host", &or("agent", "chibi"))).add(line);
        self.machines.of(&or("machine", machine)).add(line);
        match event {
            "activate" => self.day(line.time).activations += 1,
            _ if is_refusal(line) => {
                self.day(line.time).refusals += 1;
                *self.rules.of(&or("by", "(not recorded)")) += 1;
            }
            _ => {}
        }
    }

    fn day(&mut self, time: Moment) -> &mut Day {
        let day = time.0 / DAY;
        // Only a wrong clock has as many: they count together, before all others.
        let is_room = self.days.len() < DAYS || self.days.contains_key(&day);
        self.days.entry(if is_room { day } else { 0 }).or_default()
    }

    /// The skills that are installed and were not used.
    pub fn never_used(&self) -> impl Iterator<Item = &str> {
        let named = self.skills.named.iter();
        let unused = named.filter(|(_, figures)| figures.last_used.is_none());
        unused.map(|(name, _)| name.as_str())
    }
}

impl Tally<Figures> {
    /// Those of the rows whose figures are not empty.
    pub fn used(&self) -> impl Iterator<Item = (&str, &Figures)> {
        self.rows().filter(|(_, one)| one.last_used.is_some())
    }
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
    pub fn mean(&self) -> Option<u64> {
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

/// Names that are counted each for itself; what comes later is counted together.
pub const NAMES: usize = 1000;
/// The longest name, in characters. Longer ones are cut, and count together if they begin alike.
const NAME: usize = 120;
/// How many of the latest identities are remembered, 8 bytes each.
const REMEMBERED: usize = 65_536;

/// A value for each of a bounded number of names, and one for all others.
#[derive(Debug)]
pub struct Tally<T> {
    /// By name, as it is shown.
    pub named: BTreeMap<String, T>,
    /// Of the names for which there was no room.
    pub others: Option<T>,
}

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Self {
            named: BTreeMap::new(),
            others: None,
        }
    }
}

impl<T: Default> Tally<T> {
    /// The value of `name`.
    pub fn of(&mut self, name: &str) -> &mut T {
        let is_plain = name.len() <= NAME && name.bytes().all(|byte| byte.is_ascii_graphic());
        if is_plain && self.named.contains_key(name) {
            return self.named.entry(name.to_owned()).or_default();
        }
        let shown = if is_plain {
            name.to_owned()
        } else {
            shorten(&shown_name(name), NAME)
        };
        if self.named.len() >= NAMES && !self.named.contains_key(&shown) {
            return self.others.get_or_insert_default();
        }
        self.named.entry(shown).or_default()
    }

    /// Makes room for a name, whatever else is counted before it.
    pub fn reserve(&mut self, name: &str) {
        self.named
            .entry(shorten(&shown_name(name), NAME))
            .or_default();
    }

    /// All names with their values, those without room of their own last.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &T)> {
        let named = self
            .named
            .iter()
            .map(|(name, value)| (name.as_str(), value));
        named.chain(self.others.iter().map(|others| ("(others)", others)))
    }
}

/// What was seen lately.
#[derive(Debug, Default)]
pub struct Seen {
    known: HashSet<u64>,
    order: VecDeque<u64>,
}

impl Seen {
    /// Whether this is new, or was seen so long ago that it is not remembered.
    pub fn is_new(&mut self, identity: &str) -> bool {
        let hash = hash(identity.as_bytes());
        if !self.known.insert(hash) {
            return false;
        }
        self.order.push_back(hash);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invented_names_are_counted_together_and_lose_nothing() {
        let mut tally: Tally<u64> = Tally::default();
        for number in 0..NAMES * 3 {
            *tally.of(&format!("junk-{number}")) += 1;
            *tally.of("junk-0") += 1;
        }
        tally.reserve("installed");
        *tally.of("installed") += 1;
        assert_eq!(tally.named.len(), NAMES + 1);
        assert_eq!(tally.named["installed"], 1);
        assert_eq!(tally.rows().map(|(_, count)| count).sum::<u64>(), 6001);
        *tally.of(&"x".repeat(500)) += 1;
        assert_eq!(tally.others, Some(2001));
    }

    #[test]
    fn only_the_latest_identities_are_remembered() {
        let mut seen = Seen::default();
        assert!(seen.is_new("a") && !seen.is_new("a"));
        for number in 0..REMEMBERED {
            assert!(seen.is_new(&number.to_string()));
        }
        assert!(seen.is_new("a"));
        assert_eq!(
            (seen.known.len(), seen.order.len()),
            (REMEMBERED, REMEMBERED)
        );
    }
}
