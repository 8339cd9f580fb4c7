//! What an update would change, to be shown to a person first.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use serde::Serialize;

use crate::marketplace::install::{PlannedSkill, Powers};
use crate::marketplace::lock::{Digest, Files};
use crate::marketplace::prelude::*;
use crate::marketplace::scan::{self, ScanFinding, Severity};
use crate::marketplace::source::Origin;
use crate::marketplace::verification::CheckedSignature;
use crate::signing::Signer;
use crate::skill::{skill_file_digest, unified_diff};

/// The difference between an installed skill and its replacement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its directory's name.
    pub name: String,
    /// The source of the new version; `None` for a proposal.
    pub provenance: Option<Rc<Origin>>,
    /// The version that its author gives the new one.
    #[serde(skip)]
    pub version: Option<String>,
    /// The current commit.
    pub from: Option<String>,
    /// The new commit.
    pub to: Option<String>,
    /// Added files.
    pub added: Vec<String>,
    /// Changed files.
    pub changed: Vec<String>,
    /// Removed files.
    pub removed: Vec<String>,
    /// Added scripts.
    pub new_scripts: Vec<String>,
    /// Tools that it newly requests or no longer denies.
    pub new_tools: Vec<String>,
    /// What it may do now, and what it could do, of which those are made.
    #[serde(skip)]
    pub powers: (Powers, Powers),
    /// What else it could do more: limits that it drops or changes, and other requests.
    pub new_powers: Vec<String>,
    /// Findings that the current version does not have.
    pub new_findings: Vec<ScanFinding>,
    /// Whether it has been changed by hand since it was installed.
    pub edited: bool,
    /// How the new commit relates to the old one; `None` for sources without commits.
    pub ancestry: Option<Ancestry>,
    /// The signature of the new version.
    pub signature: Option<CheckedSignature>,
    /// Who signed the current one.
    pub signed_before: Option<Signer>,
    /// The difference line by line, if requested.
    pub text: Option<String>,
}

impl Difference {
    /// Compares the skill in `installed`, read as `now`, with a version that has the files `new`.
    pub fn between(installed: &Path, now: &Digest, planned: &PlannedSkill, new: &Files) -> Self {
        let new_scripts = planned.scripts.iter();
        let new_scripts = new_scripts.filter(|script| !now.scripts.contains(*script));
        let old_findings = scan::scan(installed);
        let is_same = |old: &ScanFinding, new: &ScanFinding| {
            let what =
                |finding: &ScanFinding| (finding.severity, finding.code, finding.judged.clone());
            old.file == new.file && what(old) == what(new)
        };
        let known = |finding: &ScanFinding| {
            let is_unchanged = now.files.get(&finding.file) == new.get(&finding.file);
            let judges = is_unchanged || finding.judged.is_some();
            judges && old_findings.iter().any(|old| is_same(old, finding))
        };
        let old = Skill::load(installed).ok();
        let old = old.map_or_else(Powers::none, |skill| Powers::of(&skill));
        let findings = planned.findings.iter().filter(|finding| !known(finding));
        Self {
            name: planned.name.clone(),
            provenance: planned.provenance.clone(),
            version: planned.version.clone(),
            added: new.only(&now.files),
            removed: now.files.only(new),
            changed: new.changed(&now.files),
            new_scripts: new_scripts.cloned().collect(),
            new_tools: old.wider(&planned.powers, |_, entries, _| entries),
            new_powers: old.widened(&planned.powers),
            powers: (old, planned.powers.clone()),
            new_findings: findings.cloned().collect(),
            ..Self::default()
        }
    }

    /// Whether someone has to agree, because the skill could do more than before.
    pub fn needs_consent(&self) -> bool {
        let is_severe = |finding: &ScanFinding| finding.severity >= Severity::High;
        !self.new_scripts.is_empty()
            || !self.new_tools.is_empty()
            || !self.new_powers.is_empty()
            || self.new_findings.iter().any(is_severe)
    }

    /// Why the new commit is suspicious, if it does not follow the old one.
    pub fn regress(&self) -> Option<&'static str> {
        self.ancestry?.doubt()
    }
}

/// Compares the files of two directories. Of a binary file, size and digest are compared.
///
/// # Errors
/// When one cannot be read.
pub fn line_by_line(old: (&Path, &Files), new: (&Path, &Files)) -> Result<String> {
    let paths: BTreeSet<&str> = old.1.paths().chain(new.1.paths()).collect();
    let mut text = String::new();
    for path in paths {
        let (before, after) = (old.1.get(path), new.1.get(path));
        if before == after {
            continue;
        }
        let [a, b] = [(old.0, before, "a"), (new.0, after, "b")];
        let name = |(_, there, dir): (&Path, Option<&str>, &str)| match there {
            Some(_) => format!("{dir}/{path}"),
            None => "/dev/null".to_owned(),
        };
        let (old, new) = (readable(a.0, path, before)?, readable(b.0, path, after)?);
        text += &unified_diff((&name(a), &name(b)), &old, &new);
    }
    Ok(text)
}

/// A file as text, with what makes it another file than one of the same text.
fn readable(dir: &Path, path: &str, digest: Option<&str>) -> Result<String> {
    let Some(digest) = digest else {
        return Ok(String::new());
    };
    let (name, file) = (Path::new(path), dir.join(path));
    if let Ok(to) = file.read_link() {
        return Ok(format!("a link to {}\n", to.display()));
    }
    let bytes = files::read_capped(&file, limits::INSTALL_BYTES);
    let bytes = bytes.map_err(|error| Error::io("read", &file, &error))?;
    let mark = if digest.ends_with("+x") {
        "executable\n"
    } else {
        ""
    };
    if scan::is_binary(name, &bytes) {
        let digest = skill_file_digest(&bytes);
        return Ok(format!("{mark}binary, {} bytes, {digest}\n", bytes.len()));
    }
    Ok(format!("{mark}{}", String::from_utf8_lossy(&bytes)))
}
