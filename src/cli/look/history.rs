//! `history`: a skill's version in use, the available ones, and what changed.

use std::fmt::Write as _;

use serde::Serialize;

use super::audit::{events, row};
use crate::cli::describe::short;
use crate::cli::json;
use crate::cli::market::market;
use crate::cli::options::Scope;
use crate::error::Result;
use crate::marketplace::{self, Earlier, State, Tag};
use crate::policy::Line;
use crate::run_context::RunContext;
use crate::skill::{brief, one_line};

/// Maximum number of events and tags shown.
const SHOWN: usize = 20;

/// Show the installed version of a skill, the available ones, and what changed
#[derive(Debug, clap::Args)]
pub struct History {
    /// The skill's name
    pub name: String,
    /// Do not query the source
    #[arg(long)]
    pub offline: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub scope: Scope,
}

#[derive(Serialize)]
struct Rendered<'h> {
    #[serde(flatten)]
    history: &'h marketplace::History,
    /// The audit log's events about its versions.
    events: Vec<&'h serde_json::Value>,
}

impl History {
    /// The history of the skill.
    pub fn run(&self, ctx: &RunContext) -> Result<String> {
        let base = self.scope.base(ctx);
        let history = market(ctx, &base, self.offline).history(&self.name)?;
        let mut events = events(ctx, None)?;
        let kinds = ["install", "update", "rollback", "remove", "proposal"];
        events.retain(|line| {
            line.text("skill") == history.name && kinds.contains(&line.text("event"))
        });
        if self.json {
            let events = events.iter().map(|line| &line.value).collect();
            return json::one(&Rendered {
                history: &history,
                events,
            });
        }
        Ok(told(&history, &events))
    }
}

fn told(history: &marketplace::History, events: &[Line]) -> String {
    let source = history
        .source
        .as_deref()
        .unwrap_or("no source that is known");
    let mut text = format!("{}, from {}\n", one_line(&history.name), one_line(source));
    let in_use = version(history.version.as_deref(), history.commit.as_deref());
    let rev = history
        .rev
        .as_deref()
        .map(|rev| format!(", asked for as {}", one_line(rev)));
    let _ = writeln!(text, "in use: {in_use}{}", rev.unwrap_or_default());
    if let Some(verified) = history
        .since_install
        .as_ref()
        .filter(|v| v.state == State::Changed)
    {
        text.push_str("  changed here after it was installed:");
        files(
            &mut text,
            &verified.changed,
            &verified.extra,
            &verified.missing,
        );
    }
    if let Some(earlier) = &history.previous {
        let Earlier {
            version: number,
            commit,
            changed,
            added,
            removed,
        } = earlier;
        let was = version(number.as_deref(), commit.as_deref());
        let _ = write!(text, "before: {was}; since then");
        files(&mut text, changed, added, removed);
    }
    if !history.tags.is_empty() {
        let tag = |tag: &Tag| {
            format!(
                "{}{}",
                one_line(&tag.name),
                if tag.in_use { " (in use)" } else { "" }
            )
        };
        // In most repositories the last tags are the newest.
        let tags = history.tags.iter().rev().take(SHOWN).map(tag);
        let _ = writeln!(text, "there are: {}", tags.collect::<Vec<_>>().join(", "));
    }
    for commit in &history.log {
        let mark = if commit.newer { "newer" } else { "     " };
        let id = short(&commit.commit);
        let _ = writeln!(
            text,
            "{mark}  {id}  {}  {}",
            one_line(&commit.date),
            brief(&commit.subject, 100)
        );
    }
    if let Some(why) = &history.unasked {
        let _ = writeln!(text, "its source was not asked: {}", one_line(why));
    }
    if !events.is_empty() {
        text.push_str("what happened:\n");
    }
    for line in events.iter().rev().take(SHOWN).rev() {
        let _ = write!(text, "  {}", row(line));
    }
    text
}

fn version(version: Option<&str>, commit: Option<&str>) -> String {
    let version = version.map(|version| format!("version {}", brief(version, 40)));
    let commit = commit.map(|commit| format!("at {}", short(commit)));
    let parts: Vec<String> = version.into_iter().chain(commit).collect();
    if parts.is_empty() {
        return "a state without version or commit".to_owned();
    }
    parts.join(" ")
}

fn files(text: &mut String, changed: &[String], added: &[String], removed: &[String]) {
    let mut parts = Vec::new();
    for (label, paths) in [("changed", changed), ("new", added), ("gone", removed)] {
        if !paths.is_empty() {
            parts.push(format!("{label} {}", brief(&paths.join(", "), 200)));
        }
    }
    if parts.is_empty() {
        parts.push("nothing changed".to_owned());
    }
    let _ = writeln!(text, " {}", parts.join("; "));
}
