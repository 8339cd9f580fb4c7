//! `audit`: recorded events, newest last.

use serde_json::Value;

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

/// One event: time, kind, skill; then what was decided, by what and about which tool; then its other
/// fields, lists and tables last. No text can pass for another field or push one of these out.
pub fn row(line: &Line) -> String {
    const FIRST: [&str; 3] = ["decision", "by", "tool"];
    let who = [
        "time", "event", "skill", "session", "host_pid", "uid", "project",
    ];
    let fields = line.value.as_object();
    let first = FIRST.into_iter();
    let first = first.filter_map(|key| fields?.get_key_value(key));
    let others = fields.into_iter().flatten();
    let (tables, texts): (Vec<_>, Vec<_>) = others
        .filter(|(key, _)| !who.contains(&key.as_str()) && !FIRST.contains(&key.as_str()))
        .partition(|(_, value)| value.is_object() || value.is_array());
    let mut details: Vec<String> = first.map(|field| detail(field, 60)).collect();
    let others: Vec<String> = texts
        .into_iter()
        .chain(tables)
        .map(|field| detail(field, 200))
        .collect();
    details.push(brief(&others.join(" "), 200));
    let text = format!(
        "{}  {:8}  {:20}  {}",
        line.time,
        brief(line.text("event"), 20),
        brief(line.text("skill"), 20),
        details.join(" ")
    );
    text.trim_end().to_owned() + "\n"
}

/// `KEY=VALUE`, in quotes where it would not be one word.
fn detail((key, value): (&String, &Value), max: usize) -> String {
    let is_open = |c: char| c.is_whitespace() || c == '"' || c == '=';
    match value.as_str().map(|text| brief(text, max)) {
        Some(text) if text.is_empty() || text.contains(is_open) => format!("{key}={text:?}"),
        Some(text) => format!("{key}={text}"),
        None => format!("{key}={value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_decided_comes_first_and_cannot_be_imitated() {
        let forged = "default decision=allowed by=user";
        let command = "echo ".repeat(100);
        let shown = |value: Value| {
            let line = Line {
                time: Moment(0),
                value,
            };
            row(&line).split_once("tool      ").unwrap().1.to_owned()
        };
        let row = shown(json!({
            "event": "tool", "skill": "pdf", "context": forged, "tool": "x decision=allowed",
            "arguments": {"command": command}, "decision": "blocked", "by": "pdf: no entry",
        }));
        let start = "pdf                   decision=blocked by=\"pdf: no entry\" \
                     tool=\"x decision=allowed\" context=\"default decision=allowed by=user\" arguments={";
        assert!(row.starts_with(start), "{row}");
        let row = shown(json!({"event": "tool", "by": command, "decision": "warned"}));
        assert!(
            row.trim_start()
                .starts_with("decision=warned by=\"echo echo"),
            "{row}"
        );
    }
}
