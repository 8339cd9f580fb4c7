//! Connects proposals with their skills: where a skill can be changed, and what a diff makes of its
//! current files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, Entry, Layer};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::marketplace::check_same_skill;
use crate::policy::Event;
use crate::proposal::{Applied, Proposal, ProposedChange, parse_diff};
use crate::signing;
use crate::skill::{Skill, SkillPath};
use crate::sys::{files, limits};

/// A file with a diff applied.
#[derive(Debug)]
pub struct ChangedFile {
    /// Its path in the skill.
    pub path: SkillPath,
    /// Its current digest.
    pub digest: String,
    /// Its content after the change.
    pub applied: Applied,
}

/// The audit event for a decision about a proposal.
#[must_use]
pub fn proposal_event(proposal: &Proposal, decision: &str) -> Event {
    Event::new("proposal")
        .with("skill", proposal.skill.as_str())
        .with("id", proposal.id.as_str())
        .with("change", proposal.change.kind())
        .with("decision", decision)
}

/// The directory whose `skills/` contains an installed entry, and its name there.
///
/// # Errors
/// If other programs manage that directory.
pub fn home_of(facts: &Facts, entry: &Entry) -> Result<(PathBuf, String)> {
    let real = |path: &Path| path.canonicalize().ok();
    let root = entry.dir.parent().and_then(real);
    let mut bases: Vec<PathBuf> = Layer::ALL.map(|layer| layer.dir(facts)).to_vec();
    bases.extend(facts.enterprise().dirs().into_iter().map(Path::to_owned));
    let base = bases
        .into_iter()
        .find(|base| root.is_some() && real(&base.join("skills")) == root);
    let name = entry.dir.file_name().and_then(std::ffi::OsStr::to_str);
    base.zip(name.map(str::to_owned)).ok_or_else(|| {
        let shown = entry.dir.display();
        let text = format!("`{shown}` is in a directory that agent-skills does not manage");
        Error::new(text).hint("change the file by hand, or with the program that put it there")
    })
}

/// The skill that a proposal concerns.
///
/// # Errors
/// If it no longer exists.
pub fn proposed_for<'c>(catalog: &'c Catalog, proposal: &Proposal) -> Result<&'c Entry> {
    let gone = || {
        Error::new(format!("the skill `{}` is no longer there", proposal.skill)).hint(format!(
            "`agent-skills proposals reject {}` forgets the proposal",
            proposal.id
        ))
    };
    let ProposedChange::Update { dir, .. } = &proposal.change else {
        return Err(gone());
    };
    let mut entries = catalog.entries().iter();
    let found = entries.find(|entry| entry.dir.display().to_string() == *dir);
    found
        .filter(|entry| entry.disclosed().is_some())
        .ok_or_else(gone)
}

/// Applies a diff to the skill in `dir`, which may be a copy of the one in `own` for which it was
/// written. `known` are the digests that the files had then; `None` for a new diff.
///
/// # Errors
/// If the diff is invalid, does not apply, or would make the skill invalid or a different one.
pub fn apply_diff(
    dir: &Path,
    own: &Path,
    diff: &str,
    known: Option<&BTreeMap<String, String>>,
) -> Result<Vec<ChangedFile>> {
    let mut changed = Vec::new();
    let mut seen = BTreeSet::new();
    for file in parse_diff(diff, own)? {
        let (real, open, metadata) = file.path.open(dir)?;
        let shown = file.path.as_path().display().to_string();
        let text = read_text(&open, metadata.len(), &shown)?;
        let digest = signing::digest(text.as_bytes(), false);
        let exact = known.is_none_or(|known| known.get(&shown) == Some(&digest));
        let applied = file.apply(&text, exact)?;
        if let Ok(before) = Skill::load(dir)
            && before.file.canonicalize().ok() == Some(real.clone())
        {
            let after = Skill::parse(&before.dir, before.file.clone(), applied.text.as_bytes());
            let after = after.map_err(|diagnostic| {
                Error::new(format!("the skill would become unreadable: {diagnostic}"))
                    .hint("keep its frontmatter valid")
            })?;
            check_same_skill(&before, &after)?;
        }
        if !seen.insert(real) {
            let text = format!("`{shown}` is changed under two names");
            return Err(Error::new(text).hint("use one name for all its changes"));
        }
        changed.push(ChangedFile {
            path: file.path,
            digest,
            applied,
        });
    }
    Ok(changed)
}

fn read_text(file: &File, size: u64, shown: &str) -> Result<String> {
    let bytes = files::read_file_capped(file, size, limits::SKILL_FILE)
        .map_err(|error| Error::io("read", Path::new(shown), &error))?;
    let text = String::from_utf8(bytes).ok();
    text.filter(|text| !text.contains('\0')).ok_or_else(|| {
        Error::new(format!("`{shown}` is not text"))
            .hint("a proposal changes the text of files only")
    })
}
