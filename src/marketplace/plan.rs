//! What an install would bring, for a person to look at before anything lands in `skills/`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Map;

use super::copy::CopyPlan;
use super::digest::Digest;
use super::discover::Found;
use super::fetch::Snapshot;
use super::installed_name::InstalledName;
use super::lock_fields::{License, LockPath, TreeId};
use super::lockfile::LockEntry;
use super::origin::Origin;
use super::pin::Reach;
use super::scan::{self, Finding};
use super::staging::Prepared;
use crate::error::{Error, Result};
use crate::skill::{Level, Skill, ToolList, is_script};

/// An install about to happen.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    /// The canonical address, or the absolute directory.
    pub source: String,
    /// The commit; none for a directory.
    pub commit: Option<String>,
    /// The skills that would land. Those already installed are not among them.
    pub skills: Vec<Planned>,
}

impl Plan {
    /// The plan to move staged skills into place.
    pub fn of(origin: &Origin, staged: &[Staged]) -> Self {
        Self {
            source: origin.source.clone(),
            commit: origin.commit.clone(),
            skills: staged.iter().map(|staged| staged.planned.clone()).collect(),
        }
    }
}

/// Where a skill that would land comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// The canonical address, or the absolute directory.
    pub source: String,
    /// Where git really went for it, if elsewhere.
    pub address: Option<String>,
    /// The commit; none for a directory.
    pub commit: Option<String>,
    /// Whether that commit is the source's own; none where nobody else could have put it there.
    pub reach: Option<Reach>,
}

/// One skill that would land.
#[derive(Debug, Clone, Serialize)]
pub struct Planned {
    /// Its directory in `skills/`.
    pub name: String,
    /// Where it comes from; none for one that is made here.
    pub provenance: Option<Provenance>,
    /// Its author's words, unescaped.
    pub description: Option<String>,
    /// Its directory in the source.
    pub path: String,
    /// How many files.
    pub files: usize,
    /// All of them together, in bytes.
    pub bytes: u64,
    /// The paths of the files.
    pub paths: Vec<String>,
    /// The files that can be run.
    pub scripts: Vec<String>,
    /// The entries of `allowed-tools`; none when it restricts nothing.
    pub allowed_tools: Option<Vec<String>>,
    /// The entries of `disallowed-tools`.
    pub disallowed_tools: Vec<String>,
    /// What was left out and why, a sentence each.
    pub dropped: Vec<String>,
    /// What is odd about it, a sentence each.
    pub warnings: Vec<String>,
    /// What should be looked at, the worst first.
    pub findings: Vec<Finding>,
}

/// A skill in a staging directory, whole and readable.
#[derive(Debug)]
pub struct Staged {
    /// Where it is.
    pub place: Prepared,
    /// What the lockfile will say.
    pub entry: LockEntry,
    /// What to show.
    pub planned: Planned,
}

/// What makes two skills the same one: source and path.
pub fn id(source: &str, path: &str) -> String {
    format!("{source}#{path}")
}

fn copied(snapshot: &Snapshot, found: &Found) -> Result<CopyPlan> {
    // A root skill does not swallow the others; one in a directory keeps those inside it.
    let others: Vec<String> = match found.path.as_str() {
        "" => snapshot
            .found
            .iter()
            .map(|f| f.path.clone())
            .filter(|path| !path.is_empty())
            .collect(),
        _ => Vec::new(),
    };
    CopyPlan::new(&snapshot.tree, &found.path, &others)
}

/// Brings the files of several skills at once, before each is staged.
///
/// # Errors
/// When they cannot be had.
pub fn bring(snapshot: &Snapshot, chosen: &[&Found]) -> Result<()> {
    let mut files = Vec::new();
    for found in chosen {
        // What cannot be copied is told of when it is staged.
        files.extend(copied(snapshot, found).iter().flat_map(CopyPlan::wanted));
    }
    snapshot.content.bring(&files)
}

/// Copies a skill to `place`, reads it back and describes it. `name` is the directory it will have.
///
/// # Errors
/// When it cannot be copied, or what was copied is no readable skill.
pub fn stage(
    snapshot: &Snapshot,
    found: &Found,
    origin: &Origin,
    name: &InstalledName,
    place: Prepared,
) -> Result<Staged> {
    let of_skill = |error: Error| error.context(format!("skill `{name}`"));
    let mut copy = copied(snapshot, found).map_err(of_skill)?;
    let content = &*snapshot.content;
    copy.write(content, &place.make()?).map_err(of_skill)?;
    let (skill, digest, mut planned) = look(&place.path(), name, &found.path, copy.dropped)?;
    planned.provenance = Some(origin.provenance());
    let deceives = |error: Error| of_skill(error.hint("tell its author"));
    let entry = LockEntry {
        id: id(&origin.source, &found.path),
        name: name.clone(),
        source: origin.source.clone(),
        address: origin.address.clone(),
        kind: origin.kind,
        requested: origin.requested.clone(),
        rev: origin.rev.clone(),
        commit: origin.commit.clone(),
        path: LockPath::parse(&found.path).map_err(deceives)?,
        tree: snapshot
            .tree_id(&found.path)
            .and_then(|id| TreeId::parse(id).ok()),
        sha256: digest.sha256,
        files: digest.files,
        license: skill.fields.text("license").as_deref().map(License::of),
        other: Map::new(),
    };
    if let Some(field) = entry.unreadable() {
        let text = format!("its {field} has characters that deceive a reader");
        return Err(of_skill(Error::new(text).hint("tell its author")));
    }
    Ok(Staged {
        place,
        entry,
        planned,
    })
}

/// Reads what has been staged in `dir` to be the skill `name`, and describes it.
///
/// # Errors
/// When it is no readable skill.
pub fn look(
    dir: &Path,
    name: &str,
    path: &str,
    dropped: Vec<String>,
) -> Result<(Skill, Digest, Planned)> {
    let skill = Skill::load(dir).map_err(|diagnostic| {
        let text = format!("skill `{name}` cannot be installed: {}", diagnostic.message);
        Error::new(text).hint("tell its author")
    })?;
    let digest = Digest::of(dir).map_err(|error| error.context(format!("skill `{name}`")))?;
    let warnings = skill.diagnostics.iter().filter(|d| d.level > Level::Note);
    let planned = Planned {
        name: name.to_owned(),
        provenance: None,
        description: skill.description.clone(),
        path: path.to_owned(),
        files: digest.files.len(),
        bytes: digest.bytes,
        paths: digest.files.keys().cloned().collect(),
        scripts: scripts(&digest.files),
        allowed_tools: allowed_tools(&skill),
        disallowed_tools: skill.fields.disallowed_tools(),
        dropped,
        warnings: warnings.map(|d| d.message.clone()).collect(),
        findings: scan::scan(dir),
    };
    Ok((skill, digest, planned))
}

/// The entries of `allowed-tools`; none when it restricts nothing.
pub fn allowed_tools(skill: &Skill) -> Option<Vec<String>> {
    match skill.fields.allowed_tools() {
        ToolList::Listed(entries) => Some(entries),
        ToolList::Absent | ToolList::Null => None,
    }
}

/// The files that can be run, of some with their digests.
pub fn scripts(files: &BTreeMap<String, String>) -> Vec<String> {
    let can_run = |path: &str, digest: &str| digest.ends_with("+x") || is_script(Path::new(path));
    files
        .iter()
        .filter(|(path, digest)| can_run(path, digest))
        .map(|(path, _)| path.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_room_runs_is_a_script_here() {
        let named = [
            "a.awk", "a.tcl", "a.jl", "a.fish", "a.ksh", "a.nu", "a.exs", "a.raku", "a.hs",
            "a.mts", "a.PY", "a.sh",
        ];
        let file = |path: &&str| ((*path).to_owned(), "0".to_owned());
        let mut files: BTreeMap<String, String> = named.iter().map(file).collect();
        files.insert("run".to_owned(), "0+x".to_owned());
        files.insert("notes.md".to_owned(), "0".to_owned());
        let found = scripts(&files);
        assert!(!found.contains(&"notes.md".to_owned()));
        assert_eq!(found.len(), files.len() - 1, "{found:?}");
    }
}
