//! What was pulled, kept under its digest, so that it is asked for once: manifests, blobs,
//! and which manifest a tag named last. Bounded in size.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::Result;
use crate::marketplace::fetch::{cache, file_name};
use crate::marketplace::reference::{OciAt, OciDigest, OciRepo};
use crate::sys::{Dir, Durable, EntryKind, EntryName, files, limits};

const DIR: EntryName = EntryName::from_static("registry");
const REFERRERS: EntryName = EntryName::from_static(".referrers");
/// What is kept of all registries together.
const KEPT: u64 = 512 * 1024 * 1024;
/// Files that are kept. One that is asked for thousands of skills has a few for each.
const KEPT_FILES: usize = 50_000;

/// The cache of registries in a plugin directory.
#[derive(Debug, Clone)]
pub struct Store(PathBuf);

impl Store {
    /// That of the plugin directory `home`.
    pub fn new(home: &Path) -> Self {
        Self(home.to_owned())
    }

    fn dir(&self) -> Result<Dir> {
        cache(&self.0, &DIR)
    }

    /// What has this digest and at most `max` bytes. What has been damaged is removed.
    pub fn get(&self, digest: &OciDigest, max: u64) -> Option<Vec<u8>> {
        let (dir, name) = (self.dir().ok()?, name(digest));
        let (file, metadata) = dir.open_file(&name).ok()?;
        let bytes = files::read_file_capped(&file, metadata.len(), max).ok()?;
        if OciDigest::of(&bytes) != *digest {
            let _ = dir.remove_file(&name);
            return None;
        }
        Some(bytes)
    }

    /// Keeps bytes. If that fails, they are only asked for again.
    pub fn put(&self, digest: &OciDigest, bytes: &[u8], scratch: &Dir) {
        self.write(&name(digest), bytes, scratch);
    }

    fn write(&self, name: &EntryName, bytes: &[u8], scratch: &Dir) {
        if let Ok(dir) = self.dir() {
            let _ = dir.replace_through(scratch, name, bytes, 0o644, Durable::No);
        }
    }

    /// The manifest that a tag named when the registry was last asked.
    pub fn tagged(&self, repo: &OciRepo, tag: &OciAt) -> Option<OciDigest> {
        let bytes = self.dir().ok()?.read(&tag_name(repo, tag), 100).ok()?;
        OciDigest::parse(std::str::from_utf8(&bytes).ok()?).ok()
    }

    /// Keeps which manifest a tag names.
    pub fn tag(&self, repo: &OciRepo, tag: &OciAt, digest: &OciDigest, scratch: &Dir) {
        if self.tagged(repo, tag).as_ref() != Some(digest) {
            self.write(&tag_name(repo, tag), digest.as_str().as_bytes(), scratch);
        }
    }

    /// The list of what belongs to a manifest, as it was when the registry was last asked.
    pub fn referrers(&self, digest: &OciDigest) -> Option<Vec<u8>> {
        let name = name(digest).with_end(&REFERRERS);
        self.dir().ok()?.read(&name, limits::INDEX).ok()
    }

    /// Keeps the list of what belongs to a manifest.
    pub fn put_referrers(&self, digest: &OciDigest, bytes: &[u8], scratch: &Dir) {
        self.write(&name(digest).with_end(&REFERRERS), bytes, scratch);
    }

    /// Removes what was written longest ago until the rest is within the bounds.
    pub fn prune(&self) {
        let Ok(dir) = self.dir() else {
            return;
        };
        let entries = dir.entries().unwrap_or_default().into_iter();
        let entries = entries.filter(|(_, kind)| *kind == EntryKind::File);
        let sized = entries.filter_map(|(name, _)| {
            let metadata = dir.open_file(&name).ok()?.1;
            let written = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            Some((written, metadata.len(), name))
        });
        let mut all: Vec<_> = sized.collect();
        all.sort_by_key(|(written, ..)| std::cmp::Reverse(*written));
        let mut total = 0;
        for (at, (_, size, name)) in all.iter().enumerate() {
            total += size;
            if total > KEPT || at >= KEPT_FILES {
                let _ = dir.remove_file(name);
            }
        }
    }
}

fn name(digest: &OciDigest) -> EntryName {
    // 64 digits are a name.
    EntryName::parse(digest.hex()).unwrap_or(DIR)
}

fn tag_name(repo: &OciRepo, tag: &OciAt) -> EntryName {
    let identity = format!("{repo}:{}", tag.as_str());
    file_name(repo.short_name(), DIR, &identity, ".tag")
}
