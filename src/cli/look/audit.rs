//! `audit`: recorded events, newest last.

use crate::cli::json;
use crate::error::{Error, Result};
use crate::policy::{Line, read_log};
use crate::run_context::RunContext;
use crate::skill::{SkillName, brief};
use crate::sys::{Moment, warn};

/// Show recorded events
#[derive(Debug, clap::Args)]
pub struct Audit {
    /// Start of the period: 2h, 7d, 2026-11-21
    #[arg(long)]
    pub since: Option<String>,
    /// Only of this skill
    #[arg(long)]
    pub skill: Option<String>,
    /// Only of this kind: activate, end, tool, script, install, update, rollback, remove, trust,
    /// untrust, approve, proposal
    #[arg(long)]
    pub event: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Audit {
    /// The events that match the options.
    pub fn run(&self, ctx: &RunContext) -> Result<String> {
        let skill = self.skill.as_deref().map(|written| {
            let name = SkillName::from_written(written);
            name.map_or_else(|| written.to_owned(), |name| name.to_string())
        });
        let mut lines = events(ctx, self.since.as_deref())?;
        for (key, wanted) in [("skill", &skill), ("event", &self.event)] {
            let is_wanted = |line: &Line| wanted.as_ref().is_none_or(|it| line.text(key) == it);
            lines.retain(is_wanted);
        }
        if self.json {
            let values: Vec<_> = lines.iter().map(|line| &line.value).collect();
            return json::list("events", &values);
        }
        if lines.is_empty() {
            return Ok("Nothing of that kind was written down.\n".to_owned());
        }
        Ok(lines.iter().map(row).collect())
    }
}

/// Every event since then; unreadable lines are reported to a person.
pub fn events(ctx: &RunContext, since: Option<&str>) -> Result<Vec<Line>> {
    let since = match since {
        None => Moment(0),
        Some(written) => Moment::parse(written, Moment::now()).ok_or_else(|| {
            let text = format!("`{}` is no time", written.escape_debug());
            Error::new(text).hint("write 90m, 2h, 7d, 2026-11-21 or 2026-11-21T23:00:00Z")
        })?,
    };
    let (mut lines, torn) = read_log(&ctx.audit_file())?;
    if torn > 0 {
        warn(format_args!(
            "{torn} lines of the audit log cannot be read and were left out"
        ));
    }
    lines.retain(|line| line.time >= since);
    Ok(lines)
}

/// One event: time, kind, skill, then its other fields.
pub fn row(line: &Line) -> String {
    let who = [
        "time", "event", "skill", "session", "host_pid", "uid", "project",
    ];
    let details = line.value.as_object().into_iter().flatten();
    let details = details
        .filter(|(key, _)| !who.contains(&key.as_str()))
        .map(|(key, value)| match value.as_str() {
            Some(text) => format!("{key}={text}"),
            None => format!("{key}={value}"),
        });
    let details = details.collect::<Vec<_>>().join(" ");
    let text = format!(
        "{}  {:8}  {:20}  {}",
        line.time,
        line.text("event"),
        brief(line.text("skill"), 20),
        brief(&details, 200)
    );
    text.trim_end().to_owned() + "\n"
}
