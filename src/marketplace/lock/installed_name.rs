//! The name of a skill's directory in `skills/`. It may come from a lockfile, an unfinished change or
//! a repository, so it is parsed before it is used in a path or shown.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::marketplace::prelude::*;
use crate::sys::checked_text;

/// One path component. It starts neither with a dot nor like an option, and contains no character
/// that is invisible, controls a terminal or reorders text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstalledName(String, EntryName);

impl InstalledName {
    /// Parses `written`.
    ///
    /// # Errors
    /// When no skill can be installed under this name.
    pub fn parse(written: &str) -> Result<Self> {
        let entry = EntryName::parse(written);
        let is_plain = !written.starts_with(['.', '-']) && one_line(written) == written;
        let entry = entry.filter(|_| is_plain).ok_or_else(|| {
            let written = written.escape_debug();
            let text = format!("`{written}` cannot be the name of an installed skill");
            Error::new(text).hint("a name has letters and digits, and no `/`")
        })?;
        Ok(Self(written.to_owned(), entry))
    }

    /// The name as an entry of the `skills/` directory handle.
    pub fn entry(&self) -> &EntryName {
        &self.1
    }
}

checked_text!(InstalledName);

impl PartialEq<str> for InstalledName {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

/// The name of a skill that was installed under another name than its author's: `<owner>--<name>`
/// or `<chosen>--`, exactly as the marketplace writes them. It stays the same when the skill it
/// made way for is gone, so the tool never changes its name.
fn own_name(dir: &Path) -> Option<SkillName> {
    let name = dir.file_name()?.to_str()?;
    let (first, second) = name.split_once("--")?;
    let is_key = |part: &str| SkillName::from_written(part).is_some_and(|key| key.as_str() == part);
    let is_ours = is_key(first) && (second.is_empty() || is_key(second));
    is_ours.then(|| SkillName::from_written(name)).flatten()
}

/// The name under which `skill` is offered if its directory is `dir`.
pub fn offered_name(dir: &Path, skill: &Skill) -> SkillName {
    own_name(dir).unwrap_or_else(|| skill.name.clone())
}

/// The name of an installed skill for people and the model, given its directory's name.
pub fn listed_name(directory: &str) -> String {
    let own = own_name(Path::new(directory));
    own.map_or_else(|| directory.to_owned(), |name| name.to_string())
}

/// The name of an unreadable skill, if its directory's name gives one.
pub fn named_by_directory(dir: &Path) -> Option<SkillName> {
    let directory = dir.file_name()?.to_str()?;
    own_name(dir).or_else(|| SkillName::from_written(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_lead_elsewhere_or_deceive_a_reader_is_no_name() {
        for bad in [
            "",
            ".",
            "..",
            "../x",
            "/x",
            "a/b",
            "a\\\0",
            ".git",
            ".x",
            "a\nb",
            "a\u{1b}[2Jb",
            "a\u{202e}b",
            "a\u{200b}",
            "a\u{e0061}",
            " a",
            "a ",
            "a\u{9b}b",
            "a\u{2028}b",
            "-u",
            "--upload-pack=x",
            &"x".repeat(256),
        ] {
            let error = InstalledName::parse(bad).unwrap_err().to_string();
            assert_eq!(one_line(&error), error, "shown as it is");
            let json = serde_json::to_string(bad).unwrap();
            assert!(
                serde_json::from_str::<InstalledName>(&json).is_err(),
                "{bad:?}"
            );
        }
        for good in [
            "pdf",
            "acme--pdf",
            "pdf--",
            "My Skill",
            "技能",
            "a\\b",
            "x.y",
        ] {
            let name = InstalledName::parse(good).unwrap();
            assert_eq!(serde_json::to_string(&name).unwrap(), format!("{good:?}"));
        }
    }
}
