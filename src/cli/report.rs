//! What is told about an installed skill, in the shape that `--json` documents.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::app::{App, snapshot};
use crate::catalog::Entry;
use crate::marketplace::{LockEntry, State};
use crate::permission::Restriction;
use crate::skill::{Diagnostic, Level, tokens};

/// One skill directory, offered or not.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The skill's name, or its directory's when it could not be loaded.
    pub name: String,
    /// The tool that activates it; `null` when it is not offered.
    pub tool: Option<String>,
    /// As its author wrote it.
    pub description: Option<String>,
    /// As its author counts.
    pub version: Option<String>,
    /// The commit it was installed at.
    pub commit: Option<String>,
    /// Whether its files are others than were installed.
    pub changed: bool,
    /// Its directory.
    pub path: String,
    /// Whose it is: `enterprise`, `personal`, `project` or `plugin`.
    pub layer: &'static str,
    /// The working copy it is a link to.
    pub linked_to: Option<String>,
    /// Whether the model is told of it.
    pub offered: bool,
    /// What it may use; `null` when it restricts nothing.
    pub restriction: Option<RestrictionReport>,
    /// About how many tokens its instructions are.
    pub tokens: Option<usize>,
    /// What is odd about it.
    pub diagnostics: Vec<Diagnostic>,
}

/// A skill's tool lists.
#[derive(Debug, Serialize)]
pub struct RestrictionReport {
    /// `allowed-tools` as written; `null` when only denials restrict.
    pub allowed: Option<Vec<String>>,
    /// `disallowed-tools` as written.
    pub denied: Vec<String>,
    /// Each entry as it was understood.
    pub rules: Vec<String>,
}

/// The lockfiles of the directories that skills lie in, each read once.
#[derive(Debug, Default)]
pub struct Origins(RefCell<BTreeMap<PathBuf, Vec<LockEntry>>>);

/// What the lockfile says of a skill.
#[derive(Debug, Default)]
struct Origin {
    commit: Option<String>,
    changed: bool,
}

impl Origins {
    fn of(&self, app: &App, dir: &Path) -> Option<Origin> {
        let base = dir.parent()?.parent()?;
        let name = dir.file_name()?.to_str()?;
        let mut read = self.0.borrow_mut();
        let entries = read
            .entry(base.to_owned())
            .or_insert_with(|| app.market_at(base).entries().unwrap_or_default());
        let entry = entries.iter().find(|entry| entry.name == name)?;
        let market = app.market_at(base);
        let verified = market.verify(std::slice::from_ref(&entry.name)).ok();
        let state = verified.and_then(|all| Some(all.first()?.state));
        Some(Origin {
            commit: entry.commit.clone(),
            changed: state == Some(State::Changed),
        })
    }
}

impl Report {
    /// The report on one directory of the catalog.
    pub fn of(app: &App, origins: &Origins, entry: &Entry) -> Self {
        let mut diagnostics = entry.diagnostics();
        let skill = entry.disclosed();
        let mut restriction = None;
        if let Some(skill) = skill {
            let kept = snapshot(skill, "");
            let allowed = kept.allowed.as_deref();
            let root = app.env.project_root();
            let parsed = Restriction::parse(&kept.name, allowed, &kept.denied, &skill.dir, &root);
            let note = |note: &crate::permission::RuleNote| Diagnostic {
                code: note.code.to_owned(),
                level: Level::Warning,
                message: note.message.clone(),
            };
            diagnostics.extend(parsed.notes().iter().map(note));
            let rules = parsed.rules().map(ToString::to_string).collect();
            restriction = kept.is_restricted().then_some(RestrictionReport {
                allowed: kept.allowed,
                denied: kept.denied,
                rules,
            });
        }
        let origin = origins.of(app, &entry.dir).unwrap_or_default();
        Self {
            name: entry.name(),
            tool: entry.tool.clone(),
            description: skill.and_then(|skill| skill.description.clone()),
            version: skill.and_then(|skill| skill.fields.version()),
            commit: origin.commit,
            changed: origin.changed,
            path: entry.dir.display().to_string(),
            layer: entry.layer.as_str(),
            linked_to: std::fs::read_link(&entry.dir)
                .ok()
                .map(|to| to.display().to_string()),
            offered: entry.tool.is_some(),
            restriction,
            tokens: skill
                .and_then(|skill| skill.body().ok())
                .map(|body| tokens(&body)),
            diagnostics,
        }
    }
}
