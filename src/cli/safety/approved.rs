//! `approve --list`: what is approved, by whom and when, and whether it still is what was approved.

use std::path::Path;

use serde::Serialize;

use crate::cli::options::Common;
use crate::cli::table::{Cell, Column, Table};
use crate::cli::{Paint, Screen, json};
use crate::error::Result;
use crate::facts::Facts;
use crate::policy::{Approval, Ledger, approval_digest};
use crate::skill::{Skill, one_line};
use crate::sys::time::local;

/// An approval, in the format that `--json` documents.
#[derive(Serialize)]
struct Listed {
    name: String,
    /// The skill's directory.
    path: String,
    digest: String,
    /// Who gave it, and when.
    by: Option<String>,
    time: String,
    state: State,
}

/// What the approved skill is now.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// As it was approved.
    Same,
    /// Changed since.
    Changed,
    /// No longer there.
    Gone,
}

impl Listed {
    fn row(&self) -> Vec<Cell> {
        let (state, paint) = match self.state {
            State::Same => ("as approved", Paint::Good),
            State::Changed => ("changed since", Paint::Bad),
            State::Gone => ("gone", Paint::Dim),
        };
        vec![
            Cell::new(one_line(&self.name)),
            Cell::new(state).paint(paint),
            Cell::new(local(&self.time)),
            Cell::new(one_line(self.by.as_deref().unwrap_or_default())),
            Cell::new(one_line(&self.path)).paint(Paint::Dim),
        ]
    }
}

fn state(dir: &Path, digest: &str) -> State {
    if dir.symlink_metadata().is_err() {
        return State::Gone;
    }
    let now = Skill::load(dir).ok();
    let now = now.and_then(|skill| approval_digest(&skill).ok());
    if now.as_deref() == Some(digest) {
        State::Same
    } else {
        State::Changed
    }
}

/// Every approval.
///
/// # Errors
/// If the record cannot be read.
pub fn list(facts: &Facts, common: Common, screen: Screen) -> Result<String> {
    let entries = Ledger::approvals(facts.enterprise(), facts.state()).entries()?;
    let each = entries
        .into_iter()
        .flat_map(|(name, approvals)| approvals.0.into_iter().map(move |one| (name.clone(), one)));
    let listed: Vec<Listed> = each
        .map(|(name, (path, Approval { digest, by, time }))| Listed {
            state: state(Path::new(&path), &digest),
            name,
            path,
            digest,
            by,
            time,
        })
        .collect();
    if common.json {
        return json::list("approvals", &listed);
    }
    if listed.is_empty() {
        return Ok("No skill is approved.\n".to_owned());
    }
    let mut table = Table::new(
        vec![
            Column::new("NAME", 12),
            Column::new("STATE", 0),
            Column::new("APPROVED", 0),
            Column::new("BY", 4),
            Column::new("PATH", 20),
        ],
        &["BY", "PATH", "APPROVED"],
    );
    for one in &listed {
        table.row(one.row(), Vec::new());
    }
    Ok(table.render(screen))
}
