//! `skills.lock.json`: the source and the exact content of each installed skill. It is sorted and
//! contains no times, so the same installs give the same bytes. A file in an unknown format is
//! neither read nor overwritten.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::marketplace::lock::{Files, InstalledName};
use crate::marketplace::prelude::*;
use crate::signing::Signer;

const VERSION: u64 = 1;
/// Characters that would make a name a git revision or a path pattern.
const REVISION: [char; 7] = [':', '~', '^', '*', '?', '[', '@'];
const FILE: EntryName = EntryName::from_static("skills.lock.json");

/// One installed skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockEntry {
    /// Source and path combined; it identifies a skill.
    pub id: String,
    /// The directory in `skills/`.
    pub name: InstalledName,
    /// The canonical address of the repository, or the absolute directory.
    pub source: String,
    /// The address that git really used, if different, without user and password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// See [`SourceKind`].
    pub kind: SourceKind,
    /// The reference as it was typed.
    pub requested: String,
    /// The full name of the requested branch or tag (`refs/tags/v1`), or the commit; `None` for the
    /// default branch.
    #[serde(rename = "ref")]
    pub rev: Option<String>,
    /// The installed commit.
    pub commit: Option<String>,
    /// The skill's directory in the repository; empty for its root.
    pub path: String,
    /// Git's id of that directory.
    pub tree: Option<String>,
    /// The digest of what was installed ([`crate::marketplace::lock::Digest`]).
    pub sha256: String,
    /// The digest of each file.
    pub files: Files,
    /// The licence stated in the frontmatter.
    pub license: Option<String>,
    /// Who signed these files; `None` for one without a signature that could be checked. The first
    /// signer of a skill is pinned here: another needs its user's consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<Signer>,
    /// Fields written by later releases, which are kept unchanged.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl LockEntry {
    /// The owner of the source: an account, a group or a host.
    pub fn owner(&self) -> Option<String> {
        self.kind.owner(&self.source)
    }

    /// The tag that it is pinned to, by the name it has in the repository.
    pub fn tag(&self) -> Option<String> {
        let tag = self.rev.as_deref()?.strip_prefix("refs/tags/")?;
        Some(tag.to_owned())
    }

    /// What an entry has for a digest of which only the place is known, as a collection lists it. A
    /// lockfile with it is not read.
    pub const UNKNOWN_FILES: &str = "?";

    /// Whether only its place is known.
    pub fn is_of_unknown_files(&self) -> bool {
        self.sha256 == Self::UNKNOWN_FILES
    }

    /// The name of an invalid field, if any, among those whose type validates nothing. All fields
    /// are shown to people, and a lockfile may come with a repository.
    pub fn unreadable(&self) -> Option<&'static str> {
        let is_plain = |text: &String| visible(text) == *text;
        // For an archive the commit is `sha256:` and the digest.
        let is_id_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b':';
        let is_id = |id: &String| id.bytes().all(is_id_byte);
        let is_other = |rev: &str| self.kind != SourceKind::Git && OciReference::parse(rev).is_ok();
        let is_ref = |rev: &String| Pin::parse(rev).is_some() || is_other(rev);
        let leads_elsewhere = self.path.starts_with('/') || SubPath::parse(&self.path).is_err();
        // Git would not read these as a mere name, and no install writes them.
        let is_name = !self.name.contains("..") && !self.name.contains(REVISION);
        let is_tree = |id: &String| CommitId::parse(id).is_some();
        let is_file = |path: &str| EntryPath::parse(path).is_some();
        let fields = [
            ("id", is_plain(&self.id)),
            ("source", is_plain(&self.source)),
            ("address", self.address.iter().all(is_plain)),
            ("reference", is_plain(&self.requested)),
            ("license", self.license.iter().all(is_plain)),
            ("commit", self.commit.iter().all(is_id)),
            ("tree", self.tree.iter().all(is_tree)),
            ("digest", is_id(&self.sha256)),
            ("ref", self.rev.iter().all(is_ref)),
            (
                "path",
                self.path.is_empty() || !leads_elsewhere && is_plain(&self.path),
            ),
            ("name", is_name),
            ("list of files", self.files.paths().all(is_file)),
            ("signer", self.signer.iter().all(Signer::is_readable)),
        ];
        let wrong = fields.into_iter().find(|(_, is_good)| !is_good);
        wrong.map(|(field, _)| field)
    }
}

/// The lockfile of a plugin directory.
#[derive(Debug)]
pub struct Lockfile {
    base: Base,
    entries: Vec<LockEntry>,
    other: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
struct LockfileJson<Entry> {
    version: u64,
    skills: Vec<Entry>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// The content of the file; `None` if it is missing. In a project, a link in its place is not
/// followed.
fn bytes(base: &Base) -> Result<Option<Vec<u8>>> {
    let path = Lockfile::path(base);
    let read = if base.is_shared() {
        let Some(dir) = base.open()? else {
            return Ok(None);
        };
        files::if_there(dir.read(&FILE, limits::LOCKFILE))
    } else {
        files::unless_missing(&path, |path| files::read_capped(path, limits::LOCKFILE))
    };
    read.map_err(|error| Error::io("read lockfile", &path, &error).or_hint(without(&path)))
}

/// What to do without a readable lockfile.
fn without(path: &Path) -> String {
    let then = "the skills stay, but each has to be removed and installed again before it can be updated; better restore the file from a backup or version control";
    past(path, then)
}

impl Lockfile {
    /// The path of a plugin directory's lockfile.
    pub fn path(base: &Base) -> PathBuf {
        base.path().join(FILE.as_os_str())
    }

    /// Reads the lockfile of a plugin directory. A missing file counts as empty.
    ///
    /// # Errors
    /// When it exists but cannot be read or parsed.
    pub fn read(base: &Base) -> Result<Self> {
        let path = Self::path(base);
        let Some(bytes) = bytes(base)? else {
            return Ok(Self {
                base: base.clone(),
                entries: Vec::new(),
                other: Map::new(),
            });
        };
        let parsed = Self::parse(base, &path, &bytes);
        parsed.map_err(|error| error.or_hint(without(&path)))
    }

    /// Reads a lockfile from anywhere, as a list of what there is to be. It is not changed.
    ///
    /// # Errors
    /// When it cannot be read or parsed, or another version wrote it.
    pub fn listed(path: &Path) -> Result<Self> {
        let hint = "give the skills.lock.json of an installation, or a collection: oci://HOST/NAME";
        let bytes = files::read_capped(path, limits::LOCKFILE);
        let bytes = bytes.map_err(|error| Error::io("read", path, &error).or_hint(hint))?;
        let base = Base::own(path.to_owned());
        let parsed = Self::parse(&base, path, &bytes).map_err(|error| error.or_hint(hint))?;
        let mut pairs = parsed.entries.windows(2);
        if let Some([one, _]) = pairs.find(|pair| pair[0].name == pair[1].name) {
            let text = format!("the lockfile `{}` has `{}` twice", path.display(), one.name);
            return Err(Error::new(text).hint(hint));
        }
        Ok(parsed)
    }

    fn parse(base: &Base, path: &Path, bytes: &[u8]) -> Result<Self> {
        let broken = |why: &dyn std::fmt::Display| {
            // The parser's message quotes the file, whose text is not trusted.
            let (path, why) = (path.display(), visible(&why.to_string()));
            Error::new(format!("the lockfile `{path}` cannot be read: {why}"))
        };
        let written: LockfileJson<LockEntry> = serde_json::from_slice(bytes).map_err(|error| {
            if bytes.windows(8).any(|window| window == b"<<<<<<< ") {
                let hint = "resolve them: keep the entries of both sides; if both have the same skill, keep the newer";
                return broken(&"it has merge conflicts").hint(hint);
            }
            broken(&error)
        })?;
        if written.version != VERSION {
            let (path, version) = (path.display(), written.version);
            let text = format!(
                "the lockfile `{path}` has version {version}, and this agent-skills reads version \
                 {VERSION}"
            );
            return Err(Error::new(text).hint("update agent-skills, or move the file away"));
        }
        let mut entries = written.skills;
        for entry in &entries {
            if let Some(field) = entry.unreadable() {
                let text = format!("the {field} of `{}` cannot be one", entry.name);
                return Err(broken(&text));
            }
        }
        // It may have been edited or merged.
        entries.sort_by(order);
        Ok(Self {
            base: base.clone(),
            entries,
            other: written.other,
        })
    }

    /// The entry of the skill in the directory `name`.
    pub fn get(&self, name: &str) -> Option<&LockEntry> {
        let first = self.entries.partition_point(|entry| *entry.name < *name);
        self.entries.get(first).filter(|entry| entry.name == *name)
    }

    /// The entries with this id, whatever their directories are called: a skill may be installed
    /// at several versions.
    pub fn with_id(&self, id: &str) -> impl Iterator<Item = &LockEntry> {
        self.entries.iter().filter(move |entry| entry.id == id)
    }

    /// All entries, sorted by name.
    pub fn entries(&self) -> &[LockEntry] {
        &self.entries
    }

    /// Sets the entries of skills, or removes them, and writes the file if that changes it. `scratch`
    /// is a directory for temporary files.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set(
        &mut self,
        new: &[(&InstalledName, Option<&LockEntry>)],
        scratch: &Dir,
    ) -> Result<()> {
        if new.iter().all(|(name, entry)| self.get(name) == *entry) {
            return Ok(());
        }
        let names: HashSet<&InstalledName> = new.iter().map(|(name, _)| *name).collect();
        let is_other = |entry: &&LockEntry| !names.contains(&entry.name);
        let others = self.entries.iter().filter(is_other);
        let mut entries: Vec<&LockEntry> = others.collect();
        entries.extend(new.iter().filter_map(|(_, entry)| *entry));
        entries.sort_by(|a, b| order(a, b));
        let written = LockfileJson {
            version: VERSION,
            skills: entries,
            other: self.other.clone(),
        };
        let mut text = serde_json::to_vec_pretty(&written)
            .map_err(|error| Error::caused("could not write the lockfile", error))?;
        text.push(b'\n');
        let durable = Durable::Yes;
        let file = self.base.file(&FILE)?;
        let HomeFile { dir, name, .. } = &file;
        let written = if file.is_elsewhere {
            dir.replace(name, &text, 0o644, durable)
        } else {
            dir.replace_through(scratch, name, &text, 0o644, durable)
        };
        written.map_err(|error| dir.error("write", name, &error))?;
        // What is in memory changes only after what is on disk.
        self.entries.retain(|entry| !names.contains(&entry.name));
        let new = new.iter().filter_map(|(_, entry)| *entry);
        self.entries.extend(new.cloned());
        self.entries.sort_by(order);
        Ok(())
    }
}

/// Writes a value as JSON in place of a file of ours, durably.
///
/// # Errors
/// When it cannot be written.
pub fn write_json(dir: &Dir, name: &EntryName, value: &impl Serialize, mode: u32) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| {
        let path = dir.path_of(name);
        Error::caused(format!("could not write `{}`", path.display()), error)
    })?;
    text.push(b'\n');
    let written = dir.replace(name, &text, mode, Durable::Yes);
    written.map_err(|error| dir.error("write", name, &error))
}

fn order(a: &LockEntry, b: &LockEntry) -> Ordering {
    (&a.name, &a.id).cmp(&(&b.name, &b.id))
}

#[cfg(test)]
mod tests;
