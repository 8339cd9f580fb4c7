//! Loads a [`Skill`] from a directory, or says why it does not load; and lists the directories in a
//! skills directory, with a stamp that proves whether the list is unchanged.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::fields::{Fields, near_misses};
use super::{Diagnostic, Hooks, SkillName, body, frontmatter, mapping};
use crate::error::reason;
use crate::sys::stamp::{Stamp, now};
use crate::sys::{Dir, EntryPath, files, limits};
use skill_text::is_invisible;

#[cfg(test)]
mod tests;

/// Only a file of this name is stored in the catalog's index. For any other the directory is searched
/// each time.
const FILE: &str = "SKILL.md";

/// A parsed `SKILL.md`. Its author wrote the content, so none of it is safe to show unescaped.
/// Serialized, as the catalog's index stores it, it is without its instructions and places.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Skill {
    /// Its key, from the field `name` or else the directory's name.
    pub name: SkillName,
    /// The field `description`, trimmed, otherwise as written. `None` if missing or blank.
    #[serde(skip)]
    pub description: Option<String>,
    /// The skill's directory, as it was found.
    #[serde(skip)]
    pub dir: PathBuf,
    /// The path of its `SKILL.md`.
    #[serde(skip)]
    pub file: PathBuf,
    /// Every frontmatter field.
    pub fields: Fields,
    /// `sha256:` and the hexadecimal digest of the whole `SKILL.md`.
    pub digest: String,
    /// Its diagnostics.
    pub diagnostics: Vec<Diagnostic>,
}

impl Skill {
    /// The name that its author gives it; without one, the directory's.
    pub fn authors_name(&self) -> String {
        let own = self.fields.text("name");
        own.unwrap_or_else(|| self.name.to_string())
    }

    /// Reads the skill in `dir`.
    ///
    /// # Errors
    /// A diagnostic of level error when there is no readable `SKILL.md`, or no valid name.
    pub fn load(dir: &Path) -> Result<Self, Diagnostic> {
        Self::load_stamped(dir).1
    }

    /// As [`Skill::load`], with the stamp that its file had before it was read; `None` unless that
    /// is a regular file named exactly `SKILL.md`, not a link of any kind.
    pub fn load_stamped(dir: &Path) -> (Option<Stamp>, Result<Self, Diagnostic>) {
        let file = dir.join(FILE);
        // Nearly all skills have such a file, and then one access is enough.
        match files::read_unlinked(&file, limits::SKILL_FILE) {
            Ok((metadata, bytes)) => {
                let skill = Self::parse(dir, file, &bytes);
                (Some(Stamp::from_metadata(&metadata)), skill)
            }
            _ => (None, Self::find(dir)),
        }
    }

    fn find(dir: &Path) -> Result<Self, Diagnostic> {
        let shown = || dir.display().to_string();
        let missing = || match unreadable(dir) {
            Some(error) => Diagnostic::Unreadable(shown(), reason(&error)),
            None => Diagnostic::NoSkillFile(shown()),
        };
        let file = find_skill_file(dir).ok_or_else(missing)?;
        let bytes = read(dir, &file)?;
        Self::parse(dir, file, &bytes)
    }

    /// Parses `bytes`, the content of `file` in `dir`, whose name is used if the field `name` is
    /// missing. Neither path has to exist.
    ///
    /// # Errors
    /// A diagnostic of level error when there is no valid name.
    pub fn parse(dir: &Path, file: PathBuf, bytes: &[u8]) -> Result<Self, Diagnostic> {
        let mut diagnostics = Vec::new();
        // Most files are valid UTF-8, and checking is faster than replacing.
        let valid = std::str::from_utf8(bytes).map(Cow::Borrowed);
        let text = valid.unwrap_or_else(|_| String::from_utf8_lossy(bytes));
        if let Cow::Owned(_) = text {
            diagnostics.push(Diagnostic::NotUtf8);
        }
        let split = frontmatter::split(&text);
        let is_foreign = matches!(split.diagnostics[..], [Diagnostic::ForeignFence(_)]);
        diagnostics.extend(split.diagnostics);
        let read = split.yaml.map(mapping::read).unwrap_or_default();
        diagnostics.extend(read.diagnostics);
        let mut fields = Fields(read.values);
        let outside = split.outside.into_iter();
        let mut unread = read.unread;
        unread.extend(outside.filter(|key| !fields.has(*key)));
        for key in unread {
            fields.restrict(key);
            // The diagnostic of a foreign fence says it already.
            diagnostics
                .extend((!is_foreign).then(|| Diagnostic::KeyNotRead(key.as_str().to_owned())));
        }
        diagnostics.extend(fields.tool_list_diagnostics());
        let near = near_misses(&fields).into_iter();
        diagnostics.extend(near.map(|(written, meant)| Diagnostic::NearMiss(written, meant)));
        diagnostics.extend(Hooks::diagnostics(&fields));
        let name = name(&fields, dir, &mut diagnostics)?;
        let description = description(&fields);
        match description.as_ref().map(|text| text.chars().count()) {
            None => diagnostics.push(Diagnostic::DescriptionMissing),
            Some(length) if length > 1024 => {
                diagnostics.push(Diagnostic::DescriptionTooLong(length));
            }
            Some(_) => {}
        }
        diagnostics.extend(body::diagnostics(trim_body(split.body)));
        Ok(Self {
            name,
            description,
            dir: dir.to_owned(),
            file,
            fields,
            digest: skill_file_digest(bytes),
            diagnostics,
        })
    }

    /// The instructions: the text after the frontmatter. Read on demand, because most calls need
    /// none.
    ///
    /// # Errors
    /// When the file cannot be read, or has changed since the skill was loaded.
    pub fn body(&self) -> Result<String, Diagnostic> {
        let bytes = read(&self.dir, &self.file)?;
        if skill_file_digest(&bytes) != self.digest {
            return Err(Diagnostic::Changed(self.file.display().to_string()));
        }
        let text = String::from_utf8_lossy(&bytes);
        Ok(trim_body(frontmatter::split(&text).body).to_owned())
    }

    /// A key that may be meant to restrict it, and does not; with the key that does.
    pub fn near_miss(&self) -> Option<(&str, &str)> {
        self.diagnostics.iter().find_map(|found| match found {
            Diagnostic::NearMiss(written, meant) => Some((&**written, &**meant)),
            _ => None,
        })
    }

    /// Whether what its list says could not be read for certain, so that it allows nothing.
    pub fn restriction_is_uncertain(&self) -> bool {
        self.diagnostics.iter().any(|found| match found {
            Diagnostic::KeyNotRead(key) => key == "allowed-tools",
            other => matches!(other, Diagnostic::ForeignFence(_)),
        })
    }

    /// `name` and `description`, and `license`, `compatibility`, `allowed-tools` and `metadata` if
    /// they are set (docs/spec/skills.md#what-the-specification-asks).
    pub fn properties(&self) -> Value {
        let mut properties = json!({"name": self.name, "description": self.description});
        for key in ["license", "compatibility", "allowed-tools", "metadata"] {
            if let Some(value) = self.fields.value(key).filter(|value| !value.is_null()) {
                properties[key] = value.clone();
            }
        }
        properties
    }

    /// What the index stores of it, as JSON: besides, where its file is.
    pub fn to_cached(&self) -> Vec<u8> {
        let file = self.file.strip_prefix(&self.dir).unwrap_or(&self.file);
        serde_json::to_vec(&(self, file.to_string_lossy())).unwrap_or_default()
    }

    /// Whether the index stores it, so that [`Skill::from_cached`] restores it.
    pub fn can_be_cached(&self) -> bool {
        self.file == self.dir.join(FILE)
    }

    /// The skill in `SKILL.md` of `dir`, restored from the JSON that the index has of it.
    pub fn from_cached(dir: &Path, cached: &[u8]) -> Option<Self> {
        let (mut skill, _): (Self, String) = serde_json::from_slice(cached).ok()?;
        skill.description = description(&skill.fields);
        (skill.dir, skill.file) = (dir.to_owned(), dir.join(FILE));
        Some(skill)
    }

    /// Whether the model may be told about it. A skill without a description cannot be chosen.
    pub fn is_offered(&self) -> bool {
        self.description.is_some()
    }
}

fn trim_body(body: &str) -> &str {
    body.trim_start_matches(['\n', '\r']).trim_end()
}

/// The description; `None` if it has no visible character.
fn description(fields: &Fields) -> Option<String> {
    let shows = |c: char| !c.is_whitespace() && !c.is_control() && !is_invisible(c);
    let written = fields.text("description");
    written.filter(|text| text.contains(shows))
}

/// The digest of a `SKILL.md` with this content, as in [`Skill::digest`].
pub fn skill_file_digest(bytes: &[u8]) -> String {
    format!("sha256:{:x}", Sha256::digest(bytes))
}

/// `SKILL.md` in `dir`, else the first file whose name differs only in case.
pub fn find_skill_file(dir: &Path) -> Option<PathBuf> {
    let exact = dir.join(FILE);
    if exact.is_file() {
        return Some(exact);
    }
    let entries = files::entries(dir).ok()?.into_iter();
    let named = entries.filter(|(name, _)| name.as_os_str().eq_ignore_ascii_case(FILE));
    let paths = named.map(|(name, _)| dir.join(name.as_os_str()));
    paths.filter(|path| path.is_file()).min()
}

/// Why it is not known whether there is a `SKILL.md` in `dir`.
pub fn unreadable(dir: &Path) -> Option<io::Error> {
    let is_known = |error: &io::Error| {
        use io::ErrorKind::{NotADirectory, NotFound};
        matches!(error.kind(), NotFound | NotADirectory)
    };
    let looked = dir.join(FILE).symlink_metadata().err();
    let read = || files::entries(dir).err();
    let mut errors = looked.into_iter().chain(read());
    errors.find(|error| !is_known(error))
}

fn read(dir: &Path, file: &Path) -> Result<Vec<u8>, Diagnostic> {
    read_skill_file(dir, file)
        .map_err(|why| Diagnostic::Unreadable(file.display().to_string(), why.to_string()))
}

/// The bytes of the `SKILL.md` at `path`, directly in the skill's directory `dir`. Links are followed
/// inside the directory that contains the skill, and to another `SKILL.md`, as stow and home-manager
/// link it from a store: nothing secret is called so.
///
/// # Errors
/// When it leads elsewhere, is too large or cannot be read.
pub fn read_skill_file(dir: &Path, path: &Path) -> io::Result<Vec<u8>> {
    // A regular file directly in the directory cannot lie elsewhere.
    if let Ok((_, bytes)) = files::read_unlinked(path, limits::SKILL_FILE) {
        return Ok(bytes);
    }
    let (root, real) = (dir.canonicalize()?, path.canonicalize()?);
    let around = root.parent().unwrap_or(&root);
    let below = real.strip_prefix(around).ok().and_then(EntryPath::parse);
    if let Some(below) = below {
        return Dir::anchor(around)?.read_below(&below, limits::SKILL_FILE);
    }
    let name = real.to_string_lossy().to_ascii_lowercase();
    if name.ends_with("skill.md") {
        return Ok(files::read_unlinked(&real, limits::SKILL_FILE)?.1);
    }
    Err(io::Error::other(
        "it is a link that leaves the skills directory",
    ))
}

fn name(
    fields: &Fields,
    dir: &Path,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<SkillName, Diagnostic> {
    let directory = dir.file_name().unwrap_or_default().to_string_lossy();
    let from_directory = SkillName::from_written(&directory);
    let written = fields.text("name").unwrap_or_default();
    let Some(name) = SkillName::from_written(&written) else {
        diagnostics.push(Diagnostic::NameMissing(directory.to_string()));
        return from_directory.ok_or_else(|| Diagnostic::NameUnusable(directory.into_owned()));
    };
    if written.chars().count() > SkillName::MAX {
        diagnostics.push(Diagnostic::NameTooLong);
    } else if written != name.as_str() {
        diagnostics.push(Diagnostic::NameAltered(written, name.to_string()));
    }
    if from_directory.as_ref() != Some(&name) {
        diagnostics.push(Diagnostic::NameMismatch(
            name.to_string(),
            directory.into_owned(),
        ));
    }
    Ok(name)
}

/// The skills in `root`, sorted: directories with a `SKILL.md`, in any spelling.
pub fn skill_directories(root: &Path) -> Vec<PathBuf> {
    let (mut dirs, _) = list(root);
    dirs.retain(|dir| find_skill_file(dir).is_some());
    dirs
}

/// The directories in `root`, sorted, and its stamp, if they are unchanged as long as that is; none if
/// it is missing or unreadable. Only a complete list gets a stamp, because whether the root can be read
/// may change without changing the stamp.
#[expect(
    clippy::disallowed_methods,
    reason = "only names, which may be many: no more than the cap are read"
)]
pub fn list(root: &Path) -> (Vec<PathBuf>, Option<Stamp>) {
    let now = now();
    let stamp = Stamp::of(root);
    let mut names = Vec::new();
    // A link's target may become a directory without changing the root.
    let entries = fs::read_dir(root);
    let mut vouched = entries.is_ok();
    for entry in entries.into_iter().flatten().take(limits::CATALOG_ENTRIES) {
        let Ok(entry) = entry else {
            vouched = false;
            continue;
        };
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type().ok();
        if kind.is_some_and(|kind| kind.is_dir()) || root.join(&name).is_dir() {
            names.push(name);
        } else {
            vouched &= kind.is_some_and(|kind| kind.is_file());
        }
    }
    names.sort_unstable();
    let settled = stamp.filter(|stamp| vouched && stamp.is_settled(now));
    let dirs = names.iter().map(|name| root.join(name));
    (dirs.collect(), settled)
}
