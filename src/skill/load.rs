//! Loads a [`Skill`] from a directory, or says why it does not load.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::fields::Fields;
use super::text::shows_something;
use super::{Diagnostic, Hooks, SkillName, body, frontmatter, mapping, salvage};
use crate::sys::stamp::Stamp;
use crate::sys::{files, limits};

/// A parsed `SKILL.md`. Its author wrote the content, so none of it is safe to show unescaped.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// Its key, from the field `name` or else the directory's name.
    pub name: SkillName,
    /// The field `description`, trimmed, otherwise as written. `None` if missing or blank.
    pub description: Option<String>,
    /// The skill's directory, as it was found.
    pub dir: PathBuf,
    /// The path of its `SKILL.md`.
    pub file: PathBuf,
    /// Every frontmatter field.
    pub fields: Fields,
    /// `sha256:` and the hexadecimal digest of the whole `SKILL.md`.
    pub digest: String,
    /// Its diagnostics.
    pub diagnostics: Vec<Diagnostic>,
}

impl Skill {
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
        let file = dir.join("SKILL.md");
        // Nearly all skills have such a file, and then one access is enough.
        match files::read_unlinked(&file, limits::SKILL_FILE) {
            Ok((metadata, bytes)) if text_link(&bytes).is_none() => {
                let skill = Self::parse(dir, file, &bytes);
                (Some(Stamp::from_metadata(&metadata)), skill)
            }
            _ => (None, Self::find(dir)),
        }
    }

    fn find(dir: &Path) -> Result<Self, Diagnostic> {
        let file = find_skill_file(dir).ok_or_else(|| {
            let text = format!("`{}` has no SKILL.md", dir.display());
            Diagnostic::error("no-skill-file", text)
        })?;
        let (file, bytes) = read(dir, file)?;
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
            let message =
                "SKILL.md is not UTF-8, so some characters were replaced: save it as UTF-8";
            diagnostics.push(Diagnostic::warning("not-utf8", message));
        }
        let split = frontmatter::split(&text);
        let odd = [
            "glued-fence",
            "unclosed-frontmatter",
            "text-before-frontmatter",
        ];
        let is_odd = |found: &Diagnostic| odd.contains(&found.code.as_str());
        let doubtful_fences = split.diagnostics.iter().any(is_odd);
        diagnostics.extend(split.diagnostics);
        let read = split.yaml.map(mapping::read).unwrap_or_default();
        let repaired = split.yaml.is_none() || !read.diagnostics.is_empty();
        diagnostics.extend(read.diagnostics);
        let mut fields = Fields::from(read.values);
        let yaml = split.yaml.unwrap_or(&text);
        // A merge key could bring a list from elsewhere, so it is not followed. With odd fences the
        // end of the frontmatter is a guess, so the whole file counts.
        if doubtful_fences {
            diagnostics.extend(salvage::restriction(&text, &mut fields));
        } else if repaired || fields.value("<<").is_some() {
            diagnostics.extend(salvage::restriction(yaml, &mut fields));
        }
        diagnostics.extend(salvage::contradiction(yaml, &mut fields));
        diagnostics.extend(fields.tool_list_diagnostics());
        diagnostics.extend(Hooks::diagnostics(&fields));
        let name = name(&fields, dir, &mut diagnostics)?;
        let description = description(&fields);
        check_description(description.as_deref(), &mut diagnostics);
        let body = split.body.trim_start_matches(['\n', '\r']).trim_end();
        diagnostics.extend(body::diagnostics(body));
        Ok(Self {
            name,
            description,
            dir: dir.to_owned(),
            file,
            fields,
            digest: digest(bytes),
            diagnostics,
        })
    }

    /// The instructions: the text after the frontmatter. Read on demand, because most calls need
    /// none.
    ///
    /// # Errors
    /// When the file cannot be read, or has changed since the skill was loaded.
    pub fn body(&self) -> Result<String, Diagnostic> {
        let (_, bytes) = read(&self.dir, self.file.clone())?;
        if digest(&bytes) != self.digest {
            let text = format!("`{}` changed just now: call again", self.file.display());
            return Err(Diagnostic::error("changed", text));
        }
        let text = String::from_utf8_lossy(&bytes);
        let body = frontmatter::split(&text).body;
        Ok(body.trim_start_matches(['\n', '\r']).trim_end().to_owned())
    }

    /// Whether the model may be told about it. A skill without a description cannot be chosen.
    pub fn is_offered(&self) -> bool {
        self.description.is_some()
    }
}

/// The description; `None` if it has no visible character.
pub(super) fn description(fields: &Fields) -> Option<String> {
    let written = fields.text("description");
    written.filter(|text| shows_something(text))
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{:x}", Sha256::digest(bytes))
}

/// `SKILL.md` in `dir`, else the first file whose name differs only in case.
pub fn find_skill_file(dir: &Path) -> Option<PathBuf> {
    let exact = dir.join("SKILL.md");
    if exact.is_file() {
        return Some(exact);
    }
    let entries = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
    let named = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"))
            && path.is_file()
    };
    entries.filter(named).min()
}

/// The file and its bytes. A file that contains only the path of another `SKILL.md` is a link that
/// was checked out as text. It is followed once, inside the directory that contains the skill.
fn read(dir: &Path, file: PathBuf) -> Result<(PathBuf, Vec<u8>), Diagnostic> {
    let unreadable = |file: &Path, reason: &dyn std::fmt::Display| {
        let text = format!("could not read `{}`: {reason}", file.display());
        Diagnostic::error("unreadable", text)
    };
    let read_inside = |path: &Path| {
        // A regular file directly in the directory cannot lie elsewhere.
        let is_plain = |path: &Path| path.symlink_metadata().is_ok_and(|file| file.is_file());
        if path.parent() == Some(dir) && is_plain(path) {
            return files::read_capped(path, limits::SKILL_FILE)
                .map_err(|error| unreadable(path, &error));
        }
        let root = dir.canonicalize();
        let root = root.map_err(|error| unreadable(dir, &error))?;
        let root = root.parent().unwrap_or(&root);
        let inside = path
            .canonicalize()
            .map_err(|error| unreadable(path, &error))?;
        if !inside.starts_with(root) {
            return Err(unreadable(
                path,
                &"it is a link that leaves the skills directory",
            ));
        }
        files::read_capped(&inside, limits::SKILL_FILE).map_err(|error| unreadable(path, &error))
    };
    let bytes = read_inside(&file)?;
    match text_link(&bytes) {
        Some(target) => {
            let target = dir.join(target);
            let bytes = read_inside(&target)?;
            Ok((target, bytes))
        }
        None => Ok((file, bytes)),
    }
}

fn text_link(bytes: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(bytes).ok()?.trim();
    let path = line.strip_prefix('@').unwrap_or(line);
    let one_path = !path.contains(char::is_whitespace) && path.len() < 200;
    (one_path && path.to_ascii_lowercase().ends_with("/skill.md") && !path.starts_with('/'))
        .then_some(path)
}

fn name(
    fields: &Fields,
    dir: &Path,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<SkillName, Diagnostic> {
    let directory = dir
        .file_name()
        .map(|name| name.to_string_lossy())
        .unwrap_or_default();
    let from_directory = SkillName::from_written(&directory);
    let written = fields.text("name");
    let Some(name) = written.as_deref().and_then(SkillName::from_written) else {
        let text =
            format!("the name was taken from the directory `{directory}`: add the field `name`");
        diagnostics.push(Diagnostic::note("name-missing", text));
        return from_directory.ok_or_else(|| {
            let text =
                format!("neither `name` nor the directory `{directory}` has a letter or digit");
            Diagnostic::error("name-unusable", text)
        });
    };
    let written = written.unwrap_or_default();
    if written.chars().count() > SkillName::MAX {
        let text = format!(
            "the name is longer than {} characters and was cut",
            SkillName::MAX
        );
        diagnostics.push(Diagnostic::warning("name-too-long", text));
    } else if written != name.as_str() {
        let text = format!(
            "the name `{written}` is used as `{name}`: use lowercase letters, digits and single hyphens"
        );
        diagnostics.push(Diagnostic::note("name-altered", text));
    }
    if from_directory.as_ref() != Some(&name) {
        let text = format!("the name `{name}` differs from its directory `{directory}`");
        diagnostics.push(Diagnostic::note("name-mismatch", text));
    }
    Ok(name)
}

fn check_description(description: Option<&str>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(description) = description else {
        let text =
            "the skill has no description, so the model could not know when to use it: add one";
        diagnostics.push(Diagnostic::error("description-missing", text));
        return;
    };
    let length = description.chars().count();
    if length > 1024 {
        let text =
            format!("the description has {length} characters, over the specification's 1024");
        diagnostics.push(Diagnostic::note("description-too-long", text));
    }
}
