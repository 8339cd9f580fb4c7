//! Restores skills: those that the lockfile lists, on another machine or after a loss, and the state
//! of one before an update, an approved proposal or a removal.

use std::path::Path;
use std::rc::Rc;

use crate::marketplace::fetch::{Fetcher, expand};
use crate::marketplace::install::names::check_same_name;
use crate::marketplace::install::{
    InstalledSkill, Plan, SkillChange, StagedSkill, Staging, copy_tree, plan,
};
use crate::marketplace::lock::{InstallState, InstalledName, KeptVersion, LockEntry, Lockfile};
use crate::marketplace::prelude::*;
use crate::marketplace::source::{SkillChoice, choose};
use crate::marketplace::{Confirm, Market, Note};
use crate::signing::{SignedObject, Signer};

/// The next step where a skill is not what the lockfile says.
const CHANGED: &str =
    "the lockfile or the source was changed: check it, then remove the skill and install it again";

impl Market<'_> {
    /// Whether there is a lockfile to restore from.
    pub fn has_lockfile(&self) -> bool {
        Lockfile::path(self.plugin_dir).symlink_metadata().is_ok()
    }

    /// Installs every missing skill of the lockfile in its recorded state. With `frozen`, skills
    /// that were changed here and sources that have changed are errors, and nothing is installed.
    ///
    /// # Errors
    /// When there is no lockfile, a recorded state is no longer available, or `frozen` forbids it.
    pub fn restore(
        &self,
        frozen: bool,
        confirm: &mut Confirm,
        note: &mut Note,
    ) -> Result<Vec<InstalledSkill>> {
        let lockfile = self.begin()?;
        if lockfile.entries().is_empty() {
            let path = Lockfile::path(self.plugin_dir);
            let text = format!("`{}` has no skill", path.display());
            return Err(Error::new(text).hint("give a REFERENCE to install"));
        }
        // Nobody has typed the source of a skill in a project's lockfile.
        let exact = frozen || self.plugin_dir.is_shared();
        let (mut results, mut missing) = (Vec::new(), Vec::new());
        for entry in lockfile.entries() {
            match self.compare(entry)?.state {
                InstallState::Missing => match self.check_inside(entry) {
                    Ok(()) => {
                        note(&format!("restoring `{}`", entry.name));
                        missing.push(entry);
                    }
                    Err(outside) if frozen => return Err(outside),
                    Err(outside) => {
                        let step = outside.next_step().unwrap_or_default();
                        note(&format!("{outside}; {step}"));
                    }
                },
                InstallState::Changed if frozen => {
                    let text = format!("`{}` differs from the lockfile", entry.name);
                    return Err(Error::new(text).hint(format!(
                        "`agent-skills verify {0}` shows what differs, \
                         `agent-skills verify --fix {0}` restores it",
                        entry.name
                    )));
                }
                InstallState::Changed | InstallState::Unreadable => {
                    let name = &entry.name;
                    note(&format!("`{name}` was changed here and is left as it is"));
                    results.push(self.already(&entry.name, &lockfile));
                }
                InstallState::Intact => results.push(self.already(&entry.name, &lockfile)),
            }
        }
        let staging = self.staging()?;
        let staged = self.restage(&missing, exact, &staging, note)?;
        let plan = Plan::new("the lockfile", None, &staged);
        results.extend(self.place(&staging, staged, &plan, confirm)?);
        Ok(results)
    }

    /// Checks that an entry does not lead elsewhere on this machine.
    ///
    /// # Errors
    /// When it does.
    pub(crate) fn check_inside(&self, entry: &LockEntry) -> Result<()> {
        if !entry.reading().is_ok_and(|of| self.leads_out(&of.place)) {
            return Ok(());
        }
        let (name, source) = (&entry.name, &entry.source);
        let text = format!("`{name}` is a copy of `{source}`, which is outside the project");
        Err(Error::new(text).hint(
            "check what it is; `agent-skills install DIR --project` copies it if you want it",
        ))
    }

    /// Whether a lockfile leads elsewhere on this machine than into the project with which it came:
    /// others write it, so only what a person types leads there.
    pub(crate) fn leads_out(&self, place: &SourceLocation) -> bool {
        let root = self.plugin_dir.path().parent().map(Path::canonicalize);
        let is_inside = |real: &Path| matches!(&root, Some(Ok(root)) if real.starts_with(root));
        let is_outside = |path: &str| {
            let real = expand(path, self.env).canonicalize();
            real.is_ok_and(|real| !is_inside(&real))
        };
        self.plugin_dir.is_shared()
            && match place {
                SourceLocation::Local(path) => {
                    let archive = path.rsplit_once("#sha256=");
                    is_outside(path) || archive.is_some_and(|(path, _)| is_outside(path))
                }
                // Git decodes it, so it is not compared.
                SourceLocation::Repository { url, .. } => url.as_str().starts_with("file:"),
                _ => false,
            }
    }

    /// Restores the state before the last update or proposal. The present state is kept instead, so
    /// a second rollback undoes the first. Returns the name of the skill's directory and its entry.
    ///
    /// # Errors
    /// When there is no previous state or it cannot be restored. The present state then stays.
    pub fn rollback(&self, written: &str) -> Result<(InstalledName, Option<LockEntry>)> {
        self.clean_litter();
        let staging = self.staging()?;
        let mut changes = self.changes(&staging)?;
        let (name, kept) = match self.installed(written) {
            Ok(name) => {
                let kept = KeptVersion::of(self.plugin_dir, &name)?;
                (name, kept)
            }
            Err(error) => {
                let Ok(name) = InstalledName::parse(written) else {
                    return Err(error);
                };
                let kept = KeptVersion::in_stash(self.plugin_dir, &name)?;
                (name, kept.ok_or(error)?)
            }
        };
        let copy = staging.prepare(&name)?;
        copy_tree(&kept.dir, &copy)?;
        let was_removed = !changes.has(&name);
        changes.make(&[&SkillChange::new(&name, &copy, kept.entry.as_ref())?])?;
        // Otherwise the next update would take what was brought back away for good.
        if was_removed && !self.dry_run {
            kept.clear(self.plugin_dir, staging.dir());
        }
        Ok((name, kept.entry))
    }

    /// Fetches the recorded states of skills, and checks their signatures again. Unless a state has to
    /// be `exact`, it may have changed in a source that keeps one state only, but not to a skill of
    /// another name.
    pub(super) fn restage(
        &self,
        entries: &[&LockEntry],
        exact: bool,
        staging: &Staging,
        note: &mut Note,
    ) -> Result<Vec<StagedSkill>> {
        let mut fetcher = self.fetcher(staging);
        let mut staged = Vec::with_capacity(entries.len());
        for entry in entries {
            let one = self.stage_again(entry, exact, staging, &mut fetcher, note);
            staged.push(one.map_err(|e| e.context(format!("skill `{}`", entry.name)))?);
        }
        self.check_signatures(staging, &mut staged)?;
        let pinned = |one: &StagedSkill| {
            let mut pinned = entries.iter().filter(|entry| !entry.is_of_unknown_files());
            pinned.find(|entry| entry.name == one.entry.name).copied()
        };
        self.check_signers(&staged, pinned, CHANGED)?;
        Ok(staged)
    }

    fn stage_again(
        &self,
        entry: &LockEntry,
        exact: bool,
        staging: &Staging,
        fetcher: &mut Fetcher,
        note: &mut Note,
    ) -> Result<StagedSkill> {
        let mut reading = entry.pinned()?;
        // Of a signed tag its commit does not lead to what was signed. If the tag has moved or is gone,
        // the commit may be signed itself.
        let is_tag = |signer: &Signer| signer.signed == SignedObject::Tag;
        if entry.signer.as_ref().is_some_and(is_tag) {
            let tag = entry.reading()?;
            let tagged = fetcher.open(&tag, &entry.requested, &[], false);
            if tagged.is_ok_and(|opened| opened.origin.commit == entry.commit) {
                reading = tag;
            }
        }
        let opened = fetcher.open(&reading, &entry.requested, &[], false)?;
        let want = opened.want(&reading);
        let found = choose(&opened.snapshot.found, &want, SkillChoice::default())?;
        let found = found
            .first()
            .ok_or_else(|| Error::new("it no longer exists there"))?;
        let dir = staging.prepare(&entry.name)?;
        let mut staged = plan::stage(
            &opened.snapshot,
            found,
            &Rc::new(opened.origin),
            &entry.name,
            &dir,
        )?;
        staged.entry.rev.clone_from(&entry.rev);
        staged.entry.other.clone_from(&entry.other);
        if !entry.is_of_unknown_files() && staged.entry.sha256 != entry.sha256 {
            let text = format!(
                "{} no longer has the files that the lockfile lists",
                entry.source
            );
            if exact || matches!(entry.kind, SourceKind::Git | SourceKind::Oci) {
                return Err(Error::new(text).hint(CHANGED));
            }
            note(&format!("{text}; its present content is installed instead"));
            check_same_name(&entry.name, &self.dir(&entry.name), &staged.path)?;
        }
        Ok(staged)
    }
}
