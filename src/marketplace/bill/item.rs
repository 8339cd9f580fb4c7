//! A bill and what it says of one skill.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;

use crate::marketplace::bill::purl::web_address;
use crate::marketplace::lock::{Digest, Files, LockEntry};
use crate::skill::one_line;

/// The software bill of an installation: its skills. The same installation has the same bill.
#[derive(Debug)]
pub struct Bill {
    /// The skills.
    pub skills: Vec<Item>,
}

/// One skill.
#[derive(Debug)]
pub struct Item {
    /// Its name, or its directory's if it could not be loaded.
    pub name: String,
    /// Its layer.
    pub layer: &'static str,
    /// Its directory; no other skill of the bill has it.
    pub directory: String,
    /// As its author wrote it.
    pub version: Option<String>,
    /// As its author wrote it.
    pub license: Option<String>,
    /// What the lockfile says; `None` for a skill that was put there by hand.
    pub entry: Option<LockEntry>,
    /// Whether a project says that of itself.
    pub claimed: bool,
    /// What its directory is a link to.
    pub linked_to: Option<String>,
    /// Its files.
    pub content: Content,
}

/// The files of a skill.
#[derive(Debug)]
pub enum Content {
    /// They were read.
    Read {
        /// The digest of the whole, as the lockfile has it.
        digest: String,
        /// The files.
        files: Vec<File>,
        /// Links in its directory, which have no content of their own.
        links: Vec<String>,
    },
    /// They were not, for this reason.
    Unread(String),
}

/// One file.
#[derive(Debug)]
pub struct File {
    /// Its path in the skill's directory.
    pub path: String,
    /// The SHA-256 of its bytes.
    pub sha256: String,
    /// Whether it is executable.
    pub is_executable: bool,
}

impl Content {
    /// Reads a skill's directory.
    pub fn read(dir: &Path) -> Self {
        let mut plain = BTreeSet::new();
        let digest = Digest::read_each(dir, |path, _| {
            plain.insert(path.to_owned());
        });
        match digest {
            Ok(Digest { sha256, files, .. }) => Self::of(sha256, &files, &plain),
            Err(error) => Self::Unread(error.to_string()),
        }
    }

    fn of(digest: String, read: &Files, plain: &BTreeSet<String>) -> Self {
        let (mut files, mut links) = (Vec::new(), Vec::new());
        for path in read.paths() {
            if !plain.contains(path) {
                links.push(path.to_owned());
                continue;
            }
            let marked = read.get(path).unwrap_or_default();
            let sha256 = marked.strip_suffix("+x").unwrap_or(marked);
            files.push(File {
                path: path.to_owned(),
                sha256: sha256.to_owned(),
                is_executable: marked != sha256,
            });
        }
        Self::Read {
            digest,
            files,
            links,
        }
    }
}

impl Item {
    /// Its author's version, else its commit.
    pub fn release(&self) -> Option<&str> {
        let commit = || self.entry.as_ref()?.commit.as_deref();
        self.version.as_deref().or_else(commit)
    }

    /// Its licence, if one is stated.
    pub fn license(&self) -> Option<String> {
        let written = one_line(self.license.as_deref()?);
        Some(written.trim().to_owned()).filter(|written| !written.is_empty())
    }

    /// Its files.
    pub fn files(&self) -> &[File] {
        match &self.content {
            Content::Read { files, .. } => files,
            Content::Unread(_) => &[],
        }
    }

    /// What has no place of its own in the format, by name (docs/marketplace.md).
    pub fn properties(&self) -> Vec<(&'static str, String)> {
        let mut said = vec![
            ("layer", self.layer.to_owned()),
            ("directory", self.directory.clone()),
        ];
        let origin = match (&self.entry, &self.linked_to) {
            // As the lockfile writes it.
            (Some(entry), _) => json!(entry.kind).as_str().unwrap_or_default().to_owned(),
            (None, Some(_)) => "link".to_owned(),
            (None, None) => "none".to_owned(),
        };
        said.push(("origin", origin));
        if let Some(entry) = &self.entry {
            let address = |text: &str| web_address(text).unwrap_or(text).to_owned();
            said.push(("source", address(&entry.source)));
            let of_entry = [
                ("address", entry.address.as_deref().map(address)),
                ("ref", entry.rev.as_ref().map(ToString::to_string)),
                ("commit", entry.commit.clone()),
                ("path", Some(entry.path.to_string())),
                ("tree", entry.tree.clone()),
            ];
            let of_entry = of_entry.into_iter();
            said.extend(of_entry.filter_map(|(name, value)| Some((name, value?))));
            // What came with a project is its claim, and of changed files nobody signed.
            let is_as_signed =
                matches!(&self.content, Content::Read { digest, .. } if *digest == entry.sha256);
            if let Some(signer) = &entry.signer
                && is_as_signed
                && !self.claimed
            {
                let principal = signer.principal.clone();
                said.extend(principal.map(|principal| ("signer:principal", principal)));
                said.push(("signer:key", String::from(signer.key.fingerprint.clone())));
            }
        }
        said.extend(self.claimed.then(|| ("claimed", "true".to_owned())));
        said.extend(self.linked_to.clone().map(|to| ("linked-to", to)));
        match &self.content {
            Content::Read { digest, links, .. } => {
                said.push(("digest", digest.clone()));
                let installed = self.entry.iter().map(|entry| &entry.sha256);
                let changed = installed.filter(|was| *was != digest && !was.is_empty());
                said.extend(changed.map(|was| ("installed-digest", was.clone())));
                said.extend(links.iter().map(|path| ("link", path.clone())));
            }
            Content::Unread(why) => said.push(("unread", why.clone())),
        }
        said.retain(|(_, value)| !value.is_empty());
        said
    }
}
