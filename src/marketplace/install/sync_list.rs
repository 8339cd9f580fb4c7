//! What there is to be: a lockfile, or a collection in a registry, and the staging of what differs.

use std::path::PathBuf;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::marketplace::install::{Staged, Staging, plan};
use crate::marketplace::lock::{InstalledName, LockEntry, Lockfile};
use crate::marketplace::reference::{Place, Reading, Reference};
use crate::marketplace::{Market, Note};
use crate::skill::{SkillName, one_line};

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

/// A list that was read.
pub enum Listed {
    Lockfile(Lockfile),
    Collection(Collection),
}

/// A collection as its index is now.
pub struct Collection {
    reading: Reading,
    requested: String,
    source: String,
    digest: String,
    /// The names in the collection, and those that they get here.
    names: Vec<(String, InstalledName)>,
}

/// One skill that there is to be.
pub struct Wanted<'l> {
    pub name: &'l InstalledName,
    pub source: &'l str,
    pub commit: Option<&'l str>,
    /// What a lockfile says of it.
    pub entry: Option<&'l LockEntry>,
}

impl<'l> Wanted<'l> {
    /// What an entry says.
    pub fn of(entry: &'l LockEntry) -> Self {
        Self {
            name: &entry.name,
            source: &entry.source,
            commit: entry.commit.as_deref(),
            entry: Some(entry),
        }
    }
}

impl Listed {
    /// All that there is to be.
    pub fn wanted(&self) -> Vec<Wanted<'_>> {
        match self {
            Self::Lockfile(lockfile) => lockfile.entries().iter().map(Wanted::of).collect(),
            Self::Collection(all) => {
                let wanted = all.names.iter().map(|(_, name)| Wanted {
                    name,
                    source: &all.source,
                    commit: Some(&all.digest),
                    entry: None,
                });
                wanted.collect()
            }
        }
    }
}

impl Market<'_> {
    /// Reads a list. Of a collection, one request says whether the kept index is still its index.
    pub(super) fn read_list(&self, list: &SyncList) -> Result<Listed> {
        let written = match list {
            SyncList::Own => return Ok(Listed::Lockfile(Lockfile::read(self.plugin_dir)?)),
            SyncList::File(path) => {
                let path = self.env.cwd.join(path);
                return Ok(Listed::Lockfile(Lockfile::listed(&path)?));
            }
            SyncList::Collection(written) => written,
        };
        let no_list = |why: &str| {
            let text = format!("`{}` {why}", one_line(written));
            Error::new(text)
                .hint("give a collection, oci://HOST/NAME[:TAG][@DIGEST], or a lockfile")
        };
        let reading = match Reference::parse(written, None)? {
            Reference::Readings(mut readings) if readings.len() == 1 => readings.remove(0),
            _ => return Err(no_list("is no collection of a registry")),
        };
        let Place::Registry { repo, at } = &reading.place else {
            return Err(no_list("is no collection of a registry"));
        };
        let staging = self.home_staging()?;
        let fetcher = self.fetcher(&staging);
        let digest = fetcher.resolve_tag(repo, at.as_ref())?.to_string();
        let members = fetcher.collection(repo, at.as_ref())?;
        let members = members.ok_or_else(|| no_list("is one skill, and no collection"))?;
        if let Some(unusable) = &members.unusable {
            let text = format!(
                "has an entry without a skill's name: `{}`",
                one_line(unusable)
            );
            return Err(no_list(&text).hint("nothing was changed; tell whoever published it"));
        }
        let mut names = Vec::new();
        for member in &members.all {
            let name = SkillName::from_written(&member.name);
            let name = name.ok_or_else(|| no_list("has a skill without a usable name"))?;
            names.push((member.name.clone(), InstalledName::parse(name.as_str())?));
        }
        names.sort_by(|a, b| a.1.cmp(&b.1));
        if let Some(pair) = names.windows(2).find(|pair| pair[0].1 == pair[1].1) {
            return Err(no_list(&format!("has `{}` twice", pair[0].1)));
        }
        let source = repo.to_string();
        Ok(Listed::Collection(Collection {
            reading,
            requested: written.clone(),
            source,
            digest,
            names,
        }))
    }

    /// Fetches and checks what is wanted of a list.
    pub(super) fn stage_listed(
        &self,
        (listed, lockfile): (&Listed, &Lockfile),
        wanted: &[InstalledName],
        staging: &Staging,
        note: &mut Note,
    ) -> Result<Vec<Staged>> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let staged = match listed {
            Listed::Lockfile(listed) => {
                let entries = wanted.iter().filter_map(|name| listed.get(name));
                let entries: Vec<&LockEntry> = entries.collect();
                self.restage(listed, &entries, true, staging, note)
            }
            Listed::Collection(listed) => self.stage_members(listed, wanted, staging),
        }?;
        // From another source, another signer is expected.
        let before = |one: &Staged| {
            let before = lockfile.get(&one.place.name);
            before.filter(|entry| entry.source == one.entry.source)
        };
        let hint = "ask its author; `agent-skills update --accept-signer` takes it";
        self.check_signers(&staged, before, hint)?;
        Ok(staged)
    }

    fn stage_members(
        &self,
        listed: &Collection,
        wanted: &[InstalledName],
        staging: &Staging,
    ) -> Result<Vec<Staged>> {
        let mut fetcher = self.fetcher(staging);
        let is_wanted = |(_, name): &&(String, InstalledName)| wanted.contains(name);
        let names: Vec<_> = listed.names.iter().filter(is_wanted).collect();
        let own: Vec<String> = names.iter().map(|(own, _)| own.clone()).collect();
        let opened = fetcher.open(&listed.reading, &listed.requested, &own, false)?;
        // Its tag may have moved since.
        if opened.origin.commit.as_deref() != Some(&listed.digest) {
            let text = format!("{} has just been changed", listed.source);
            return Err(Error::new(text).hint("try again"));
        }
        let origin = Rc::new(opened.origin);
        let mut staged = Vec::with_capacity(names.len());
        for (own, name) in names {
            let mut found = opened.snapshot.found.iter();
            let found = found.find(|found| found.path == *own).ok_or_else(|| {
                let text = format!("{} has no readable skill `{name}`", listed.source);
                Error::new(text).hint("tell whoever published it")
            })?;
            let place = staging.prepare(name)?;
            staged.push(plan::stage(&opened.snapshot, found, &origin, name, place)?);
        }
        self.check_signatures(staging, &mut staged)?;
        Ok(staged)
    }
}
