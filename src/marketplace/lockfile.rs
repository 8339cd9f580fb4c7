//! `skills.lock.json`: where each installed skill came from and what exactly it is. Sorted and
//! without times, so the same installs give the same bytes. A file that this version does not
//! understand is never overwritten.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::address::RepoUrl;
use super::web::WebUrl;
use crate::error::{Error, Result};
use crate::sys::{files, limits};

const VERSION: u64 = 1;

/// What a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A git repository.
    #[default]
    Git,
    /// A directory of this machine, copied.
    Local,
    /// An archive of the web or of this machine.
    Archive,
    /// A site with a well-known index.
    WellKnown,
    /// One `SKILL.md` of the web.
    File,
    /// A directory of this machine that the skill is a link to.
    Link,
}

/// One installed skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockEntry {
    /// Source and path in one: what makes two entries the same skill.
    pub id: String,
    /// The directory in `skills/`.
    pub name: String,
    /// The canonical address of the repository, or the absolute directory.
    pub source: String,
    /// See [`Kind`].
    pub kind: Kind,
    /// The reference as it was typed.
    pub requested: String,
    /// The branch, tag or commit asked for; none for the default branch.
    #[serde(rename = "ref")]
    pub rev: Option<String>,
    /// The commit installed.
    pub commit: Option<String>,
    /// The skill's directory in the repository; empty for its root.
    pub path: String,
    /// Git's id of that directory.
    pub tree: Option<String>,
    /// The digest of what was installed ([`super::Digest`]).
    pub sha256: String,
    /// The digest of each file.
    pub files: BTreeMap<String, String>,
    /// The frontmatter's licence.
    pub license: Option<String>,
    /// Fields of later releases, kept as they are.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl LockEntry {
    /// The account or group that the source belongs to, or the host.
    pub fn owner(&self) -> Option<String> {
        owner(self.kind, &self.source)
    }
}

/// Whose a source is: an account, a group or a host; nobody's for a path of this machine.
pub fn owner(kind: Kind, source: &str) -> Option<String> {
    if kind == Kind::Git {
        return RepoUrl::parse(source).ok()?.owner().map(str::to_owned);
    }
    WebUrl::parse(source).ok().map(|url| url.host().to_owned())
}

/// The file.
#[derive(Debug)]
pub struct Lockfile {
    path: PathBuf,
    version: u64,
    entries: Vec<LockEntry>,
    other: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    version: u64,
    skills: Vec<Value>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl Lockfile {
    /// Reads the lockfile of a plugin directory. A missing file is an empty one.
    ///
    /// # Errors
    /// When it is there and cannot be read or understood.
    pub fn read(plugin_dir: &Path) -> Result<Self> {
        let path = plugin_dir.join("skills.lock.json");
        let bytes = match files::read_capped(&path, limits::LOCKFILE) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let (entries, other) = (Vec::new(), Map::new());
                return Ok(Self {
                    path,
                    version: VERSION,
                    entries,
                    other,
                });
            }
            Err(error) => return Err(Error::io("read lockfile", &path, &error).hint("check it")),
        };
        let broken = |why: &dyn std::fmt::Display| {
            let text = format!("the lockfile `{}` cannot be read: {why}", path.display());
            Error::new(text).hint(
                "repair it or restore it from version control; moved away, all skills stay \
                 installed, but cannot be updated",
            )
        };
        let written: Written = serde_json::from_slice(&bytes).map_err(|error| {
            if bytes.windows(8).any(|window| window == b"<<<<<<< ") {
                broken(&"it has merge conflicts")
            } else {
                broken(&error)
            }
        })?;
        let entries = written
            .skills
            .into_iter()
            .map(serde_json::from_value::<LockEntry>);
        let entries = if written.version == VERSION {
            entries
                .collect::<Result<_, _>>()
                .map_err(|error| broken(&error))?
        } else {
            entries.filter_map(std::result::Result::ok).collect()
        };
        Ok(Self {
            path,
            version: written.version,
            entries,
            other: written.other,
        })
    }

    /// Whether this version may change the file, asked before work is begun.
    ///
    /// # Errors
    /// When it was written by another version.
    pub fn check_writable(&self) -> Result<()> {
        if self.version == VERSION {
            return Ok(());
        }
        let text = format!(
            "the lockfile `{}` has version {}, and this agent-skills writes version {VERSION}",
            self.path.display(),
            self.version
        );
        Err(Error::new(text).hint("update agent-skills, or move the file away"))
    }

    /// The entry of the skill in the directory `name`.
    pub fn get(&self, name: &str) -> Option<&LockEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The entry of what is at one place, whatever its directory is called.
    pub fn by_id(&self, id: &str) -> Option<&LockEntry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// All entries, sorted by name.
    pub fn entries(&self) -> &[LockEntry] {
        &self.entries
    }

    /// Puts an entry in the place of the one of its name, and writes the file if that changes it.
    /// `scratch` is a directory of the caller's, for the file while it is written.
    ///
    /// # Errors
    /// As [`Lockfile::check_writable`], and when the file cannot be written.
    pub fn put(&mut self, entry: LockEntry, scratch: &Path) -> Result<()> {
        if self.get(&entry.name) == Some(&entry) {
            return Ok(());
        }
        let others = self.entries.iter().filter(|other| other.name != entry.name);
        let mut entries: Vec<LockEntry> = others.cloned().collect();
        entries.push(entry);
        entries.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        self.write(entries, scratch)
    }

    /// Takes the entry of `name` out, and writes the file if there was one.
    ///
    /// # Errors
    /// As [`Lockfile::put`].
    pub fn take(&mut self, name: &str, scratch: &Path) -> Result<()> {
        let others = self.entries.iter().filter(|entry| entry.name != name);
        let entries: Vec<LockEntry> = others.cloned().collect();
        if entries.len() == self.entries.len() {
            return Ok(());
        }
        self.write(entries, scratch)
    }

    /// The entries change here only when they have changed on disk.
    fn write(&mut self, entries: Vec<LockEntry>, scratch: &Path) -> Result<()> {
        self.check_writable()?;
        let skills = entries
            .iter()
            .map(serde_json::to_value)
            .collect::<Result<_, _>>();
        let written = skills.and_then(|skills| {
            let other = self.other.clone();
            serde_json::to_string_pretty(&Written {
                version: VERSION,
                skills,
                other,
            })
        });
        let text = written
            .map_err(|error| Error::new(format!("could not write the lockfile: {error}")))?;
        let temp = files::temp_sibling(&scratch.join("skills.lock.json"));
        files::replace_file_through(&temp, &self.path, format!("{text}\n").as_bytes(), 0o644)?;
        self.entries = entries;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn entry(name: &str) -> LockEntry {
        LockEntry {
            id: format!("https://github.com/o/r#skills/{name}"),
            name: name.to_owned(),
            source: "https://github.com/o/r".to_owned(),
            kind: Kind::Git,
            requested: format!("o/{name}"),
            rev: None,
            commit: Some("a".repeat(40)),
            path: format!("skills/{name}"),
            tree: None,
            sha256: String::new(),
            files: BTreeMap::new(),
            license: None,
            other: Map::new(),
        }
    }

    #[test]
    fn the_order_of_installs_does_not_show() {
        let texts = [["a", "b"], ["b", "a"]].map(|names| {
            let dir = tempfile::tempdir().unwrap();
            for name in names {
                Lockfile::read(dir.path())
                    .unwrap()
                    .put(entry(name), dir.path())
                    .unwrap();
            }
            fs::read_to_string(dir.path().join("skills.lock.json")).unwrap()
        });
        assert_eq!(texts[0], texts[1]);
        assert!(texts[0].ends_with("}\n"));
    }

    #[test]
    fn entries_are_replaced_and_taken_out_and_unknown_fields_kept() {
        let dir = tempfile::tempdir().unwrap();
        let mut with_field = entry("a");
        with_field
            .other
            .insert("later".to_owned(), Value::Bool(true));
        let mut file = Lockfile::read(dir.path()).unwrap();
        file.put(entry("a"), dir.path()).unwrap();
        file.put(with_field.clone(), dir.path()).unwrap();
        file.put(entry("b"), dir.path()).unwrap();
        file.take("b", dir.path()).unwrap();
        assert_eq!(Lockfile::read(dir.path()).unwrap().entries, [with_field]);
    }

    #[test]
    fn what_is_not_understood_is_never_overwritten() {
        for (text, reads) in [
            ("{\"version\":2,\"skills\":[{\"new\":1}],\"x\":{}}", true),
            ("<<<<<<< HEAD\n{}\n=======\n", false),
            ("{\"version\":1,\"skills\":[{}]}", false),
            ("", false),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("skills.lock.json");
            fs::write(&path, text).unwrap();
            match Lockfile::read(dir.path()) {
                Ok(mut file) => {
                    assert!(reads, "{text}");
                    assert!(file.check_writable().is_err());
                    assert!(file.put(entry("a"), dir.path()).is_err());
                }
                Err(error) => assert!(!reads && error.next_step().is_some(), "{text}: {error}"),
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn the_owner_is_that_of_the_source() {
        assert_eq!(entry("a").owner().as_deref(), Some("o"));
    }
}
