//! Updates installed skills from their sources (`updated.rs`: what is answered). A skill changed by
//! hand is left alone unless its user decides otherwise, and even then its state is kept.

use std::collections::HashSet;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::marketplace::Market;
use crate::marketplace::fetch::{Fetcher, Opened, Snapshot};
use crate::marketplace::install::difference::line_by_line;
use crate::marketplace::install::names::check_same_name;
use crate::marketplace::install::signed::{permit, signer_change};
use crate::marketplace::install::updated::{Agree, Change, Edited, UpdateOptions, Updated};
use crate::marketplace::install::{Difference, Staged, Staging, Step, plan};
use crate::marketplace::lock::{Digest, InstalledName, LockEntry, Lockfile};
use crate::marketplace::reference::Ancestry;
use crate::marketplace::signature::{KeySets, is_signed};
use crate::marketplace::source::{Found, Origin, Seen, ancestry, find_again, is_same_tree, moved};
use crate::marketplace::source::{newer_tags, seen};
use crate::skill::Skill;
use crate::sys::Progress;

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
        let update = Update {
            market: self,
            options,
            staging: &staging,
        };
        let progress = Progress::new("checking skills", directories.len(), self.progress);
        let mut states = Vec::new();
        for (done, name) in directories.iter().enumerate() {
            progress.at(done);
            let state = match lockfile.get(name) {
                Some(entry) => update.look(entry, &mut fetcher),
                None => Err(Error::new(format!("where `{name}` came from is not known"))
                    .hint("remove it and install it from its source")),
            };
            states.push(state.unwrap_or_else(|error| State::failed(&error)));
        }
        drop(progress);
        bring(&states);
        update.stage_all(&mut states, agree);
        let changes = directories.into_iter().zip(update.land(&states));
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
struct Update<'u> {
    market: &'u Market<'u>,
    options: UpdateOptions<'u>,
    staging: &'u Staging,
}

/// How far a skill has come.
enum State<'e, 's> {
    /// Nothing more is done about it.
    Settled(Change),
    /// Its files are equal to those of its source, and this is its new entry.
    Noted(Box<LockEntry>),
    /// Its source has something else.
    Behind(Box<Behind<'e, 's>>),
    /// It is replaced with the staged version, if it is still the one with this digest.
    Staged(&'e LockEntry, Box<Staged>, String),
}

/// A skill that differs from its source.
struct Behind<'e, 's> {
    entry: &'e LockEntry,
    snapshot: Rc<Snapshot<'s>>,
    origin: Rc<Origin>,
    found: Found,
    ancestry: Option<Ancestry>,
    /// Whether the lockfile stays unchanged even if the files are equal.
    stays: bool,
}

impl State<'_, '_> {
    fn failed(error: &Error) -> Self {
        Self::Settled(Change::failed(error))
    }

    /// The skill matches its source, and `entry` records its new commit, unless the lockfile `stays`.
    fn equal(stays: bool, entry: LockEntry) -> Self {
        if stays {
            return Self::Settled(Change::UpToDate);
        }
        Self::Noted(Box::new(entry))
    }

    /// What is to be done about it, if anything.
    fn step(&self, edited: Edited) -> Option<Result<Step>> {
        match self {
            Self::Settled(_) | Self::Behind(_) => None,
            Self::Noted(entry) => Some(Ok(Step::noted(entry))),
            Self::Staged(entry, staged, now) => Some(staged.step().map(|mut step| {
                step.seen = Some((now.clone(), Some((*entry).clone())));
                step.stashes = edited == Edited::Stash && *now != entry.sha256;
                step
            })),
        }
    }
}

impl Update<'_> {
    fn look<'e, 's>(
        &self,
        entry: &'e LockEntry,
        fetcher: &mut Fetcher<'s>,
    ) -> Result<State<'e, 's>> {
        let settled = |change| Ok(State::Settled(change));
        let switch = self.options.switch;
        let reading = switch.map_or_else(|| entry.reading(), |switch| switch.reading(entry))?;
        if let Err(outside) = self.market.check_inside(entry) {
            return settled(Change::kept(None, &outside));
        }
        let meant = |commit: &Option<String>| {
            let to = self.options.to;
            to.map_or(Ok(()), |to| to.check(commit.as_deref()))
        };
        let known = match switch {
            Some(_) => Seen::Other,
            None => seen(entry, &reading, fetcher)?,
        };
        match known {
            Seen::Same => {
                meant(&entry.commit)?;
                return settled(Change::UpToDate);
            }
            Seen::Moved(tag) => return settled(Change::kept(None, &moved(entry, &tag))),
            Seen::Other => {}
        }
        let requested = switch.map_or(&entry.requested, |switch| &switch.requested);
        let Opened {
            snapshot, origin, ..
        } = fetcher.open(&reading, requested, &[], false)?;
        meant(&origin.commit)?;
        let found = match find_again(entry, &snapshot) {
            Ok(found) => found.clone(),
            Err(gone) => return settled(Change::failed(&gone)),
        };
        let ancestry = ancestry(entry, &reading, &origin, fetcher);
        // If the new commit does not descend from the installed one, the lockfile does not record
        // it without asking, even if the files are equal: later commits would look like normal
        // updates.
        let stays = self.market.dry_run || !ancestry.is_none_or(Ancestry::goes_forward);
        let is_same = switch.is_none() && is_same_tree(entry, &snapshot, &found);
        let is_signed = is_same && is_signed(&snapshot, &origin)?;
        if is_same && !is_signed && entry.signer.is_some() {
            // The lockfile names the commit that was signed.
            return settled(Change::UpToDate);
        }
        if is_same && !is_signed {
            let entry = LockEntry {
                commit: origin.commit,
                rev: origin.rev,
                address: origin.address,
                ..entry.clone()
            };
            return Ok(State::equal(stays, entry));
        }
        Ok(State::Behind(Box::new(Behind {
            entry,
            snapshot,
            origin: Rc::new(origin),
            found,
            ancestry,
            stays,
        })))
    }

    /// Stages what the sources have, checks it, and asks about each skill.
    fn stage_all(&self, states: &mut [State], agree: &mut Agree) {
        let mut sets = KeySets::new(self.market.programs(self.staging));
        for state in states {
            if let State::Behind(behind) = state {
                let staged = self.stage(behind, &mut sets);
                let decided = staged.and_then(|staged| self.decide(behind, staged, agree));
                *state = decided.unwrap_or_else(|error| State::failed(&error));
            }
        }
    }

    fn stage(&self, behind: &Behind, sets: &mut KeySets) -> Result<Staged> {
        let (name, snapshot) = (&behind.entry.name, &behind.snapshot);
        let place = self.staging.prepare(name)?;
        let mut staged = plan::stage(snapshot, &behind.found, &behind.origin, name, place)?;
        self.market.check_signature(&mut staged, sets)?;
        Ok(staged)
    }

    /// Compares what was staged with what is installed, and asks.
    fn decide<'e, 's>(
        &self,
        behind: &Behind<'e, 's>,
        mut staged: Staged,
        agree: &mut Agree,
    ) -> Result<State<'e, 's>> {
        let entry = behind.entry;
        staged.entry.other.clone_from(&entry.other);
        if self.options.switch.is_none() && staged.entry.sha256 == entry.sha256 {
            let signature = staged.planned.signature.as_ref();
            // The lockfile names the commit that its signer has signed.
            let beside = self.market.signers_beside(entry);
            let is_theirs = signer_change(entry, beside, signature).is_none();
            let stays =
                behind.stays || !is_theirs || permit(&entry.name, signature, false).is_err();
            return Ok(State::equal(stays, staged.entry));
        }
        let installed = self.market.dir(&entry.name);
        check_same_name(&entry.name, &installed, &staged.place.path)?;
        let now = Digest::read(&installed)?;
        let new = &staged.entry.files;
        let mut difference = Difference::between(&installed, &now, &staged.planned, new);
        difference.from.clone_from(&entry.commit);
        difference.to.clone_from(&staged.entry.commit);
        difference.edited = now.sha256 != entry.sha256;
        difference.ancestry = behind.ancestry;
        if self.options.diff {
            difference.text = Some(line_by_line(
                (&installed, &now.files),
                (&staged.place.path, new),
            )?);
        }
        difference.signature.clone_from(&staged.planned.signature);
        difference.signed_before.clone_from(&entry.signer);
        let settled = |change| Ok(State::Settled(change));
        let signature = staged.planned.signature.as_ref();
        permit(&entry.name, signature, false)?;
        if !self.options.accept_signer
            && let Some((code, error)) =
                signer_change(entry, self.market.signers_beside(entry), signature)
        {
            let hint = "ask its author; `agent-skills update --accept-signer` takes it";
            return settled(Change::kept(Some(code), &error.hint(hint)));
        }
        if self.market.dry_run {
            return settled(Change::Available(Box::new(difference)));
        }
        if difference.edited && self.options.edited == Edited::Keep {
            return settled(Change::edited(&entry.name));
        }
        if !agree(&difference)? {
            let declined = Error::new("you said no").hint("the same command asks again");
            return settled(Change::kept(None, &declined));
        }
        Ok(State::Staged(entry, Box::new(staged), now.sha256))
    }

    /// Writes the entries and replaces the skills, all under one lock. Returns what became of each.
    fn land(&self, states: &[State]) -> Vec<Change> {
        let edited = self.options.edited;
        let steps = || states.iter().filter_map(|state| state.step(edited));
        let land = |some: Vec<Step>| {
            if some.is_empty() {
                return Ok(Vec::new());
            }
            let mut changes = self.market.changes(self.staging)?;
            self.market.land(&mut changes, some)
        };
        let whole = steps().collect::<Result<Vec<_>>>();
        let landed: Vec<Result<Option<String>>> = match whole.and_then(land) {
            Ok(stashed) => stashed.into_iter().map(Ok).collect(),
            // What keeps one from being replaced keeps no other from it.
            Err(_) => steps()
                .map(|one| Ok(land(vec![one?])?.pop().flatten()))
                .collect(),
        };
        let mut landed = landed.into_iter();
        let became = states.iter().map(|state| match state {
            State::Settled(change) => change.clone(),
            State::Noted(_) | State::Behind(_) => match landed.next() {
                Some(Err(error)) => Change::failed(&error),
                _ => Change::UpToDate,
            },
            State::Staged(entry, new, _) => match landed.next() {
                Some(Err(error)) => Change::failed(&error),
                stashed => Change::Updated {
                    from: entry.commit.clone(),
                    to: new.entry.commit.clone(),
                    dropped: new.planned.dropped.clone(),
                    stashed: stashed.and_then(Result::ok).flatten(),
                },
            },
        });
        became.collect()
    }
}

/// Fetches the files of all skills of a source that differ in one request.
fn bring(states: &[State]) {
    let behind = states.iter().filter_map(|state| match state {
        State::Behind(behind) => Some(&**behind),
        _ => None,
    });
    let mut left: Vec<_> = behind.collect();
    while let Some(first) = left.first() {
        let snapshot = Rc::clone(&first.snapshot);
        let is_same = |one: &&Behind| Rc::ptr_eq(&one.snapshot, &snapshot);
        let (same, others): (Vec<_>, Vec<_>) = left.into_iter().partition(is_same);
        // What cannot be fetched together is fetched, or reported, for each skill.
        let _ = plan::bring(&snapshot, same.iter().map(|one| &one.found));
        left = others;
    }
}
