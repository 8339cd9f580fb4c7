//! Updates installed skills from their sources. A skill changed by hand is left alone unless its user
//! decides otherwise, and even then its state is kept.

use std::collections::HashSet;
use std::rc::Rc;

use serde::Serialize;

use crate::marketplace::Market;
use crate::marketplace::fetch::{Fetcher, OpenedPlace, Snapshot};
use crate::marketplace::install::difference::line_by_line;
use crate::marketplace::install::names::check_same_name;
use crate::marketplace::install::signer_checks::permit;
use crate::marketplace::install::{Difference, SkillChange, Staging, plan};
use crate::marketplace::lock::{Digest, InstalledName, LockEntry, Lockfile};
use crate::marketplace::prelude::*;
use crate::marketplace::reference::CommitPrefix;
use crate::marketplace::source::{
    Origin, SkillInTree, UpstreamState, ancestry, find_again, is_same_tree, moved, newer_tags,
    upstream_state,
};
use crate::marketplace::verification::{KeySetCache, is_signed};

impl Market<'_> {
    /// Updates the named skills, or all in the lockfile. If one fails, the others are still
    /// updated. `agree` receives the difference before it is applied.
    ///
    /// # Errors
    /// When a name matches no installed skill, or this version may not change the lockfile.
    pub fn update(
        &self,
        names: &[String],
        options: UpdateOptions,
        agree: &mut Agree,
    ) -> Result<Vec<Updated>> {
        let lockfile = self.begin()?;
        let directories = self.meant(names, &lockfile)?;
        let staging = self.staging()?;
        let mut fetcher = self.fetcher(&staging);
        let update = UpdateRun {
            market: self,
            options,
            staging: &staging,
        };
        let progress = Progress::new("checking skills", directories.len(), self.progress);
        let mut checked = Vec::new();
        for (done, name) in directories.iter().enumerate() {
            progress.at(done);
            checked.push(match lockfile.get(name) {
                Some(entry) => update.look(entry, &mut fetcher),
                None => Err(Error::new(format!("the source of `{name}` is not known"))
                    .hint("remove it and install it from its source")
                    .into()),
            });
        }
        drop(progress);
        bring(&checked);
        let mut sets = KeySetCache::new(self.tool(&staging));
        let settled = checked.into_iter().map(|checked| {
            let decided = checked.and_then(|behind| update.decide(&behind, &mut sets, agree));
            decided.unwrap_or_else(|settled| settled)
        });
        let settled: Vec<UpdateDecision> = settled.collect();
        let changes = directories.into_iter().zip(update.apply(settled));
        let after = Lockfile::read(self.plugin_dir)?;
        let updated = changes.map(|(name, change)| {
            let signer = after.get(&name).and_then(|entry| entry.signer.as_ref());
            let had = lockfile
                .get(&name)
                .is_some_and(|entry| entry.signer.is_some());
            let newer_tags = lockfile.get(&name).map(|entry| newer_tags(entry, &fetcher));
            let skill = Skill::load(&self.dir(&name)).ok();
            Updated {
                version: skill.and_then(|skill| skill.fields.version()),
                newer_tags: newer_tags.unwrap_or_default(),
                new_signer: signer.filter(|_| !had).map(ToString::to_string),
                name: name.to_string(),
                change,
            }
        });
        Ok(updated.collect())
    }

    /// The directories that the names mean, or all in the lockfile if there are no names.
    pub(crate) fn meant(
        &self,
        names: &[String],
        lockfile: &Lockfile,
    ) -> Result<Vec<InstalledName>> {
        if names.is_empty() {
            let managed = |name: &InstalledName| lockfile.get(name).is_some();
            return Ok(self.directories().into_iter().filter(managed).collect());
        }
        let mut seen = HashSet::new();
        let directories = names.iter().map(|name| self.installed(name));
        let mut directories = directories.collect::<Result<Vec<_>>>()?;
        directories.retain(|name| seen.insert(name.clone()));
        Ok(directories)
    }
}

/// One update of many skills: each is compared, all that differ are fetched and staged, and what
/// was agreed to is moved into place under one lock.
struct UpdateRun<'u> {
    market: &'u Market<'u>,
    options: UpdateOptions<'u>,
    staging: &'u Staging,
}

/// What becomes of a skill of which nothing more has to be found out, and the change that makes it
/// so, if anything has to be done. An error settles it, too.
struct UpdateDecision(Box<(UpdateResult, Option<SkillChange>)>);

impl UpdateDecision {
    /// The skill matches its source, and `entry` records its new commit, unless the lockfile `stays`.
    fn equal(stays: bool, entry: &LockEntry) -> Self {
        let change = (!stays).then(|| SkillChange::noted(entry));
        Self(Box::new((UpdateResult::UpToDate, change)))
    }
}

impl From<UpdateResult> for UpdateDecision {
    fn from(result: UpdateResult) -> Self {
        Self(Box::new((result, None)))
    }
}

impl<E: Into<Error>> From<E> for UpdateDecision {
    fn from(error: E) -> Self {
        UpdateResult::failed(&error.into()).into()
    }
}

/// A skill that differs from its source.
struct OutdatedSkill<'e, 's> {
    entry: &'e LockEntry,
    snapshot: Rc<Snapshot<'s>>,
    origin: Rc<Origin>,
    found: SkillInTree,
    ancestry: Option<Ancestry>,
    /// Whether the lockfile stays unchanged even if the files are equal.
    stays: bool,
}

impl UpdateRun<'_> {
    /// Compares a skill with its source, without the files.
    fn look<'e, 's>(
        &self,
        entry: &'e LockEntry,
        fetcher: &mut Fetcher<'s>,
    ) -> Result<OutdatedSkill<'e, 's>, UpdateDecision> {
        let switch = self.options.switch;
        let rev = switch.map_or(entry.rev.as_deref(), |switch| Some(&switch.to));
        let reading = Reading::recorded(entry.kind, &entry.source, rev, &entry.path)?;
        let inside = self.market.check_inside(entry);
        inside.map_err(|outside| UpdateResult::kept(None, &outside))?;
        let meant = |commit: &Option<String>| {
            let to = self.options.to;
            to.map_or(Ok(()), |to| to.check(commit.as_deref()))
        };
        let known = match switch {
            Some(_) => UpstreamState::Other,
            None => upstream_state(entry, &reading, fetcher)?,
        };
        match known {
            UpstreamState::Same => {
                meant(&entry.commit)?;
                return Err(UpdateResult::UpToDate.into());
            }
            UpstreamState::Moved(tag) => {
                return Err(UpdateResult::kept(None, &moved(entry, &tag)).into());
            }
            UpstreamState::Other => {}
        }
        let requested = switch.map_or(&entry.requested, |switch| &switch.requested);
        let OpenedPlace {
            snapshot, origin, ..
        } = fetcher.open(&reading, requested, &[], false)?;
        meant(&origin.commit)?;
        let found = find_again(entry, &snapshot)?.clone();
        let ancestry = ancestry(entry, &reading, &origin, fetcher);
        // If the new commit does not descend from the installed one, the lockfile does not record
        // it without asking, even if the files are equal: later commits would look like normal
        // updates.
        let stays = self.market.dry_run || !ancestry.is_none_or(Ancestry::goes_forward);
        let is_same = switch.is_none() && is_same_tree(entry, &snapshot, &found);
        let is_signed = is_same && is_signed(&snapshot, &origin)?;
        if is_same && !is_signed && entry.signer.is_some() {
            // The lockfile names the commit that was signed.
            return Err(UpdateResult::UpToDate.into());
        }
        if is_same && !is_signed {
            let entry = LockEntry {
                commit: origin.commit,
                rev: origin.rev,
                address: origin.address,
                ..entry.clone()
            };
            return Err(UpdateDecision::equal(stays, &entry));
        }
        Ok(OutdatedSkill {
            entry,
            snapshot,
            origin: Rc::new(origin),
            found,
            ancestry,
            stays,
        })
    }

    /// Stages what its source has, checks it, compares it with what is installed, and asks about it.
    fn decide(
        &self,
        behind: &OutdatedSkill,
        sets: &mut KeySetCache,
        agree: &mut Agree,
    ) -> Result<UpdateDecision, UpdateDecision> {
        let entry = behind.entry;
        let dir = self.staging.prepare(&entry.name)?;
        let (snapshot, origin) = (&behind.snapshot, &behind.origin);
        let mut staged = plan::stage(snapshot, &behind.found, origin, &entry.name, &dir)?;
        self.market.check_signature(&mut staged, sets)?;
        staged.entry.other.clone_from(&entry.other);
        if self.options.switch.is_none() && staged.entry.sha256 == entry.sha256 {
            // The lockfile names the commit that its signer has signed.
            let stays = behind.stays
                || self.market.signer_change(entry, &staged.planned).is_some()
                || permit(&staged.planned, false).is_err();
            return Ok(UpdateDecision::equal(stays, &staged.entry));
        }
        let installed = self.market.dir(&entry.name);
        check_same_name(&entry.name, &installed, &staged.path)?;
        let now = Digest::read(&installed)?;
        let new = &staged.entry.files;
        let mut difference = Difference::between(&installed, &now, &staged.planned, new);
        difference.from.clone_from(&entry.commit);
        difference.to.clone_from(&staged.entry.commit);
        difference.edited = now.sha256 != entry.sha256;
        difference.ancestry = behind.ancestry;
        if self.options.diff {
            difference.text = Some(line_by_line((&installed, &now.files), (&staged.path, new))?);
        }
        difference.signature.clone_from(&staged.planned.signature);
        difference.signed_before.clone_from(&entry.signer);
        permit(&staged.planned, false)?;
        if !self.options.accept_signer
            && let Some((code, error)) = self.market.signer_change(entry, &staged.planned)
        {
            let hint = "ask its author; `agent-skills update --accept-signer` accepts it";
            return Ok(UpdateResult::kept(Some(code), &error.hint(hint)).into());
        }
        if self.market.dry_run {
            return Ok(UpdateResult::Available(Box::new(difference)).into());
        }
        if difference.edited && self.options.edited == LocalEdits::Keep {
            let name = &entry.name;
            let text = format!("`{name}` was changed both here and in its source");
            let hint =
                "`--stash` keeps a copy of your changes and updates; `--force` overwrites them";
            return Ok(UpdateResult::kept(None, &Error::new(text).hint(hint)).into());
        }
        if !agree(&difference)? {
            return Ok(UpdateResult::kept(None, &Error::new("you said no")).into());
        }
        let mut step = SkillChange::staged(&staged.entry);
        step.stashes = self.options.edited == LocalEdits::Stash && difference.edited;
        step.seen = Some((now.sha256, Some(entry.clone())));
        let change = UpdateResult::Updated {
            from: entry.commit.clone(),
            to: staged.entry.commit,
            dropped: staged.planned.dropped.clone(),
            stashed: None,
        };
        Ok(UpdateDecision(Box::new((change, Some(step)))))
    }

    /// Writes the entries and replaces the skills, all under one lock. Returns what became of each.
    fn apply(&self, settled: Vec<UpdateDecision>) -> Vec<UpdateResult> {
        let (mut changes, steps): (Vec<_>, Vec<_>) = settled.into_iter().map(|it| *it.0).unzip();
        let steps = steps.into_iter().enumerate();
        let steps = steps.filter_map(|(of, step)| Some((of, step?)));
        let (of, mut steps): (Vec<usize>, Vec<SkillChange>) = steps.unzip();
        let apply = |some: &mut [SkillChange]| {
            if some.is_empty() {
                return Ok(Vec::new());
            }
            let mut changes = self.market.changes(self.staging)?;
            self.market.apply(&mut changes, some)
        };
        let landed: Vec<Result<_>> = if let Ok(stashed) = apply(&mut steps) {
            stashed.into_iter().map(Ok).collect()
        } else {
            // What keeps one from being replaced keeps no other from it.
            let each = steps.iter_mut().map(std::slice::from_mut);
            each.map(|one| Ok(apply(one)?.pop().flatten())).collect()
        };
        for (of, landed) in of.into_iter().zip(landed) {
            match (landed, &mut changes[of]) {
                (Err(error), change) => *change = UpdateResult::failed(&error),
                (Ok(place), UpdateResult::Updated { stashed, .. }) => *stashed = place,
                (Ok(_), _) => {}
            }
        }
        changes
    }
}

/// Fetches the files of all skills of a source that differ in one request.
fn bring(checked: &[Result<OutdatedSkill, UpdateDecision>]) {
    let mut left: Vec<&OutdatedSkill> = checked.iter().flatten().collect();
    while let Some(first) = left.first() {
        let snapshot = Rc::clone(&first.snapshot);
        let is_same = |one: &&OutdatedSkill| Rc::ptr_eq(&one.snapshot, &snapshot);
        let (same, others): (Vec<_>, Vec<_>) = left.into_iter().partition(is_same);
        // What cannot be fetched together is fetched, or reported, for each skill.
        let _ = plan::bring(&snapshot, same.iter().map(|one| &one.found));
        left = others;
    }
}

/// Options of an update.
#[derive(Debug, Clone, Copy, Default)]
pub struct UpdateOptions<'a> {
    /// Show the difference line by line (`--diff`).
    pub diff: bool,
    /// What happens to a skill changed by hand.
    pub edited: LocalEdits,
    /// The only state to update to (`--to`).
    pub to: Option<&'a CommitPrefix>,
    /// Whether it may be signed by another than before, or no longer (`--accept-signer`).
    pub accept_signer: bool,
    /// Another branch, tag or commit than the skill follows now.
    pub switch: Option<&'a VersionSwitch>,
}

/// What happens to a skill changed by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LocalEdits {
    /// It stays unchanged.
    #[default]
    Keep,
    /// It is replaced (`--force`).
    Replace,
    /// It is replaced, and a copy is kept in `stash/` (`--stash`).
    Stash,
}

/// Receives what would change, and decides about it.
pub type Agree<'a> = dyn FnMut(&Difference) -> Result<bool> + 'a;

/// The result for one installed skill.
#[derive(Debug, Clone, Serialize)]
pub struct Updated {
    /// Its directory's name.
    pub name: String,
    /// See [`UpdateResult`].
    pub change: UpdateResult,
    /// The version that the author states in the installed skill.
    pub version: Option<String>,
    /// Its signer, if it had none before.
    pub new_signer: Option<String>,
    /// Tags of its repository that are later than its pinned tag.
    pub newer_tags: Vec<String>,
}

/// The result of an update.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum UpdateResult {
    /// It matches its source.
    UpToDate,
    /// It would be replaced.
    Available(Box<Difference>),
    /// It was replaced.
    Updated {
        /// The old commit.
        from: Option<String>,
        /// The new commit.
        to: Option<String>,
        /// What was left out, and why, one sentence each.
        dropped: Vec<String>,
        /// Where the replaced version, changed by hand, is kept.
        stashed: Option<String>,
    },
    /// It was left unchanged because someone decided so, or because it had to be.
    Kept {
        /// What stops it, if a program may want to know: `signer-changed` or `signature-missing`.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<&'static str>,
        /// The reason, as an error message.
        reason: String,
        /// The next step.
        hint: Option<String>,
    },
    /// It could not be updated and is unchanged.
    Failed {
        /// The reason, as an error message.
        reason: String,
        /// The next step.
        hint: Option<String>,
    },
}

impl UpdateResult {
    pub(super) fn failed(error: &Error) -> Self {
        Self::Failed {
            reason: error.to_string(),
            hint: error.next_step().map(str::to_owned),
        }
    }

    /// With a code, if a program may want to know.
    pub(super) fn kept(code: Option<&'static str>, why: &Error) -> Self {
        Self::Kept {
            code,
            reason: why.to_string(),
            hint: why.next_step().map(str::to_owned),
        }
    }
}

/// The state of a skill that was asked for, while it is installed at another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionSwitch {
    /// The reference that asked for it.
    pub requested: String,
    /// The branch, tag or commit that it is to follow.
    pub to: String,
    /// The one that it follows now; `None` for the default branch.
    pub from: Option<String>,
}

impl VersionSwitch {
    /// The switch that leads from an entry to what was found; `None` if it is at that state, or no
    /// state was asked for.
    pub fn between(wanted: &Origin, entry: &LockEntry) -> Option<Self> {
        let to = wanted.rev.as_ref()?;
        let differs = entry.rev.as_ref() != Some(to) && entry.commit != wanted.commit;
        differs.then(|| Self {
            requested: wanted.requested.clone(),
            to: to.clone(),
            from: entry.rev.clone(),
        })
    }
}
