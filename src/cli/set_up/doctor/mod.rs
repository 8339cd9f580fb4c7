//! `doctor`: reports problems and their remedies. Each area has a function that returns its
//! checks; to add a check, add a line there.

mod agents;
pub mod check;

pub mod placement;
mod programs;
mod rules;
mod skills;

use crate::cli::prelude::*;
use check::{Check, CheckStatus};

type CheckGroup = fn(&Facts) -> Vec<Check>;

/// The column where messages begin, after the outcome.
const INDENT: usize = 8;

/// The areas in the order of their checks.
const AREAS: [(&str, CheckGroup); 8] = [
    ("host", placement::host),
    ("plugin", placement::checks),
    ("agents", agents::checks),
    ("programs", programs::checks),
    ("skills", skills::checks),
    ("links", skills::links),
    ("rules", rules::checks),
    ("state", rules::state),
];

/// Find problems and their remedies (exit 1 if something is broken)
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct DoctorArgs {
    /// Repair what needs no decision from you
    #[arg(long)]
    pub fix: bool,
}

impl DoctorArgs {
    /// Runs every check; a failure if something is broken.
    pub fn run(self, call: CliCall) -> Answer {
        let (mut fixed, mut not_fixed) = Default::default();
        if self.fix && !call.common.dry_run {
            (fixed, not_fixed) = repair(call.facts);
        }
        let checks: Vec<Check> = examine(call.facts).collect();
        let broken = checks
            .iter()
            .any(|check| check.outcome == CheckStatus::Fail);
        let answer = json!({
            "broken": broken, "fixed": fixed, "not_fixed": not_fixed, "checks": checks,
        });
        let text = call.answer(&answer, || {
            let mut text = String::new();
            for (word, paint, lines) in [
                ("fixed", Paint::Good, &fixed),
                ("not repaired", Paint::Warn, &not_fixed),
            ] {
                for line in lines {
                    let _ = writeln!(text, "{} {line}", call.screen.paint(word, paint));
                }
            }
            text + &render(&checks, call.screen)
        })?;
        Failure::unless(!broken, text)
    }
}

fn examine(facts: &Facts) -> impl Iterator<Item = Check> {
    AREAS.into_iter().flat_map(|(area, checks)| {
        let checks = checks(facts).into_iter();
        checks.map(move |check| Check { area, ..check })
    })
}

/// What was repaired, and what could not be.
fn repair(facts: &Facts) -> (Vec<String>, Vec<String>) {
    let (mut fixed, mut not_fixed) = (Vec::new(), Vec::new());
    for fix in examine(facts).filter_map(|check| check.fix) {
        match fix() {
            Ok(done) => fixed.push(one_line(&done)),
            Err(error) => not_fixed.push(one_line(&error.to_string())),
        }
    }
    (fixed, not_fixed)
}

fn render(checks: &[Check], screen: Screen) -> String {
    let mut text = String::new();
    let mut area = "";
    for check in checks {
        if check.area != area {
            area = check.area;
            let _ = writeln!(text, "{}", screen.paint(area, Paint::Bold));
        }
        let (word, paint) = match check.outcome {
            CheckStatus::Ok => ("ok  ", Paint::Good),
            CheckStatus::Warn => ("warn", Paint::Warn),
            CheckStatus::Fail => ("FAIL", Paint::Bad),
        };
        let before = format!("  {}  ", screen.paint(word, paint));
        text += &screen.hanging(&before, &check.message, INDENT);
        if let Some(remedy) = &check.remedy {
            text += &screen.hanging(&" ".repeat(INDENT), remedy, INDENT);
        }
    }
    let count = |is: fn(&&Check) -> bool| checks.iter().filter(is).count();
    let broken = count(|check| check.outcome == CheckStatus::Fail);
    let odd = count(|check| check.outcome == CheckStatus::Warn);
    let _ = match (broken, odd) {
        (0, 0) => writeln!(text, "Nothing is wrong."),
        (0, _) => writeln!(text, "Nothing is broken; {odd} to check."),
        _ => writeln!(text, "{broken} broken, {odd} to check."),
    };
    let fixable = count(|check| check.fixable);
    if fixable > 0 {
        let _ = writeln!(
            text,
            "`agent-skills doctor --fix` repairs {fixable} of them."
        );
    }
    text
}
