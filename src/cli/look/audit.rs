//! `audit`: recorded events, newest last.

use serde_json::value::to_raw_value;

use crate::cli::prelude::*;
use crate::policy::{LoggedEvent, audit_file, each_event, last_events};

/// Show recorded events
#[derive(Debug, clap::Args)]
pub struct AuditArgs {
    /// Start of the period: 2h, 7d, 2026-11-21
    #[arg(long)]
    pub since: Option<String>,
    /// Only of this skill
    #[arg(long)]
    pub skill: Option<String>,
    /// Only of this kind: activate, end, tool, read, script, install, update, rollback, restore, remove,
    /// trust, untrust, approve, unapprove, keys, proposal
    #[arg(long)]
    pub event: Option<String>,
    /// Only the last NUMBER events; 50 without --since or --all
    #[arg(long, value_name = "NUMBER", conflicts_with = "all")]
    pub limit: Option<usize>,
    /// Every event that is kept
    #[arg(long)]
    pub all: bool,
    /// How often each skill was used, and with what result
    #[arg(long, conflicts_with_all = ["skill", "event", "limit", "all"])]
    pub summary: bool,
}

/// The events shown unless others are asked for.
const LIMIT: usize = 50;
const NOTHING: &str = "No such events are recorded.\n";

impl AuditArgs {
    /// The events that match the options.
    pub fn run(&self, call: CliCall) -> Result<String> {
        let skill = self.skill.as_deref().map(|written| {
            let name = SkillName::from_written(written);
            name.map_or_else(|| written.to_owned(), |name| name.to_string())
        });
        let since = since(self.since.as_deref())?;
        let is_wanted = |line: &LoggedEvent| {
            let is = |wanted: Option<&String>, key| wanted.is_none_or(|it| line.text(key) == it);
            line.time >= since && is(skill.as_ref(), "skill") && is(self.event.as_ref(), "event")
        };
        let log = audit_file(call.facts.state());
        let is_plain = self.limit.is_none();
        if is_plain && (self.all || self.since.is_some()) {
            return all(call, &log, &is_wanted);
        }
        let limit = self.limit.unwrap_or(LIMIT);
        let (mut lines, torn) = last_events(&log, limit.saturating_add(1), is_wanted)?;
        tell_torn(torn);
        if lines.len() > limit {
            lines.remove(0);
            if is_plain {
                tell(format_args!(
                    "agent-skills: older events are not shown; `--all` shows them\n"
                ));
            }
        }
        let values: Vec<_> = lines.iter().map(|line| &line.value).collect();
        call.answers_or("events", &values, NOTHING, || {
            lines.iter().map(row).collect()
        })
    }
}

/// Every event that is wanted: as text, which is smaller than what was parsed.
fn all(call: CliCall, log: &Path, is_wanted: &dyn Fn(&LoggedEvent) -> bool) -> Result<String> {
    let (mut events, mut text) = (Vec::new(), String::new());
    let torn = each_event(log, &mut |line| {
        if is_wanted(line) && call.common.json {
            let event = to_raw_value(&line.value);
            events.push(event.map_err(|e| Error::caused("an event cannot be printed", e))?);
        } else if is_wanted(line) {
            text += &row(line);
        }
        Ok(())
    })?;
    tell_torn(torn);
    if text.is_empty() {
        text.push_str(NOTHING);
    }
    call.answers("events", &events, || text)
}

/// The time that a person wrote; the beginning of all if there is none.
pub fn since(written: Option<&str>) -> Result<UnixMillis> {
    let Some(written) = written else {
        return Ok(UnixMillis(0));
    };
    UnixMillis::parse(written, UnixMillis::now()).ok_or_else(|| {
        let text = format!("`{}` is not a time", written.escape_debug());
        Error::new(text).hint("write 90m, 2h, 7d, 2026-11-21 or '2026-11-21 23:00'")
    })
}

/// Visits every event since then, oldest first; unreadable lines are reported to a person.
pub fn each_since(
    facts: &Facts,
    since: UnixMillis,
    visit: &mut dyn FnMut(&LoggedEvent) -> Result<()>,
) -> Result<()> {
    let torn = each_event(&audit_file(facts.state()), &mut |line| {
        if line.time < since {
            return Ok(());
        }
        visit(line)
    })?;
    tell_torn(torn);
    Ok(())
}

/// Reports unreadable lines to a person.
fn tell_torn(torn: usize) {
    if torn > 0 {
        let lines = count(torn, "line");
        warn(format_args!(
            "{lines} of the audit log cannot be read and left out"
        ));
    }
}

/// One event: time, kind, skill; then what was decided, by what and about which tool; then its other
/// fields, lists and tables last. No text can pass for another field or push one of these out.
fn row(line: &LoggedEvent) -> String {
    const FIRST: [&str; 4] = ["decision", "by", "tool", "agent_tool"];
    let who = [
        "time", "event", "skill", "session", "host_pid", "uid", "project", "event_id", "machine",
        "host",
    ];
    let fields = line.value.as_object();
    let first = FIRST.into_iter();
    let first = first.filter_map(|key| fields?.get_key_value(key));
    let others = fields.into_iter().flatten();
    let (tables, texts): (Vec<_>, Vec<_>) = others
        .filter(|(key, _)| !who.contains(&key.as_str()) && !FIRST.contains(&key.as_str()))
        .partition(|(_, value)| value.is_object() || value.is_array());
    let mut details: Vec<String> = first.map(|field| detail(field, 60)).collect();
    let others = texts.into_iter().chain(tables);
    let others: Vec<String> = others.map(|field| detail(field, 200)).collect();
    details.push(brief(&others.join(" "), 200));
    let text = format!(
        "{}  {:8}  {:20}  {}",
        line.time.local(),
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
            let line = LoggedEvent {
                time: UnixMillis(0),
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
