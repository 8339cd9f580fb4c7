//! `approve --list`: what is approved, by whom and when, and whether it still is what was approved.

use std::path::Path;

use serde::Serialize;

use crate::cli::options::Common;
use crate::cli::table::{Cell, Column, Table};
use crate::cli::{Paint, Screen, json};
use crate::error::Result;
use crate::policy::{Approval, Approvals, approval_digest};
use crate::run_context::RunContext;
use crate::skill::{Skill, one_line};
use crate::sys::time::local;

/// An approval, in the format that `--json` documents.
#[derive(Serialize)]
struct Listed {
    name: String,
    /// The skill's directory; `null` if an earlier version recorded none.
    path: Option<String>,
    digest: String,
    /// Who gave it, and when; `null` if an earlier version did not record that.
    by: Option<String>,
    time: Option<String>,
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
    /// The record has no directory.
    Unknown,
    /// It was withdrawn by a signature.
    Withdrawn,
    /// It was asked for, and nobody has approved it so far.
    Requested,
}

impl Listed {
    fn new(ctx: &RunContext, name: &str, path: Option<&str>, all: &Approvals) -> Option<Self> {
        let approval = all.at(path)?;
        let (by, time) = match &approval {
            Approval::Unsigned(_) => (None, None),
            Approval::Signed { by, time, .. } => (by.clone(), Some(time.clone())),
            Approval::Withdrawn { by, time, .. } => (Some(by.clone()), Some(time.clone())),
        };
        // What was signed elsewhere has no directory.
        let path = path.filter(|path| path.starts_with('/'));
        let (digest, state) = match &approval {
            Approval::Withdrawn { withdrawn, .. } => (withdrawn, State::Withdrawn),
            Approval::Signed { digest, .. } if all.is_withdrawn(digest) => {
                (digest, State::Withdrawn)
            }
            Approval::Signed { digest, .. } if path.is_none() => {
                (digest, anywhere(ctx, name, digest))
            }
            Approval::Unsigned(digest) | Approval::Signed { digest, .. } => {
                let at = |path: &str| state(Path::new(path), digest);
                (digest, path.map_or(State::Unknown, at))
            }
        };
        Some(Self {
            name: name.to_owned(),
            digest: digest.clone(),
            state,
            path: path.map(str::to_owned),
            by,
            time,
        })
    }

    fn row(&self) -> Vec<Cell> {
        let (state, paint) = match self.state {
            State::Same => ("as approved", Paint::Good),
            State::Changed => ("changed since", Paint::Bad),
            State::Gone => ("gone", Paint::Dim),
            State::Unknown => ("", Paint::Plain),
            State::Withdrawn => ("withdrawn", Paint::Bad),
            State::Requested => ("requested", Paint::Dim),
        };
        let time = self.time.as_deref().map(local).unwrap_or_default();
        vec![
            Cell::new(one_line(&self.name)),
            Cell::new(state).paint(paint),
            Cell::new(time),
            Cell::new(one_line(self.by.as_deref().unwrap_or_default())),
            Cell::new(one_line(self.path.as_deref().unwrap_or_default())).paint(Paint::Dim),
        ]
    }
}

/// The state of a signed approval: whether some skill of this name is what was approved.
fn anywhere(ctx: &RunContext, name: &str, digest: &str) -> State {
    let catalog = ctx.catalog();
    let mut states = catalog
        .entries()
        .iter()
        .filter(|entry| entry.name() == name);
    let Some(first) = states.next() else {
        return State::Gone;
    };
    let mut each = std::iter::once(first).chain(states);
    let is_same = each.any(|entry| matches!(state(&entry.dir, digest), State::Same));
    if is_same { State::Same } else { State::Changed }
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
pub fn list(ctx: &RunContext, common: Common, screen: Screen) -> Result<String> {
    let entries = ctx.approved().entries()?;
    let mut listed = Vec::new();
    for (name, approvals) in &entries {
        match approvals {
            Approvals::One(_) => listed.extend(Listed::new(ctx, name, None, approvals)),
            Approvals::Each(each) => {
                let paths = each.keys().map(|dir| Some(dir.as_str()));
                listed.extend(paths.filter_map(|dir| Listed::new(ctx, name, dir, approvals)));
            }
        }
    }
    for (name, asked) in ctx.approval_requests().entries()? {
        let answered =
            |found: &Approvals| found.has(&asked.digest) || found.is_withdrawn(&asked.digest);
        if !entries.get(&name).is_some_and(answered) {
            listed.push(Listed {
                name,
                path: None,
                digest: asked.digest,
                by: asked.by,
                time: Some(asked.time),
                state: State::Requested,
            });
        }
    }
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
