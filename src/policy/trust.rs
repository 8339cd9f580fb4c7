//! What the user trusts in a project: each skill, the configuration, and the shared files beside
//! the skills, which any of them may use. After a change only what changed needs consent again, and
//! it is reported. A person sees the parts before they decide: exactly that is recorded.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::policy::{DigestCache, Ledger, Policies};
use crate::run_context::{PROJECT_CONFIG, PROJECT_HOLDS, RunContext, real};

use crate::skill::{find_skill_file, skill_directories};
use crate::sys::stamp::{Stamp, Stamps};
use crate::sys::{Progress, files, tree};

/// Files of a trusted skill that are recorded one by one, to report which changed. With more, the
/// record of a few hundred skills would become large.
const TRUSTED_FILES: usize = 200;

/// The kind of digest that is recorded for a part.
const TRUST_DIGEST: &str = "trust";

/// The record of a directory with skills.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(
    rename_all = "lowercase",
    expecting = "it is neither `always` nor digests by path"
)]
pub enum TrustRecord {
    /// It stays trusted whatever changes in it.
    Always,
    /// The trusted parts, by path below the directory.
    #[serde(untagged)]
    Parts(BTreeMap<String, TrustedPart>),
}

impl TrustRecord {
    /// Whether it is trusted whatever changes.
    pub fn is_always(&self) -> bool {
        matches!(self, Self::Always)
    }
}

/// One skill, the configuration, or the shared files of one skills directory.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedPart {
    /// The digest of its whole content.
    digest: String,
    /// Digests of its files, to report which changed; empty if there are too many.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
}

/// Whether the user trusts a part of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// As it is now.
    Given,
    /// As it was before these paths changed; some may be missing from the list.
    Outdated(Vec<String>),
    /// Not at all.
    Missing,
}

/// The record of trust, read once, and the results of comparing directories with it. By default
/// every byte is digested.
#[derive(Debug)]
pub struct TrustChecker {
    record: Ledger<TrustRecord>,
    digests: Rc<DigestCache>,
    /// Whether what is trusted whatever changes is not: a policy refuses what a scan finds.
    is_each_scanned: bool,
    entries: OnceCell<BTreeMap<String, TrustRecord>>,
    found: RefCell<HashMap<OsString, Trust>>,
}

impl TrustChecker {
    /// Compares with this record as these policies have it.
    pub fn new(record: Ledger<TrustRecord>, policies: &Policies) -> Self {
        Self::by(record, policies, Rc::default())
    }

    /// As [`TrustChecker::new`], by what `digests` knows, too.
    pub fn by(record: Ledger<TrustRecord>, policies: &Policies, digests: Rc<DigestCache>) -> Self {
        Self {
            record,
            digests,
            is_each_scanned: policies.scan_block().is_some(),
            entries: OnceCell::new(),
            found: RefCell::default(),
        }
    }

    /// Whether the skill in `dir` and the shared files beside it are trusted.
    pub fn of_skill(&self, dir: &Path) -> Trust {
        let Some(root) = dir.parent() else {
            return Trust::Missing;
        };
        let is_known = self.is_known(dir);
        if is_known && self.is_known(root) {
            return Trust::Given;
        }
        let holder = RunContext::holder_of(root);
        // So a group of skills is, with all that is in it.
        if let Some(place) = RunContext::place_of(root).filter(|place| *place != root) {
            return self.of_part(holder, place);
        }
        // A directory without a skill is one of the shared files.
        if !is_known && find_skill_file(dir).is_some() {
            let own = self.of_part(holder, dir);
            if own != Trust::Given {
                return own;
            }
        }
        match self.of_part(holder, root) {
            Trust::Outdated(changed) => {
                let shared_files = changed.into_iter().map(|path| format!("../{path}"));
                Trust::Outdated(shared_files.collect())
            }
            other => other,
        }
    }

    /// Whether `path`, one of the parts of `holder`, is trusted.
    pub fn of_part(&self, holder: &Path, path: &Path) -> Trust {
        if self.is_known(path) {
            return Trust::Given;
        }
        self.once(path, || match self.recorded(holder) {
            None => Trust::Missing,
            Some(TrustRecord::Always) => Trust::Given,
            Some(TrustRecord::Parts(parts)) => part_key(holder, path)
                .and_then(|key| parts.get(key))
                .map_or(Trust::Missing, |part| part.compared_with(path, self)),
        })
    }

    /// Whether a part is known to be as it was recorded, without a look at the record.
    fn is_known(&self, path: &Path) -> bool {
        if let Some(found) = self.found.borrow().get(path.as_os_str()) {
            return *found == Trust::Given;
        }
        let is_agreed = self.digests.agreed(TRUST_DIGEST, path);
        if is_agreed {
            self.once(path, || Trust::Given);
        }
        is_agreed
    }

    /// What is recorded for `holder`.
    fn recorded(&self, holder: &Path) -> Option<&TrustRecord> {
        let read = || self.record.entries().unwrap_or_default();
        let entries = self.entries.get_or_init(read);
        let recorded = entries.get(real(holder).to_str()?);
        recorded.filter(|it| !(self.is_each_scanned && it.is_always()))
    }

    /// The result for `path`, which is compared only once.
    fn once(&self, path: &Path, compare: impl FnOnce() -> Trust) -> Trust {
        if let Some(found) = self.found.borrow().get(path.as_os_str()) {
            return found.clone();
        }
        let trust = compare();
        let mut found = self.found.borrow_mut();
        found.insert(path.as_os_str().to_owned(), trust.clone());
        trust
    }

    /// Whether a part of `holder` is trusted as it was seen.
    pub fn of_seen(&self, holder: &Path, seen: &SeenPart) -> Trust {
        match (self.recorded(holder), &seen.part) {
            (Some(TrustRecord::Parts(parts)), Ok(now)) => part_key(holder, &seen.path)
                .and_then(|key| parts.get(key))
                .map_or(Trust::Missing, |before| {
                    if now.digest == before.digest {
                        return Trust::Given;
                    }
                    before.differing(|| now.files.clone())
                }),
            _ => self.of_part(holder, &seen.path),
        }
    }

    /// The trusted parts of `holder` that are no longer there.
    pub fn gone(&self, holder: &Path) -> Vec<PathBuf> {
        let Some(TrustRecord::Parts(parts)) = self.recorded(holder) else {
            return Vec::new();
        };
        let paths = parts.keys().map(|key| holder.join(key));
        paths
            .filter(|path| path.symlink_metadata().is_err())
            .collect()
    }

    /// Whether `holder` is trusted whatever changes.
    pub fn is_always(&self, holder: &Path) -> bool {
        self.recorded(holder).is_some_and(TrustRecord::is_always)
    }
}

impl TrustedPart {
    /// The current state of `path`.
    fn read(path: &Path) -> io::Result<Self> {
        let mut files = files_of(path)?;
        if files.len() > TRUSTED_FILES {
            files.clear();
        }
        let (digest, _) = digest_of(path)?;
        Ok(Self { digest, files })
    }

    fn compared_with(&self, path: &Path, trusts: &TrustChecker) -> Trust {
        match trusts
            .digests
            .digested(TRUST_DIGEST, path, || digest_of(path))
        {
            Ok(now) if now == self.digest => {
                trusts.digests.agree(TRUST_DIGEST, path);
                Trust::Given
            }
            _ => self.differing(|| files_of(path).unwrap_or_default()),
        }
    }

    /// What became of this, which is no longer as it was recorded.
    fn differing(&self, now: impl FnOnce() -> BTreeMap<String, String>) -> Trust {
        let before = &self.files;
        if before.is_empty() {
            return Trust::Outdated(Vec::new());
        }
        let now = now();
        let gone = before.keys().filter(|path| !now.contains_key(*path));
        let gone = gone.map(|path| format!("{path} (gone)"));
        let differing = now
            .iter()
            .filter_map(|(path, digest)| match before.get(path) {
                None => Some(format!("{path} (new)")),
                Some(known) => (known != digest).then(|| path.clone()),
            });
        Trust::Outdated(differing.chain(gone).collect())
    }
}

/// Everything in `holder` that needs trust: its skills, the shared files beside them and its
/// configuration.
pub fn parts_of(holder: &Path) -> Vec<PathBuf> {
    let mut parts = Vec::new();
    for root in PROJECT_HOLDS.iter().map(|root| holder.join(root)) {
        if root.symlink_metadata().is_ok() {
            parts.extend(skill_directories(&root));
            parts.push(root);
        }
    }
    let config = holder.join(PROJECT_CONFIG);
    parts.extend(config.symlink_metadata().is_ok().then_some(config));
    parts
}

impl Ledger<TrustRecord> {
    /// The record in `state` of what the user trusts.
    pub fn trusted(state: &Path) -> Self {
        Self::for_user(state.join("trust.json"))
    }

    /// Trusts `holder` whatever changes in it.
    ///
    /// # Errors
    /// If its path cannot be recorded.
    pub fn trust_always(&self, holder: &Path) -> Result<()> {
        self.put(&trust_key(holder)?, TrustRecord::Always)
    }

    /// Revokes trust in `holder`, or only in these parts of it, unless this is a dry run; returns
    /// whether it was trusted.
    ///
    /// # Errors
    /// If the change cannot be recorded.
    pub fn distrust(&self, holder: &Path, only: Option<&[PathBuf]>, dry_run: bool) -> Result<bool> {
        let key = trust_key(holder)?;
        let Some(only) = only else {
            if dry_run {
                return Ok(self.entries()?.contains_key(&key));
            }
            return self.take(&key);
        };
        let mut parts = self.recorded_parts(holder)?;
        let before = parts.len();
        for path in only {
            part_key(holder, path).and_then(|key| parts.remove(key));
        }
        if parts.len() == before {
            return Ok(false);
        }
        if !dry_run {
            self.put(&key, TrustRecord::Parts(parts))?;
        }
        Ok(true)
    }

    /// What is recorded for each part of `holder`.
    fn recorded_parts(&self, holder: &Path) -> Result<BTreeMap<String, TrustedPart>> {
        match self.entries()?.remove(&trust_key(holder)?) {
            None => Ok(BTreeMap::new()),
            Some(TrustRecord::Parts(parts)) => Ok(parts),
            Some(TrustRecord::Always) => {
                let shown = holder.display();
                let text = format!("`{shown}` is always trusted, whatever changes in it");
                Err(Error::new(text).hint(
                    "run `agent-skills trust` to trust it as it is now; then you can choose single skills",
                ))
            }
        }
    }

    /// Trusts these parts of `holder` as they were seen; with `keep`, the parts recorded before stay
    /// trusted too. Returns the unreadable parts, which are not trusted, with their errors.
    ///
    /// # Errors
    /// If nothing could be recorded.
    pub fn trust_seen(
        &self,
        holder: &Path,
        seen: Vec<SeenPart>,
        keep: bool,
    ) -> Result<Vec<(PathBuf, Error)>> {
        let mut parts = if keep {
            self.recorded_parts(holder)?
        } else {
            BTreeMap::new()
        };
        let counts = |path: &Path| !(is_skills_directory(path) && has_no_shared_files(path));
        let (mut unread, mut is_any) = (Vec::new(), false);
        for seen in seen {
            let path = seen.path;
            let key = part_key(holder, &path).ok_or_else(|| unnamed(&path));
            match key.and_then(|key| Ok((key.to_owned(), seen.part?))) {
                Ok((key, part)) => {
                    is_any |= counts(&path);
                    parts.insert(key, part);
                }
                Err(error) => unread.push((path, error)),
            }
        }
        if !is_any && let Some((_, error)) = unread.pop() {
            let text = format!("nothing in `{}` could be trusted", holder.display());
            return Err(error.context(text));
        }
        self.put(&trust_key(holder)?, TrustRecord::Parts(parts))?;
        Ok(unread)
    }
}

/// The key of the part `path` in the record of `holder`.
fn part_key<'p>(holder: &Path, path: &'p Path) -> Option<&'p str> {
    path.strip_prefix(holder).ok()?.to_str()
}

/// The key of the record of `holder`.
fn trust_key(holder: &Path) -> Result<String> {
    let key = real(holder);
    key.to_str().map(str::to_owned).ok_or_else(|| unnamed(&key))
}

fn unnamed(path: &Path) -> Error {
    let shown = path.display();
    let text = format!("the path `{shown}` is not UTF-8 and cannot be recorded");
    Error::new(text).hint("rename the directory")
}

/// Whether `part` is a skills directory, which stands for the shared files in it.
pub fn is_skills_directory(part: &Path) -> bool {
    PROJECT_HOLDS.iter().any(|root| part.ends_with(root))
}

/// Whether a skills directory has no shared files.
pub fn has_no_shared_files(part: &Path) -> bool {
    shared_files(part).is_ok_and(|shared_files| shared_files.is_empty())
}

/// The digest of a part. As soon as it has several paths, their names count: which of the files
/// beside a skill it uses is a matter of their names.
pub fn digest_of(path: &Path) -> io::Result<(String, Stamps)> {
    if is_skills_directory(path) {
        let skills = skill_directories(path);
        // What is beside the skills depends on these, and so they are stamped first.
        let files = skills.iter().filter_map(|dir| find_skill_file(dir));
        let decide = files.chain(skills.iter().cloned());
        let decide = decide.chain([path.to_owned()]);
        let decide = decide.map(|path| (Stamp::of(&path), path));
        let listed: Stamps = decide.map(|(stamp, path)| (path, stamp)).collect();
        let paths = shared_files_beside(path, &skills)?;
        let (digest, mut stamps) = match &paths[..] {
            [] => tree::digest_and_stamps([]),
            _ => tree::digest_named(path, &paths),
        }?;
        stamps.extend(listed);
        return Ok((digest, stamps));
    }
    tree::digest_and_stamps([path])
}

pub fn files_of(path: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    let parts = if is_skills_directory(path) {
        shared_files(path)?
    } else {
        vec![path.to_owned()]
    };
    for part in parts {
        let name = part.file_name().unwrap_or_default().to_string_lossy();
        for (file, digest) in tree::file_digests(&part)? {
            let shown = match (file.is_empty(), part == path) {
                (true, _) => name.clone().into_owned(),
                (false, true) => file,
                (false, false) => format!("{name}/{file}"),
            };
            all.insert(shown, digest);
        }
    }
    Ok(all)
}

/// Everything in a skills directory that is not a skill; any skill there may use it.
fn shared_files(root: &Path) -> io::Result<Vec<PathBuf>> {
    shared_files_beside(root, &skill_directories(root))
}

fn shared_files_beside(root: &Path, skills: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let entries = files::if_there(files::entries(root))?.into_iter().flatten();
    let paths = entries.map(|(name, _)| root.join(name.as_os_str()));
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.retain(|path| skills.binary_search(path).is_err());
    paths.sort();
    Ok(paths)
}

/// A part as it was when it was looked at.
#[derive(Debug)]
pub struct SeenPart {
    /// Its path.
    pub path: PathBuf,
    part: Result<TrustedPart>,
}

impl SeenPart {
    /// Reads a part.
    pub fn at(path: PathBuf) -> Self {
        let part = TrustedPart::read(&path).map_err(|error| {
            let error = Error::io("read", &path, &error);
            error.hint("without a digest, only `--always` could trust it")
        });
        Self { path, part }
    }

    /// Reads parts, of which a person may have to wait for many.
    pub fn all(paths: Vec<PathBuf>, show: Option<fn(&str)>) -> Vec<Self> {
        let progress = Progress::new("reading what is to be trusted", paths.len(), show);
        let read = |(done, path)| {
            progress.at(done);
            Self::at(path)
        };
        paths.into_iter().enumerate().map(read).collect()
    }

    /// Whether it can be trusted.
    pub fn is_readable(&self) -> bool {
        self.part.is_ok()
    }

    /// The paths of its files, sorted.
    pub fn files(&self) -> Vec<String> {
        match &self.part {
            Ok(part) if !part.files.is_empty() => part.files.keys().cloned().collect(),
            _ => {
                let files = files_of(&self.path).unwrap_or_default();
                files.into_keys().collect()
            }
        }
    }
}
