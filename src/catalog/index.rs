//! The index: what the last scan of the skills directories found, stamps that show whether that is
//! still valid, and answers derived from it. It is only a cache: an invalid file is ignored. On disk it is a table of what was found and the answers,
//! which most calls read alone, then the stored skills as one part. It
//! does not know what the answers mean or who may see which skill.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::entry::tool_name;
use super::roots::Root;
use crate::marketplace::{named_by_directory, offered_name};
use crate::skill::list;
use crate::skill::{Diagnostic, Skill, SkillName};
use crate::sys::cache_file::{self, Part, Parts};
use crate::sys::limits;
use crate::sys::stamp::{Stamp, now};

/// Indexes kept. Each set of skill directories has one, so each project with skills has one.
pub const CATALOG_INDEXES: usize = 50;

/// Changes with the format, and with how a skill is read.
const MAGIC: &[u8; 16] = b"agent-skills ix7";
/// Everything that was found.
#[derive(Debug, Default, PartialEq)]
struct Found {
    /// In the order of the roots.
    pub roots: Vec<KnownRoot>,
    /// The stored skills, concatenated.
    pub cached: Vec<u8>,
}

/// What is known of a root.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct KnownRoot {
    /// The entries are valid while this stamp is unchanged.
    pub stamp: Option<Stamp>,
    /// Sorted by directory.
    pub entries: Vec<Known>,
}

/// What is known of one directory in a root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Known {
    /// Its name.
    pub dir: OsString,
    /// The rest is valid while this stamp is unchanged.
    pub stamp: Option<Stamp>,
    /// The skill's name; empty if there is none.
    pub name: String,
    /// Where the stored bytes hold the skill, or the reason why it does not load.
    pub cached: Range<usize>,
}

/// Output derived from the catalog.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// For the host.
    pub text: String,
    /// For the user, in lines.
    pub remarks: String,
    /// Whether it depends on more than skills, configuration, policies and trust in projects. Such
    /// output is never stored.
    #[serde(skip)]
    pub passes: bool,
}

/// Stored output, with its key: the request, and everything besides the skills that the output depends
/// on.
type Answer = (String, Rendered);

/// What every call reads: the key, the roots, the answers, and where the stored skills are.
type Table<K, R, A> = (K, R, A, Part);

/// An index that was read from disk.
#[derive(Debug)]
struct Stored {
    parts: Parts,
    skills: Part,
    cached: OnceCell<Vec<u8>>,
    /// In the order of the roots in the index's key.
    pub roots: Vec<KnownRoot>,
    /// The latest first.
    pub answers: Vec<Answer>,
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
    stored: Option<Stored>,
    /// What this run found, once the roots have been read.
    found: Option<Found>,
}

/// One directory, with its skill or the reason why it does not load.
pub(super) type Loaded = (PathBuf, Result<Skill, Diagnostic>);

/// Why the skill in a directory is not read, if it is not.
type Unread<'a> = &'a dyn Fn(&Root, &Path) -> Option<Diagnostic>;

impl Index {
    /// The index in `file`, if it was written under this `key`.
    pub fn open(file: PathBuf, key: String) -> Self {
        Self {
            stored: Stored::open(&file, &key),
            place: file,
            key,
            found: None,
        }
    }

    /// The answer stored under `name`, if every skill is unchanged.
    pub fn answer(&self, roots: &[Root], name: &str) -> Option<Rendered> {
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
        let is_same =
            |stored: &&Stored| stored.roots == found.roots && stored.cached() == found.cached;
        let earlier = self.stored.as_ref().filter(is_same);
        let mut answers = earlier.map_or_else(Vec::new, |stored| stored.answers.clone());
        answers.retain(|(earlier, _)| *earlier != answer.0);
        answers.insert(0, answer);
        answers.truncate(limits::CATALOG_ANSWERS);
        write(&self.place, &self.key, found, &answers);
    }

    /// Every directory of `roots` with its skill, by root. Of those in `unread` only the name is
    /// known.
    pub(super) fn load(&mut self, roots: &[Root], unread: Unread) -> Vec<Vec<Loaded>> {
        let mut found = Found::default();
        let mut loaded = Vec::new();
        for (at, root) in roots.iter().enumerate() {
            let stored = self.stored.as_ref();
            let known = stored.and_then(|stored| Some((stored, stored.roots.get(at)?)));
            loaded.push(load_root(root, known, &mut found, unread));
        }
        self.found = Some(found);
        loaded
    }

    /// The entries that decide what `written` means, by root, read afresh: those with this skill
    /// name, tool name or directory name, and all that share a name with one of them. `None` if the
    /// entries of a root changed, or the index knows no match.
    ///
    /// Every other entry is assumed to have kept its name. If a file edited in place now claims
    /// this name, that counts from the next `--schema`, which checks every file and comes first in
    /// each run of the host; until then the model refers to what the last one listed.
    pub(super) fn load_about(
        &self,
        roots: &[Root],
        written: &str,
        unread: Unread,
    ) -> Option<Vec<Vec<Loaded>>> {
        let stored = self.stored.as_ref()?;
        let as_name = SkillName::from_written(written);
        let entries = || stored.roots.iter().flat_map(|root| &root.entries);
        let is_meant = |entry: &&Known| {
            as_name
                .as_ref()
                .is_some_and(|name| entry.name == name.as_str())
                || entry.dir == written
                || has_tool(entry, written)
        };
        let names: BTreeSet<&str> = entries()
            .filter(is_meant)
            .map(|entry| &*entry.name)
            .collect();
        let mut loaded = Vec::new();
        for (root, known) in roots.iter().zip(&stored.roots) {
            if !known.is_unchanged(&root.dir) {
                return None;
            }
            let decide = |entry: &&Known| is_meant(entry) || names.contains(&*entry.name);
            let read = |entry: &Known| {
                let dir = root.dir.join(&entry.dir);
                let skill = match unread(root, &dir) {
                    Some(why) => Err(why),
                    None => Skill::load(&dir).map(|skill| named(&dir, skill)),
                };
                (dir, skill)
            };
            loaded.push(known.entries.iter().filter(decide).map(read).collect());
        }
        (!names.is_empty()).then_some(loaded)
    }

    /// The directories in the root `at` this place of `roots`, without those that begin with a dot.
    pub fn directories(&self, at: usize, roots: &[Root]) -> Vec<PathBuf> {
        let known = self.stored.as_ref().and_then(|stored| stored.roots.get(at));
        directories(&roots[at].dir, known).0
    }
}

impl KnownRoot {
    /// Whether the entries of `root` are certainly the same.
    pub fn is_unchanged(&self, root: &Path) -> bool {
        self.stamp.is_some() && self.stamp == Stamp::of(root)
    }

    /// The entry of this name.
    pub fn entry(&self, dir: &OsStr) -> Option<&Known> {
        let found = self
            .entries
            .binary_search_by(|entry| entry.dir.as_os_str().cmp(dir));
        found.ok().map(|at| &self.entries[at])
    }
}

impl Stored {
    /// Opens the index at `path` if it is valid, complete, and was written by this user under
    /// `key`.
    pub fn open(path: &Path, key: &str) -> Option<Self> {
        let (table, parts) = cache_file::open(path, MAGIC, limits::CATALOG_INDEX)?;
        let table: Table<String, _, _> = postcard::from_bytes(&table).ok()?;
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
    pub fn cached(&self) -> &[u8] {
        let read = || self.parts.read(self.skills).unwrap_or_default();
        self.cached.get_or_init(read)
    }
}

/// Replaces the index at `path`. Best effort: it can be rebuilt.
fn write(path: &Path, key: &str, found: &Found, answers: &[Answer]) {
    let table: Table<_, _, _> = (key, &found.roots, answers, Part::new(0, &found.cached));
    if let Ok(table) = postcard::to_allocvec(&table) {
        cache_file::replace(path, MAGIC, &table, &found.cached, CATALOG_INDEXES);
    }
}

fn is_root_current(root: &Path, known: &KnownRoot, stored: &Stored) -> bool {
    let has_same_entries = || {
        let (dirs, stamp) = list(root);
        let names = dirs.iter().filter_map(|dir| dir.file_name());
        // A root with a settled stamp is read again, so that the stamp is stored.
        stamp.is_none() && names.eq(known.entries.iter().map(|entry| entry.dir.as_os_str()))
    };
    (known.is_unchanged(root) || has_same_entries())
        && known.entries.iter().all(|entry| {
            let dir = root.join(&entry.dir);
            if entry.stamp.is_some() {
                return entry.stamp == file_stamp(&dir);
            }
            // What was not read counts by its directory; the answer's key says why.
            if entry.cached.is_empty() {
                return true;
            }
            let again = load_entry(&dir);
            // A link that leads nowhere is no entry any more, whatever was wrong with its target.
            again.stamp.is_none()
                && dir.is_dir()
                && Some(&*again.cached) == stored.cached().get(entry.cached.clone())
        })
}

/// Reads the skills of `root` and records the result in `found`.
fn load_root(
    root: &Root,
    known: Option<(&Stored, &KnownRoot)>,
    found: &mut Found,
    unread: Unread,
) -> Vec<Loaded> {
    let place = &root.dir;
    let (dirs, mut stamp) = directories(place, known.map(|(_, known)| known));
    let mut entries = Vec::with_capacity(dirs.len());
    let mut loaded = Vec::with_capacity(dirs.len());
    for dir in dirs {
        let name = dir.file_name().unwrap_or_default();
        let cached =
            || known.and_then(|(stored, known)| unchanged(&dir, known.entry(name)?, stored));
        let entry = match unread(root, &dir) {
            Some(why) => Read {
                stamp: None,
                skill: Err(why),
                cached: Vec::new(),
            },
            None => cached().unwrap_or_else(|| load_entry(&dir)),
        };
        // The target of a link may be gone for now.
        if entry.skill.is_err() && !dir.is_dir() {
            stamp = None;
            continue;
        }
        let start = found.cached.len();
        found.cached.extend(&entry.cached);
        entries.push(Known {
            dir: name.to_owned(),
            stamp: entry.stamp,
            name: match &entry.skill {
                Ok(skill) => skill.name.to_string(),
                // An unreadable skill may reserve its name (see `precedence.rs`).
                Err(_) => {
                    named_by_directory(&dir).map_or_else(String::new, |name| name.to_string())
                }
            },
            cached: start..found.cached.len(),
        });
        loaded.push((dir, entry.skill));
    }
    found.roots.push(KnownRoot { stamp, entries });
    loaded
}

/// The directories in `root`, with its stamp if they are unchanged as long as it is.
fn directories(root: &Path, known: Option<&KnownRoot>) -> (Vec<PathBuf>, Option<Stamp>) {
    if let Some(known) = known.filter(|known| known.is_unchanged(root)) {
        let dirs = known.entries.iter().map(|entry| root.join(&entry.dir));
        return (dirs.collect(), known.stamp);
    }
    list(root)
}

/// A skill with its file's stamp and its stored bytes.
struct Read {
    stamp: Option<Stamp>,
    skill: Result<Skill, Diagnostic>,
    cached: Vec<u8>,
}

fn unchanged(dir: &Path, known: &Known, stored: &Stored) -> Option<Read> {
    let stamp = known
        .stamp
        .filter(|stamp| file_stamp(dir) == Some(*stamp))?;
    let cached = stored.cached().get(known.cached.clone())?;
    Some(Read {
        stamp: Some(stamp),
        skill: Ok(Skill::from_cached(dir, cached)?),
        cached: cached.to_vec(),
    })
}

fn load_entry(dir: &Path) -> Read {
    let now = now();
    let (stamp, skill) = Skill::load_stamped(dir);
    let skill = skill.map(|skill| named(dir, skill));
    let cached = match &skill {
        Ok(skill) => skill.to_cached(),
        Err(why) => why.to_string().into_bytes(),
    };
    let can_be_cached = skill.as_ref().is_ok_and(Skill::can_be_cached);
    let stamp = stamp.filter(|stamp| can_be_cached && stamp.is_settled(now));
    Read {
        stamp,
        skill,
        cached,
    }
}

/// The skill, under the name that its directory gives it, if it does.
fn named(dir: &Path, mut skill: Skill) -> Skill {
    skill.name = offered_name(dir, &skill);
    skill
}

/// The stamp of the `SKILL.md` in `dir`; `dir` itself may be a link. `None` unless that exact name
/// is a regular file: links and other spellings are checked every time.
fn file_stamp(dir: &Path) -> Option<Stamp> {
    let metadata = dir.join("SKILL.md").symlink_metadata().ok()?;
    metadata.is_file().then(|| Stamp::from_metadata(&metadata))
}

fn has_tool(entry: &Known, tool: &str) -> bool {
    let Some(plain) = tool.strip_prefix("skill_") else {
        return false;
    };
    // Tool names that were altered end in `_` and a hash; skill names contain no `_`.
    entry.name == plain
        || plain.contains('_')
            && SkillName::from_written(&entry.name).is_some_and(|name| tool_name(&name) == tool)
}

#[cfg(test)]
mod tests;
