//! `signatures/` beside the lockfile: what proves the signatures of installed skills, each under the
//! SHA-256 of its bytes, by which the lockfile names it.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use crate::error::Result;
use crate::marketplace::lock::{LockEntry, Lockfile, previous};
use crate::marketplace::signature::evidence::{Evidence, EvidenceId};
use crate::sys::{Base, Durable, EntryName, files, limits};

const KEPT: EntryName = EntryName::from_static("signatures");
/// What no lockfile names is removed when it is older: a command that is running may have written it
/// and not the lockfile yet.
const LEFT: Duration = Duration::from_hours(24);

/// Keeps evidence before a lockfile names it.
///
/// # Errors
/// When it cannot be written.
pub fn keep(base: &Base, evidence: &Evidence) -> Result<EvidenceId> {
    let bytes = evidence.to_bytes();
    let id = EvidenceId::of(&bytes);
    let (Some(name), within) = (EntryName::parse(&*id), base.make()?) else {
        return Ok(id);
    };
    let dir = within.make_dir(&KEPT);
    let dir = dir.map_err(|error| within.error("make directory", &KEPT, &error))?;
    // What is damaged is written again.
    let there = dir.read(&name, limits::EVIDENCE);
    if there.is_ok_and(|there| there == bytes) {
        return Ok(id);
    }
    let written = dir.replace(&name, &bytes, 0o644, Durable::Yes);
    written.map_err(|error| dir.error("write", &name, &error))?;
    Ok(id)
}

/// Whether the evidence that a lockfile names is there.
pub fn has(base: &Base, id: &EvidenceId) -> bool {
    let within = base.open().ok().flatten();
    let dir = within.and_then(|within| within.open_dir(&KEPT).ok());
    dir.zip(EntryName::parse(&**id))
        .is_some_and(|(dir, name)| dir.has(&name))
}

/// The evidence that a lockfile names; `None` if it is gone or is another.
pub fn kept(base: &Base, id: &EvidenceId) -> Option<Evidence> {
    let dir = base.open().ok()??.open_dir(&KEPT).ok()?;
    let bytes = dir.read(&EntryName::parse(&**id)?, limits::EVIDENCE).ok()?;
    let is_it = EvidenceId::of(&bytes) == *id;
    is_it.then(|| Evidence::parse(&bytes).ok()).flatten()
}

/// Removes what neither an installed skill nor the state kept for `rollback` needs. Does nothing if
/// that is not known.
pub fn tidy(base: &Base) {
    let (Ok(Some(within)), Ok(lockfile)) = (base.open(), Lockfile::read(base)) else {
        return;
    };
    let Ok(dir) = within.open_dir(&KEPT) else {
        return;
    };
    let evidence = |entry: &LockEntry| entry.evidence.as_ref().map(ToString::to_string);
    let mut needed: BTreeSet<String> = lockfile.entries().iter().filter_map(evidence).collect();
    let Ok(earlier) = previous::entries(&within) else {
        return;
    };
    needed.extend(earlier.iter().filter_map(evidence));
    for (name, _) in dir.entries().unwrap_or_default() {
        let is_ours = name
            .as_str()
            .is_some_and(|name| EvidenceId::parse(name).is_ok());
        let is_needed = name.as_str().is_some_and(|name| needed.contains(name));
        let is_old = dir
            .path_of(&name)
            .metadata()
            .and_then(|found| found.modified());
        let is_old = is_old.is_ok_and(|modified| {
            SystemTime::now()
                .duration_since(modified)
                .is_ok_and(|age| age > LEFT)
        });
        if is_ours && !is_needed && is_old {
            // The next command tries again.
            let _ = dir.remove_file(&name);
        }
    }
    let _ = files::if_there(within.remove_empty(&KEPT));
}
