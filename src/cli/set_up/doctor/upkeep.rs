//! Checks for leftovers of killed commands and scripts.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::check::Check;
use crate::error::{Error, Result};
use crate::run_context::RunContext;
use crate::script::JobId;
use crate::sys::{EntryKind, FileLock, files, text};

/// How long a lock may be held before `doctor` mentions it. A hook holds one for about 1 ms.
const DOCTOR_LOCK: Duration = Duration::from_millis(500);
/// The age from which a temporary file counts as abandoned.
const LITTER_AGE: Duration = Duration::from_hours(1);

/// Locks that commands and hooks hold only briefly.
const LOCKS: [&str; 4] = [
    "state.lock",
    ".staging.lock",
    ".install.lock",
    ".sources.lock",
];

/// The checks of this area.
pub fn checks(ctx: &RunContext) -> Vec<Check> {
    let mut places = ctx.dirs.private(&ctx.env).to_vec();
    places.dedup();
    let mut checks: Vec<Check> = places.iter().flat_map(|dir| locks(dir)).collect();
    checks.extend(staging(ctx));
    checks.extend(places.iter().filter_map(|dir| temporary(dir)));
    checks.extend(jobs(ctx));
    if checks.is_empty() {
        checks.push(Check::ok("upkeep", "nothing was left behind"));
    }
    checks
}

/// A lock ends with its process, so a lock held for long belongs to a running process.
fn locks(dir: &Path) -> Vec<Check> {
    let all = LOCKS.iter().map(|name| dir.join(name));
    let there = all.filter(|path| path.symlink_metadata().is_ok());
    let held = there.filter_map(|path| {
        let error = FileLock::exclusive(&path, DOCTOR_LOCK).err()?;
        let path = path.display();
        let remedy = format!("wait for the command that holds it, or find it with `fuser {path}`");
        Some(Check::warn("lock-held", error.to_string(), remedy))
    });
    held.collect()
}

fn staging(ctx: &RunContext) -> Option<Check> {
    let base = ctx.base(&ctx.dirs.plugin);
    let left = ctx.market_at(&base).litter();
    if left == 0 {
        return None;
    }
    let installs = text::counted(left, "install was", "installs were");
    let text = format!("{installs} stopped half way and left files in staging/");
    let remedy = "the next install or update finishes or undoes them";
    let env = ctx.env.clone();
    Some(Check::warn("staging-litter", text, remedy).fix(move || {
        let ctx = RunContext::new(env, None);
        ctx.market_at(&base).clean_litter();
        match ctx.market_at(&base).litter() {
            0 => Ok(format!(
                "what {left} killed installs left in staging/ is gone"
            )),
            _ => Err(Error::new("staging/ could not be emptied").hint("check its permissions")),
        }
    }))
}

/// Temporary files that were never renamed.
fn temporary(dir: &Path) -> Option<Check> {
    let is_old = |path: &PathBuf| {
        let changed = path.symlink_metadata().and_then(|found| found.modified());
        let age = changed.ok().and_then(|changed| changed.elapsed().ok());
        age.is_some_and(|age| age > LITTER_AGE)
    };
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with('.') && (name.ends_with(".tmp") || name.starts_with(".agent-skills.new."))
    };
    let entries = files::entries(dir).ok()?.into_iter();
    // A directory is none of ours, whatever it is called.
    let files = entries.filter(|(_, kind)| matches!(kind, EntryKind::File | EntryKind::Link));
    let paths = files.map(|(name, _)| dir.join(name.as_os_str()));
    let left = paths.filter(|path| is_ours(path) && is_old(path));
    let left: Vec<PathBuf> = left.collect();
    let count = left.len();
    let text = format!("{count} temporary files are left in `{}`", dir.display());
    let remedy = "remove them: nothing uses them any more";
    let fix = move || remove(&left);
    (count > 0).then(|| Check::warn("temporary-files", text, remedy).fix(fix))
}

fn remove(files: &[PathBuf]) -> Result<String> {
    let left = |file: &PathBuf| Some(Error::io("remove", file, &files::remove(file).err()?));
    let mut failed: Vec<Error> = files.iter().filter_map(left).collect();
    let gone = files.len() - failed.len();
    match failed.pop() {
        Some(error) => Err(error.context(format!(
            "{gone} of {} temporary files are gone",
            files.len()
        ))),
        None => Ok(format!("{gone} temporary files are gone")),
    }
}

/// Jobs whose supervisor died without recording an end.
fn jobs(ctx: &RunContext) -> Option<Check> {
    let jobs = ctx.jobs();
    let lost = jobs.list().into_iter().filter(|job| job.state == "lost");
    let lost: Vec<JobId> = lost.filter_map(|job| JobId::parse(&job.id)).collect();
    let count = lost.len();
    let jobs_ended = text::count(count, "job");
    let text = format!("{jobs_ended} ended without a result: a crash, or a reboot");
    let remedy = "`agent-skills jobs` lists them; what they printed is kept for a day";
    let fix = move || {
        for id in &lost {
            jobs.remove(id);
        }
        Ok(format!("{count} lost jobs were removed"))
    };
    (count > 0).then(|| Check::warn("jobs-lost", text, remedy).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_removed_keeps_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let names = [".a.tmp", ".d.tmp", ".b.tmp"].map(at);
        std::fs::create_dir(&names[1]).unwrap();
        for name in [&names[0], &names[2]] {
            std::fs::write(name, "").unwrap();
        }
        let told = remove(&names).unwrap_err().to_string();
        assert!(told.contains("2 of 3") && told.contains(".d.tmp"), "{told}");
        assert!(!names[0].exists() && !names[2].exists() && names[1].exists());
        assert_eq!(remove(&names[..0]).unwrap(), "0 temporary files are gone");
    }
}
