//! The index: what the last scan of the skills directories found, stamps that show whether that is
//! still valid, and answers derived from it. It is only a cache: an invalid file is ignored. On disk it
//! is a table of what was found and the answers, which most calls read alone, then the stored skills as
//! one part. It does not know what the answers mean or who may see which skill.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::eligibility::EligibilityRules;
use super::entry::{Entry, tool_name};
use super::roots::Root;
use crate::marketplace::{named_by_directory, offered_name};
use crate::skill::{Diagnostic, Skill, SkillName, list};
use crate::sys::cache_file::{self, CachedPart, CachedParts};
use crate::sys::limits;
use crate::sys::stamp::{Stamp, now};

/// Indexes kept. Each set of skill directories has one, so each project with skills has one.
pub const CATALOG_INDEXES: usize = 50;

/// Changes with the format, and with how a skill is read.
const MAGIC: &[u8; 16] = b"agent-skills ix8";

/// Everything that was found.
#[derive(Debug, Default)]
struct DirectoryListing {
    /// In the order of the roots.
    roots: Vec<KnownRoot>,
    /// The stored skills, concatenated.
    cached: Vec<u8>,
}

/// What is known of a root.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct KnownRoot {
    /// The entries are valid while this stamp is unchanged.
    stamp: Option<Stamp>,
    /// Sorted by directory.
    entries: Vec<KnownDirectory>,
}

/// What is known of one directory in a root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct KnownDirectory {
    /// Its name.
    dir: OsString,
    /// The rest is valid while this stamp is unchanged.
    stamp: Option<Stamp>,
    /// The skill's name, if there is one.
    name: Option<SkillName>,
    /// Where the stored bytes hold the skill, or the reason why it does not load.
    cached: Range<usize>,
}

/// Output derived from the catalog.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogText {
    /// For the host.
    pub text: String,
    /// For the user, in lines.
    pub remarks: String,
    /// Whether it depends on more than skills, configuration, policies and trust in projects. Such
    /// output is never stored.
    #[serde(skip)]
    pub is_never_stored: bool,
}

/// Stored output, with its key: the request, and everything besides the skills that the output depends
/// on.
type Answer = (String, CatalogText);

/// What every call reads: the key, the roots, the answers, and where the stored skills are.
type AgentProfile<K, R, A> = (K, R, A, CachedPart);

/// An index that was read from disk.
#[derive(Debug)]
struct StoredIndex {
    parts: CachedParts,
    skills: CachedPart,
    cached: OnceCell<Vec<u8>>,
    /// In the order of the roots in the index's key.
    roots: Vec<KnownRoot>,
    /// The latest first.
    answers: Vec<Answer>,
}

/// The index of one set of roots.
///
/// It supplies a skill if `SKILL.md` is a regular file whose stamp is unchanged and had settled
/// when it was read, and the entries of a root if the root's stamp is unchanged. All else is read
/// again.
#[derive(Debug)]
pub struct Index {
    place: PathBuf,
    key: String,
    stored: Option<StoredIndex>,
    /// What this run found, once the roots have been read.
    found: Option<DirectoryListing>,
}

/// A skill, or the reason why it does not load, with its file's stamp and its stored bytes.
type ReadSkill = (Option<Stamp>, Result<Skill, Diagnostic>, Vec<u8>);

impl Index {
    /// The index in `file`, if it was written under this `key`.
    pub fn open(file: PathBuf, key: String) -> Self {
        Self {
            stored: StoredIndex::open(&file, &key),
            place: file,
            key,
            found: None,
        }
    }

    /// The answer stored under `name`, if every skill is unchanged.
    pub fn answer(&self, roots: &[Root], name: &str) -> Option<CatalogText> {
        let stored = self.stored.as_ref()?;
        let mut answers = stored.answers.iter();
        let (_, answer) = answers.find(|(known, _)| known == name)?;
        let mut each = roots.iter().zip(&stored.roots);
        let is_current = each.all(|(root, known)| is_root_current(&root.dir, known, stored));
        is_current.then(|| answer.clone())
    }

    /// Stores an answer derived from the catalog that this index loaded. Best effort.
    pub(super) fn store(&self, answer: Answer) {
        let Some(found) = &self.found else {
            return;
        };
        let is_same = |it: &&StoredIndex| it.roots == found.roots && it.cached() == found.cached;
        let earlier = self.stored.as_ref().filter(is_same);
        let mut answers = earlier.map_or_else(Vec::new, |stored| stored.answers.clone());
        answers.retain(|(earlier, _)| *earlier != answer.0);
        answers.insert(0, answer);
        answers.truncate(limits::CATALOG_ANSWERS);
        write(&self.place, &self.key, found, &answers);
    }

    /// Every directory of `roots` with its skill. Of those that are not trusted only the name is known.
    pub(super) fn load(&mut self, roots: &[Root], rules: &EligibilityRules) -> Vec<Entry> {
        let (mut found, mut entries) = (DirectoryListing::default(), Vec::new());
        for (at, root) in roots.iter().enumerate() {
            let stored = self.stored.as_ref();
            let known = stored.and_then(|stored| Some((stored, stored.roots.get(at)?)));
            let (dirs, mut stamp) = directories(&root.dir, known.map(|(_, known)| known));
            let mut of_root = Vec::with_capacity(dirs.len());
            for dir in dirs {
                let unchanged = || known.and_then(|(stored, known)| unchanged(&dir, known, stored));
                let (its_stamp, skill, cached) = match rules.distrusts(root.layer, &dir) {
                    Some((_, why)) => (None, Err(why), Vec::new()),
                    None => unchanged().unwrap_or_else(|| read(&dir)),
                };
                // The target of a link may be gone for now.
                if skill.is_err() && !dir.is_dir() {
                    stamp = None;
                    continue;
                }
                let start = found.cached.len();
                found.cached.extend(&cached);
                // An unreadable skill may reserve its name (see `precedence.rs`).
                let name = skill.as_ref().ok().map(|skill| skill.name.clone());
                of_root.push(KnownDirectory {
                    dir: dir.file_name().unwrap_or_default().to_owned(),
                    stamp: its_stamp,
                    name: name.or_else(|| named_by_directory(&dir)),
                    cached: start..found.cached.len(),
                });
                entries.push(Entry::new(at, root, dir, skill));
            }
            found.roots.push(KnownRoot {
                stamp,
                entries: of_root,
            });
        }
        self.found = Some(found);
        entries
    }

    /// The entries that decide what `written` means, read afresh: those with this skill name, tool
    /// name or directory name, and all that share a name with one of them. `None` if the entries of a
    /// root changed, or the index knows no match.
    ///
    /// Every other entry is assumed to have kept its name. If a file edited in place now claims
    /// this name, that counts from the next `--schema`, which checks every file and comes first in
    /// each run of the host; until then the model refers to what the last one listed.
    pub(super) fn load_about(
        &self,
        roots: &[Root],
        written: &str,
        rules: &EligibilityRules,
    ) -> Option<Vec<Entry>> {
        let stored = self.stored.as_ref()?;
        let as_name = SkillName::from_written(written);
        let is_meant = |entry: &&KnownDirectory| {
            (as_name.is_some() && entry.name == as_name)
                || entry.dir == written
                || has_tool(entry, written)
        };
        let known = stored.roots.iter().flat_map(|root| &root.entries);
        let names: BTreeSet<_> = known.filter(is_meant).map(|entry| &entry.name).collect();
        let mut entries = Vec::new();
        for (at, (root, known)) in roots.iter().zip(&stored.roots).enumerate() {
            if !known.is_unchanged(&root.dir) {
                return None;
            }
            let deciding = known.entries.iter();
            for entry in deciding.filter(|entry| names.contains(&entry.name)) {
                let dir = root.dir.join(&entry.dir);
                let skill = match rules.distrusts(root.layer, &dir) {
                    Some((_, why)) => Err(why),
                    None => load(&dir).1,
                };
                entries.push(Entry::new(at, root, dir, skill));
            }
        }
        (!names.is_empty()).then_some(entries)
    }

    /// The directories in the root `at` this place of `roots`, without those that begin with a dot.
    pub fn directories(&self, at: usize, roots: &[Root]) -> Vec<PathBuf> {
        let known = self.stored.as_ref().and_then(|stored| stored.roots.get(at));
        directories(&roots[at].dir, known).0
    }
}

impl KnownRoot {
    /// Whether the entries of `root` are certainly the same.
    fn is_unchanged(&self, root: &Path) -> bool {
        self.stamp.is_some() && self.stamp == Stamp::of(root)
    }
}

impl StoredIndex {
    /// Opens the index at `path` if it is valid, complete, and was written by this user under
    /// `key`.
    fn open(path: &Path, key: &str) -> Option<Self> {
        let (table, parts) = cache_file::open(path, MAGIC, limits::CATALOG_INDEX)?;
        let table: AgentProfile<String, _, _> = postcard::from_bytes(&table).ok()?;
        let (its_key, roots, answers, skills) = table;
        (its_key == key).then(|| Self {
            parts,
            skills,
            cached: OnceCell::new(),
            roots,
            answers,
        })
    }

    /// The stored skills; empty if they cannot be read.
    fn cached(&self) -> &[u8] {
        let read = || self.parts.read(self.skills).unwrap_or_default();
        self.cached.get_or_init(read)
    }
}

/// Replaces the index at `path`. Best effort: it can be rebuilt.
fn write(path: &Path, key: &str, found: &DirectoryListing, answers: &[Answer]) {
    let table: AgentProfile<_, _, _> = (
        key,
        &found.roots,
        answers,
        CachedPart::new(0, &found.cached),
    );
    if let Ok(table) = postcard::to_allocvec(&table) {
        cache_file::replace(path, MAGIC, &table, &found.cached, CATALOG_INDEXES);
    }
}

fn is_root_current(root: &Path, known: &KnownRoot, stored: &StoredIndex) -> bool {
    let has_same_entries = || {
        let (dirs, stamp) = list(root);
        let names = dirs.iter().filter_map(|dir| dir.file_name());
        // A root with a settled stamp is read again, so that the stamp is stored.
        stamp.is_none() && names.eq(known.entries.iter().map(|entry| entry.dir.as_os_str()))
    };
    let is_current = |entry: &KnownDirectory| {
        let dir = root.join(&entry.dir);
        if entry.stamp.is_some() {
            return entry.stamp == file_stamp(&dir);
        }
        // What was not read counts by its directory; the answer's key says why.
        if entry.cached.is_empty() {
            return true;
        }
        let (stamp, _, cached) = read(&dir);
        // A link that leads nowhere is no entry any more, whatever was wrong with its target.
        stamp.is_none()
            && dir.is_dir()
            && Some(&*cached) == stored.cached().get(entry.cached.clone())
    };
    (known.is_unchanged(root) || has_same_entries()) && known.entries.iter().all(is_current)
}

/// The directories in `root`, with its stamp if they are unchanged as long as it is.
fn directories(root: &Path, known: Option<&KnownRoot>) -> (Vec<PathBuf>, Option<Stamp>) {
    if let Some(known) = known.filter(|known| known.is_unchanged(root)) {
        let dirs = known.entries.iter().map(|entry| root.join(&entry.dir));
        return (dirs.collect(), known.stamp);
    }
    list(root)
}

/// The skill in `dir`, from the index, if its file is unchanged.
fn unchanged(dir: &Path, root: &KnownRoot, stored: &StoredIndex) -> Option<ReadSkill> {
    let (entries, name) = (&root.entries, dir.file_name()?);
    let at = entries.binary_search_by(|entry| entry.dir.as_os_str().cmp(name));
    let known = &entries[at.ok()?];
    let stamp = known.stamp.filter(|it| file_stamp(dir) == Some(*it))?;
    let cached = stored.cached().get(known.cached.clone())?;
    let skill = Skill::from_cached(dir, cached)?;
    Some((Some(stamp), Ok(skill), cached.to_vec()))
}

fn read(dir: &Path) -> ReadSkill {
    let now = now();
    let (stamp, skill) = load(dir);
    let cached = match &skill {
        Ok(skill) => skill.to_cached(),
        Err(why) => why.to_string().into_bytes(),
    };
    let can_be_cached = skill.as_ref().is_ok_and(Skill::can_be_cached);
    let stamp = stamp.filter(|stamp| can_be_cached && stamp.is_settled(now));
    (stamp, skill, cached)
}

/// The skill, under the name that its directory gives it, if it does; with its file's stamp.
fn load(dir: &Path) -> (Option<Stamp>, Result<Skill, Diagnostic>) {
    let (stamp, mut skill) = Skill::load_stamped(dir);
    if let Ok(skill) = &mut skill {
        skill.parsed.name = offered_name(dir, skill);
    }
    (stamp, skill)
}

/// The stamp of the `SKILL.md` in `dir`; `dir` itself may be a link. `None` unless that exact name
/// is a regular file: links and other spellings are checked every time.
fn file_stamp(dir: &Path) -> Option<Stamp> {
    let metadata = dir.join("SKILL.md").symlink_metadata().ok()?;
    metadata.is_file().then(|| Stamp::from_metadata(&metadata))
}

fn has_tool(entry: &KnownDirectory, tool: &str) -> bool {
    let (Some(plain), Some(name)) = (tool.strip_prefix("skill_"), &entry.name) else {
        return false;
    };
    // Tool names that were altered end in `_` and a hash; skill names contain no `_`.
    name.as_str() == plain || plain.contains('_') && tool_name(name) == tool
}

#[cfg(test)]
mod tests;
