//! `audit --summary`, earlier `stats`: how often each skill was used, and with what result, from the
//! audit log.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::audit::{Audit, each_since, since};
use crate::cli::options::Common;
use crate::cli::table::{Cell, Column, Table};
use crate::cli::{Screen, json};
use crate::error::Result;
use crate::policy::Line;
use crate::run_context::RunContext;
use crate::skill::one_line;
use crate::sys::time::local;

/// Show how often skills are used, and with what result
#[derive(Debug, clap::Args)]
pub struct Stats {
    /// Start of the period: 2h, 7d, 2026-11-21
    #[arg(long)]
    pub since: Option<String>,
}

#[derive(Debug, Default, Serialize)]
struct Figures {
    skill: String,
    activations: u64,
    refusals: u64,
    scripts: u64,
    scripts_succeeded: u64,
    /// The total of all its scripts; the mean can be derived from it.
    scripts_ms: u64,
    last_used: String,
}

impl Stats {
    /// What `audit --summary` asks for.
    pub fn of(audit: Audit) -> Self {
        Self { since: audit.since }
    }

    /// Every skill used since then.
    pub fn run(&self, ctx: &RunContext, common: Common, screen: Screen) -> Result<String> {
        let mut skills: BTreeMap<String, Figures> = BTreeMap::new();
        let mut jobs = BTreeSet::new();
        let mut count = |line: &Line| {
            let name = line.text("skill");
            let counted = ["activate", "tool", "script", "job"].contains(&line.text("event"));
            // Each later query of a finished job records the same end again.
            let again = line.text("event") == "job" && !jobs.insert(line.text("job").to_owned());
            if !name.is_empty() && counted && !again {
                skills.entry(name.to_owned()).or_default().add(line);
            }
            Ok(())
        };
        each_since(ctx, since(self.since.as_deref())?, &mut count)?;
        let skills = skills.into_iter();
        let figures = skills.map(|(skill, figures)| Figures { skill, ..figures });
        let figures: Vec<Figures> = figures.collect();
        if common.json {
            return json::list("skills", &figures);
        }
        if figures.is_empty() {
            return Ok("No skill was used.\n".to_owned());
        }
        let mut table = Table::headed(
            vec![
                Column::new("SKILL", 12),
                Column::number("ACTIVATIONS"),
                Column::number("REFUSALS"),
                Column::number("SCRIPTS"),
                Column::number("SUCCEEDED"),
                Column::number("MEAN MS"),
                Column::new("LAST USED", 0),
            ],
            &["MEAN MS", "SUCCEEDED", "LAST USED", "SCRIPTS", "REFUSALS"],
        );
        for one in figures {
            let mean = one.scripts_ms.checked_div(one.scripts);
            let cells = [
                one_line(&one.skill),
                one.activations.to_string(),
                one.refusals.to_string(),
                one.scripts.to_string(),
                one.scripts_succeeded.to_string(),
                mean.map_or_else(|| "-".to_owned(), |mean| mean.to_string()),
                local(&one.last_used),
            ];
            table.row(cells.into_iter().map(Cell::new).collect(), Vec::new());
        }
        Ok(table.render(screen))
    }
}

impl Figures {
    fn add(&mut self, line: &Line) {
        let number = |key: &str| line.value.get(key).and_then(serde_json::Value::as_i64);
        match line.text("event") {
            "activate" => self.activations += 1,
            "tool" if line.text("decision") == "blocked" => self.refusals += 1,
            kind @ ("script" | "job") => {
                self.scripts += u64::from(kind == "script");
                self.scripts_succeeded += u64::from(number("exit_code") == Some(0));
                self.scripts_ms += number("duration_ms").unwrap_or(0).unsigned_abs();
            }
            _ => {}
        }
        self.last_used = line.time.to_string();
    }
}
