//! Makes what is installed equal to a list, a lockfile or a collection in a registry: everything that
//! differs is fetched, checked and staged before the first skill is moved, and all of it is moved as
//! one change (`change.rs`). What is equal already costs nothing but reading it.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::marketplace::fetch::patience;
use crate::marketplace::install::{Plan, SkillChange, StagedSkill, Staging};
use crate::marketplace::lock::{Digest, InstalledName, LockEntry, Lockfile, listed_name};
use crate::marketplace::prelude::*;
use crate::marketplace::source::Origin;
use crate::marketplace::{Market, Note};

/// Whoever comes later waits, and then finds what it wants.
const LOCK: EntryName = EntryName::from_static(".sync.lock");

/// What becomes of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SyncAction {
    /// It is as the list has it.
    Unchanged,
    /// It is new.
    Installed,
    /// Other files take its place.
    Replaced,
    /// Its files stay, and the lockfile says where the list has them from.
    Recorded,
    /// The list does not have it.
    Removed,
    /// The list does not have it, and it stays.
    Extra,
}

/// A skill, and what becomes of it.
#[derive(Debug, Clone, Serialize)]
pub struct SyncedSkill {
    /// Its directory's name.
    pub name: InstalledName,
    /// See [`SyncAction`].
    pub change: SyncAction,
    /// Where the list has it from; for one that it does not have, where it came from.
    pub source: String,
    /// The commit that was installed.
    pub from: Option<String>,
    /// The commit that the list has.
    pub to: Option<String>,
    /// Whether it was changed here after it was installed.
    pub edited: bool,
    /// Where a copy with these changes is kept.
    pub stashed: Option<String>,
    /// Its files as they are, if they are replaced or removed.
    #[serde(skip)]
    seen: Option<Digest>,
}

/// What a synchronisation is about to do.
#[derive(Debug)]
pub struct SyncPlan {
    /// What is put into place.
    pub plan: Plan,
    /// All skills, those that stay included.
    pub skills: Vec<SyncedSkill>,
}

/// Receives what would be done, and decides.
pub type AgreeToAll<'a> = dyn FnMut(&SyncPlan) -> Result<bool> + 'a;

impl SyncedSkill {
    fn new(listed: &LockEntry, change: SyncAction) -> Self {
        Self {
            name: listed.name.clone(),
            change,
            source: listed.source.clone(),
            from: None,
            to: listed.commit.clone(),
            edited: false,
            stashed: None,
            seen: None,
        }
    }

    /// Whether anything is done to it.
    pub fn is_change(&self) -> bool {
        !matches!(self.change, SyncAction::Unchanged | SyncAction::Extra)
    }
}

impl Market<'_> {
    /// Makes what is installed equal to `list`, of which `permit` may refuse a skill; with `prune`, what else came from a source is removed.
    /// What was put there by hand, or is a link, is never touched.
    ///
    /// # Errors
    /// When anything cannot be had, is refused or cannot be written: nothing is changed then.
    pub fn sync(
        &self,
        (list, prune): (&SyncList, bool),
        permit: &dyn Fn(&SyncedSkill) -> Result<()>,
        agree: &mut AgreeToAll,
        note: &mut Note,
    ) -> Result<Vec<SyncedSkill>> {
        let lockfile = self.begin()?;
        let listed = self.read_list(list)?;
        if prune && !matches!(list, SyncList::Own) && listed.is_empty() {
            // It is rather an accident of whoever makes the list.
            let text = "the list is empty, so `--prune` would remove every skill";
            return Err(Error::new(text).hint("to remove them: `agent-skills remove NAME …`"));
        }
        let compared = self.compare_all(&listed, &lockfile, prune)?;
        // What is there already may be forbidden since.
        let mut of_list = compared
            .iter()
            .filter(|one| !matches!(one.change, SyncAction::Extra | SyncAction::Removed));
        of_list.try_for_each(permit)?;
        if !compared.iter().any(SyncedSkill::is_change) {
            return Ok(compared);
        }
        // Somebody else may have done it meanwhile.
        let lock = || self.plugin_dir.make()?.lock(&LOCK, patience(self.deadline));
        let _lock = (!self.dry_run).then(lock).transpose()?;
        let lockfile = Lockfile::read(self.plugin_dir)?;
        let compared = self.compare_all(&listed, &lockfile, prune)?;
        if !compared.iter().any(SyncedSkill::is_change) {
            return Ok(compared);
        }
        let staging = self.staging()?;
        // What is compared begins with what is listed, in the same order.
        let differing = listed.iter().zip(&compared);
        let differing = differing.filter(|(_, one)| one.is_change());
        let differing: Vec<&LockEntry> = differing.map(|(entry, _)| entry).collect();
        let staged = self.restage(&differing, true, &staging, note)?;
        // From another source, another signer is expected.
        let before = |one: &StagedSkill| {
            let before = lockfile.get(&one.entry.name);
            before.filter(|entry| entry.source == one.entry.source)
        };
        let hint = "ask its author; `agent-skills update --accept-signer` accepts it";
        self.check_signers(&staged, before, hint)?;
        self.make_equal(&lockfile, &staging, compared, &staged, agree)
    }

    /// Restores the named skills, or all in the lockfile, where their files differ from it: in the
    /// recorded state and no other, so nothing new needs consent. What was changed is kept in
    /// `stash/`.
    ///
    /// # Errors
    /// When a name matches no skill in the lockfile, or a recorded state is no longer available.
    /// Nothing is changed then.
    pub fn repair(&self, names: &[String], note: &mut Note) -> Result<Vec<SyncedSkill>> {
        let lockfile = self.begin()?;
        let (mut entries, mut skills) = (Vec::new(), Vec::new());
        for one in self.verify(names)?.iter().filter(|one| !one.is_well()) {
            let entry = lockfile.get(&one.name);
            let entry = entry.ok_or_else(|| Error::new("the lockfile changed meanwhile"))?;
            skills.push(self.compare_one(entry, Some(entry))?);
            note(&format!("restoring `{}`", entry.name));
            entries.push(entry);
        }
        let staging = self.staging()?;
        let staged = self.restage(&entries, true, &staging, note)?;
        self.make_equal(&lockfile, &staging, skills, &staged, &mut |_| Ok(true))
    }

    /// The list compared with what is installed.
    fn compare_all(
        &self,
        listed: &[LockEntry],
        lockfile: &Lockfile,
        prune: bool,
    ) -> Result<Vec<SyncedSkill>> {
        let compared = listed
            .iter()
            .map(|one| self.compare_one(one, lockfile.get(&one.name)));
        let mut skills = compared.collect::<Result<Vec<_>>>()?;
        let names: HashSet<&InstalledName> = listed.iter().map(|one| &one.name).collect();
        let is_extra = |entry: &&LockEntry| !names.contains(&entry.name);
        for entry in lockfile.entries().iter().filter(is_extra) {
            let dir = self.dir(&entry.name);
            let stays = !prune || dir.is_symlink();
            let fate = if stays {
                SyncAction::Extra
            } else {
                SyncAction::Removed
            };
            let mut one = SyncedSkill::new(entry, fate);
            (one.from, one.to) = (one.to, None);
            if !stays && dir.is_dir() {
                let now = Digest::read(&dir)?;
                one.edited = now.sha256 != entry.sha256;
                one.seen = Some(now);
            }
            skills.push(one);
        }
        Ok(skills)
    }

    fn compare_one(
        &self,
        listed: &LockEntry,
        installed: Option<&LockEntry>,
    ) -> Result<SyncedSkill> {
        let dir = self.dir(&listed.name);
        let name = listed_name(&listed.name);
        self.check_inside(listed)?;
        let Ok(found) = dir.symlink_metadata() else {
            let mut one = SyncedSkill::new(listed, SyncAction::Installed);
            one.from = installed.and_then(|entry| entry.commit.clone());
            return Ok(one);
        };
        let is_other = !found.is_dir();
        let Some(entry) = installed.filter(|_| !is_other) else {
            let what = if is_other {
                "is a link or a file here"
            } else {
                "was put there by hand"
            };
            let text = format!("`{name}` {what}, so the list's skill cannot replace it");
            return Err(Error::new(text).hint(past(&dir, "then the skill can be installed")));
        };
        let now = Digest::read(&dir)?;
        let mut one = SyncedSkill::new(listed, SyncAction::Unchanged);
        one.from.clone_from(&entry.commit);
        one.edited = now.sha256 != entry.sha256;
        let is_at = entry.source == listed.source && entry.commit == listed.commit;
        one.change = if now.sha256 == listed.sha256 {
            one.edited = false;
            let is_same =
                entry.id == listed.id && entry.rev == listed.rev && entry.sha256 == listed.sha256;
            if is_at && is_same {
                SyncAction::Unchanged
            } else {
                SyncAction::Recorded
            }
        } else if listed.is_of_unknown_files() && is_at && !one.edited {
            SyncAction::Unchanged
        } else {
            SyncAction::Replaced
        };
        one.seen = Some(now).filter(|_| one.is_change());
        Ok(one)
    }

    /// Asks, and makes the change.
    fn make_equal(
        &self,
        lockfile: &Lockfile,
        staging: &Staging,
        skills: Vec<SyncedSkill>,
        staged: &[StagedSkill],
        agree: &mut AgreeToAll,
    ) -> Result<Vec<SyncedSkill>> {
        let mut plan = SyncPlan {
            plan: Plan::new("the list", None, staged),
            skills,
        };
        // A collection says nothing of files; what has them already is only recorded.
        for one in &mut plan.skills {
            let new = staged.iter().find(|new| new.entry.name == one.name);
            let now = one.seen.as_ref().map(|now| &now.sha256);
            if one.change == SyncAction::Replaced && new.map(|new| &new.entry.sha256) == now {
                (one.change, one.edited) = (SyncAction::Recorded, false);
            }
        }
        if !agree(&plan)? {
            if self.dry_run {
                return Ok(plan.skills);
            }
            return Err(Error::new("nothing was changed: you said no"));
        }
        let mut steps = Vec::new();
        for one in &plan.skills {
            let new = staged.iter().find(|new| new.entry.name == one.name);
            let mut step = match (one.change, new) {
                (SyncAction::Removed, _) => SkillChange::gone(&one.name),
                (SyncAction::Recorded, Some(new)) => SkillChange::noted(&new.entry),
                (_, Some(new)) => SkillChange::staged(&new.entry),
                (_, None) => continue,
            };
            let entry = lockfile.get(&one.name).cloned();
            step.seen = one.seen.as_ref().map(|now| (now.sha256.clone(), entry));
            step.stashes = one.edited;
            steps.push(step);
        }
        let stashed = self.apply(&mut self.changes(staging)?, &mut steps)?;
        let changed = plan.skills.iter_mut().filter(|one| one.is_change());
        for (one, stashed) in changed.zip(stashed) {
            one.stashed = stashed;
        }
        Ok(plan.skills)
    }
}

/// What there is to be.
#[derive(Debug, Clone)]
pub enum SyncList {
    /// What the layer's own lockfile says.
    Own,
    /// What this lockfile says.
    File(PathBuf),
    /// The collection at this reference to a registry.
    Collection(String),
}

impl Market<'_> {
    /// Reads a list. Of a collection, one request says whether the kept index is still its index, and
    /// nothing is known of the files.
    fn read_list(&self, list: &SyncList) -> Result<Vec<LockEntry>> {
        let written = match list {
            SyncList::Own => return self.entries(),
            SyncList::File(path) => {
                let lockfile = Lockfile::listed(&self.env.cwd.join(path))?;
                return Ok(lockfile.entries().to_vec());
            }
            SyncList::Collection(written) => written,
        };
        let no_list = |why: &str| {
            let text = format!("`{}` {why}", one_line(written));
            Error::new(text)
                .hint("give a collection, oci://HOST/NAME[:TAG][@DIGEST], or a lockfile")
        };
        let place = match Reference::parse(written, None)? {
            Reference::Readings(mut readings) if readings.len() == 1 => readings.remove(0).place,
            _ => return Err(no_list("is not a collection in a registry")),
        };
        let SourceLocation::Registry { repo, at } = &place else {
            return Err(no_list("is not a collection in a registry"));
        };
        let staging = self.home_staging()?;
        let fetcher = self.fetcher(&staging);
        let digest = fetcher.resolve_tag(repo, at.as_ref())?.to_string();
        let members = fetcher.collection(repo, at.as_ref())?;
        let members = members.ok_or_else(|| no_list("is one skill, and no collection"))?;
        if let Some(unusable) = &members.unusable {
            let shown = one_line(unusable);
            let text = format!("has an entry without a skill's name: `{shown}`");
            return Err(no_list(&text).hint("nothing was changed; tell its publisher"));
        }
        let origin = Origin {
            source: repo.to_string(),
            kind: SourceKind::Oci,
            requested: written.clone(),
            rev: at.as_ref().map(|at| at.as_str().to_owned()),
            commit: Some(digest),
            ..Origin::default()
        };
        let mut listed = Vec::new();
        for member in &members.all {
            let name = SkillName::from_written(&member.name);
            let name = name.ok_or_else(|| no_list("has a skill without a usable name"))?;
            listed.push(origin.entry(&InstalledName::parse(name.as_str())?, &member.name));
        }
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(pair) = listed.windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(no_list(&format!("has `{}` twice", pair[0].name)));
        }
        Ok(listed)
    }
}
