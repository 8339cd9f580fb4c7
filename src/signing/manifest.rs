//! The manifest of a skill: its name and the digest of each file, as one text that is signed where
//! no commit is. The same files give the same bytes on every machine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use unicode_normalization::UnicodeNormalization as _;

use crate::error::{Error, Result};
use crate::skill::one_line;
use crate::sys::EntryPath;

/// The name of the manifest in a skill's directory; beside an archive it is this after its name.
pub const MANIFEST: &str = "skill.manifest";
/// What the signature of `ssh-keygen` is called: this after the manifest's name.
pub const SSH_SIGNATURE: &str = ".sig";

const VERSION: u32 = 1;

/// What a manifest says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of this form.
    #[serde(rename = "manifest")]
    form: u32,
    /// The skill, so that the signature of one is not taken for another's.
    pub name: String,
    /// The version that its author states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Each file with its SHA-256 in hexadecimal digits, followed by `+x` if it is executable.
    pub files: BTreeMap<String, String>,
}

/// The digest of a file, as a manifest and a lockfile have it.
pub fn digest(content: &[u8], executable: bool) -> String {
    let mark = if executable { "+x" } else { "" };
    format!("{:x}{mark}", Sha256::digest(content))
}

/// Whether a file at the top of a skill is its manifest or the signature of it, which no
/// manifest lists.
pub fn is_signature_file(path: &str) -> bool {
    let rest = path.strip_prefix(MANIFEST);
    rest.is_some_and(|rest| rest.is_empty() || rest == SSH_SIGNATURE)
}

impl Manifest {
    /// The manifest of a skill with these files.
    pub fn new<'f>(
        name: &str,
        version: Option<String>,
        files: impl IntoIterator<Item = (&'f str, &'f str)>,
    ) -> Self {
        let files = files
            .into_iter()
            .filter(|(path, _)| !is_signature_file(path));
        Self {
            form: VERSION,
            name: name.to_owned(),
            version,
            files: files
                .map(|(path, digest)| (path.to_owned(), digest.to_owned()))
                .collect(),
        }
    }

    /// As it is written and signed.
    pub fn render(&self) -> String {
        // Its keys are texts, so it can be written.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// When it is not written as [`Manifest::render`] writes it, so that no two readers see different
    /// files in it, or when it names what cannot be a file of a skill, or two that some systems take
    /// for one.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Error::new(format!("the manifest cannot be used: {why}"))
                .hint("ask the author to sign again with `agent-skills package --sign`")
        };
        let read: Self =
            serde_json::from_str(text).map_err(|error| wrong(&one_line(&error.to_string())))?;
        if read.form != VERSION {
            return Err(wrong("a later release wrote it"));
        }
        if read.render() != text {
            return Err(wrong("it is not in the form that is signed"));
        }
        let mut folded = BTreeMap::new();
        for path in read.files.keys() {
            if EntryPath::parse(path).is_none() || is_signature_file(path) {
                let shown = path.escape_debug();
                return Err(wrong(&format!("`{shown}` is no file of a skill")));
            }
            let key: String = path.nfkc().collect::<String>().to_lowercase();
            if let Some(other) = folded.insert(key, path) {
                let (a, b) = (other.escape_debug(), path.escape_debug());
                return Err(wrong(&format!(
                    "`{a}` and `{b}` are one file on some systems"
                )));
            }
        }
        Ok(read)
    }

    /// How the files of a skill differ from the manifest; `None` if they do not. `own` are the digests
    /// of the manifest and its signatures: no other file may have one of their names.
    pub fn first_difference<'f>(
        &self,
        name: &str,
        files: impl IntoIterator<Item = (&'f str, &'f str)>,
        own: &[String],
    ) -> Option<String> {
        if self.name != name {
            let shown = self.name.escape_debug();
            return Some(format!("it is for the skill `{shown}`"));
        }
        let there: BTreeMap<&str, &str> = files.into_iter().collect();
        for (path, digest) in &there {
            if is_signature_file(path) && own.iter().any(|own| own == digest) {
                continue;
            }
            let shown = path.escape_debug();
            match self.files.get(*path) {
                None => return Some(format!("it does not list `{shown}`")),
                Some(signed) if signed == digest => {}
                Some(_) => return Some(format!("`{shown}` is not the file that was signed")),
            }
        }
        let mut signed = self.files.keys();
        let missing = signed.find(|path| !there.contains_key(path.as_str()));
        missing.map(|path| format!("`{}` is missing", path.escape_debug()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(files: &[(&str, &str)]) -> Manifest {
        Manifest::new("pdf", Some("1.0".to_owned()), files.iter().copied())
    }

    #[test]
    fn what_is_written_is_read_and_its_own_files_are_not_listed() {
        let files = [
            ("SKILL.md", "aa"),
            ("skill.manifest", "x"),
            ("skill.manifest.sig", "y"),
        ];
        let written = manifest(&files);
        assert_eq!(written.files.len(), 1);
        assert_eq!(Manifest::parse(&written.render()).unwrap(), written);
        let own = ["x".to_owned(), "y".to_owned()];
        assert_eq!(written.first_difference("pdf", files, &own), None);
        // A file is not exempted by its name.
        for other in ["z", "y+x"] {
            let mut files = files;
            files[2].1 = other;
            let why = written.first_difference("pdf", files, &own).unwrap();
            assert!(why.contains("not list `skill.manifest.sig`"), "{why}");
        }
    }

    #[test]
    fn every_difference_is_named() {
        let signed = manifest(&[("SKILL.md", "aa"), ("run.sh", "bb+x")]);
        for (name, files, why) in [
            ("other", &[][..], "for the skill `pdf`"),
            ("pdf", &[("SKILL.md", "aa")], "`run.sh` is missing"),
            (
                "pdf",
                &[("SKILL.md", "aa"), ("run.sh", "bb")],
                "`run.sh` is not",
            ),
            (
                "pdf",
                &[("SKILL.md", "aa"), ("run.sh", "bb+x"), ("x", "cc")],
                "not list `x`",
            ),
            (
                "pdf",
                &[("SKILL.md", "aa"), ("Run.sh", "bb+x")],
                "not list `Run.sh`",
            ),
        ] {
            let found = signed
                .first_difference(name, files.iter().copied(), &[])
                .unwrap();
            assert!(found.contains(why), "{found}");
        }
    }

    #[test]
    fn a_manifest_in_another_form_is_refused() {
        let text = manifest(&[("SKILL.md", "aa")]).render();
        let twice = text.replace(
            "\"SKILL.md\": \"aa\"",
            "\"SKILL.md\": \"bb\",\n    \"SKILL.md\": \"aa\"",
        );
        let folded = manifest(&[("SKILL.md", "aa"), ("skill.md", "bb")]).render();
        let later = text.replace("\"manifest\": 1", "\"manifest\": 2");
        for (text, why) in [
            (text.trim_end(), "form"),
            (&text.replace('\n', " "), "form"),
            (&twice, "form"),
            (&later, "later"),
            (&folded, "one file"),
            (&text.replace("SKILL.md", "../x"), "no file"),
            (&text.replace("SKILL.md", "/x"), "no file"),
            (&text.replace("\"version\"", "\"x\""), ""),
            ("", ""),
        ] {
            let error = Manifest::parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
