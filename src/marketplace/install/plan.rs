//! What an install would add, for a person to review before anything is put into `skills/`.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::Serialize;

use crate::marketplace::fetch::Snapshot;
use crate::marketplace::install::Powers;
use crate::marketplace::install::copy::CopyPlan;
use crate::marketplace::lock::{Digest, InstalledName, LockEntry, listed_name};
use crate::marketplace::prelude::*;
use crate::marketplace::scan::{self, ScanFinding};
use crate::marketplace::source::{Origin, SkillInTree};
use crate::marketplace::verification::{CheckedSignature, Proof, proofs};
use crate::skill::{Diagnostic, Level};

/// What an install is about to add.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    /// The canonical address, or the absolute directory.
    pub source: String,
    /// The commit; `None` for a directory.
    pub commit: Option<String>,
    /// The skills to be installed, without those already installed.
    pub skills: Vec<Rc<PlannedSkill>>,
    /// Whether they were chosen among others that the reference means as well.
    #[serde(skip)]
    pub chosen: bool,
}

impl Plan {
    /// The plan for staged skills.
    pub fn new(source: &str, commit: Option<&str>, staged: &[StagedSkill]) -> Self {
        Self {
            source: source.to_owned(),
            commit: commit.map(str::to_owned),
            skills: staged.iter().map(|staged| staged.planned.clone()).collect(),
            chosen: false,
        }
    }
}

/// One skill to be installed.
#[derive(Debug, Clone, Serialize)]
pub struct PlannedSkill {
    /// Its directory in `skills/`.
    pub name: String,
    /// Its source; `None` for a skill created here.
    pub provenance: Option<Rc<Origin>>,
    /// Its author's description, unescaped.
    pub description: Option<String>,
    /// Its directory in the source.
    pub path: String,
    /// The number of files.
    pub files: usize,
    /// Their total size in bytes.
    pub bytes: u64,
    /// The paths of the files.
    pub paths: Vec<String>,
    /// Those of them that can be run.
    pub scripts: Vec<String>,
    /// The name that its author gives it.
    #[serde(skip)]
    pub author: String,
    /// The version that its author gives it.
    #[serde(skip)]
    pub version: Option<String>,
    /// Its signature; `None` if it was not looked at.
    pub signature: Option<CheckedSignature>,
    /// What its frontmatter decides.
    #[serde(flatten)]
    pub powers: Powers,
    /// What is left out, and why, one sentence each.
    pub dropped: Vec<String>,
    /// What is unusual about it, one sentence each.
    pub warnings: Vec<String>,
    /// The scan's findings, the worst first.
    pub findings: Vec<ScanFinding>,
}

/// A complete, readable skill in a staging directory.
#[derive(Debug)]
pub struct StagedSkill {
    /// Where it is in the staging directory.
    pub path: PathBuf,
    /// Its future lockfile entry.
    pub entry: LockEntry,
    /// Its description for the plan.
    pub planned: Rc<PlannedSkill>,
    /// What may prove its signature.
    pub proofs: Vec<Proof>,
}

fn copied(snapshot: &Snapshot, found: &SkillInTree) -> Result<CopyPlan> {
    // A skill at the root is copied without the other skills; any other includes those inside it.
    let others = snapshot.found.iter().map(|other| other.path.as_str());
    let others = others.filter(|other| found.path.is_empty() && !other.is_empty());
    CopyPlan::new(&snapshot.tree, &found.path, &others.collect::<Vec<_>>())
}

/// Fetches the files of several skills in one request, before each is staged.
///
/// # Errors
/// When they cannot be fetched.
pub fn bring<'f>(snapshot: &Snapshot, chosen: impl Iterator<Item = &'f SkillInTree>) -> Result<()> {
    // A skill that cannot be copied is reported when it is staged.
    let copies = chosen.filter_map(|found| copied(snapshot, found).ok());
    let copies: Vec<CopyPlan> = copies.collect();
    let files: Vec<_> = copies.iter().flat_map(CopyPlan::files_to_read).collect();
    snapshot.content.bring(&files)
}

/// The scan's findings about a skill that is copied to `dir`.
///
/// # Errors
/// When it cannot be copied.
pub fn scan(snapshot: &Snapshot, found: &SkillInTree, dir: &Dir) -> Result<Vec<ScanFinding>> {
    let copied = copied(snapshot, found).and_then(|mut copy| copy.write(&*snapshot.content, dir));
    copied.map_err(|error| error.context(format!("skill `{}`", found.skill.name)))?;
    Ok(scan::scan(dir.path()))
}

/// Copies a skill to `dir`, reads it back and describes it. `name` is its future directory.
///
/// # Errors
/// When it cannot be copied, or the copy is not a readable skill.
pub fn stage(
    snapshot: &Snapshot,
    found: &SkillInTree,
    origin: &Rc<Origin>,
    name: &InstalledName,
    dir: &Dir,
) -> Result<StagedSkill> {
    let of_skill = |error: Error| error.context(format!("skill `{name}`"));
    let mut copy = copied(snapshot, found).map_err(of_skill)?;
    let content = &*snapshot.content;
    copy.write(content, dir).map_err(of_skill)?;
    let proofs = proofs(snapshot, origin, &found.path, dir.path()).map_err(of_skill)?;
    let (skill, digest, mut planned) = look(dir.path(), name, &found.path, copy.dropped)?;
    planned.provenance = Some(origin.clone());
    let own = &found.skill.name;
    if name.ends_with(&format!("--{own}")) {
        let here = listed_name(name);
        let told = format!("it is called `{here}` here, because another skill is called `{own}`");
        planned.warnings.insert(0, told);
    }
    let entry = LockEntry {
        tree: snapshot.tree.id(&found.path).map(str::to_owned),
        sha256: digest.sha256,
        files: digest.files,
        license: skill.fields.text("license").as_deref().map(one_line),
        ..origin.entry(name, &found.path)
    };
    if let Some(field) = entry.unreadable() {
        let text = format!("its {field} has characters that deceive a reader");
        return Err(of_skill(Error::new(text).hint("tell its author")));
    }
    Ok(StagedSkill {
        path: dir.path().to_owned(),
        entry,
        planned: Rc::new(planned),
        proofs,
    })
}

/// What to say of each other skill of this name in the source, of which only one is installed.
pub fn namesakes(snapshot: &Snapshot, found: &SkillInTree) -> impl Iterator<Item = String> {
    let others = snapshot.found.iter().filter(|other| {
        other.is_shown()
            && other.skill.name == found.skill.name
            && other.fingerprint != found.fingerprint
    });
    others.map(|other| {
        let SkillInTree { path, skill, .. } = other;
        let name = &skill.name;
        format!("`{path}` was left out, since it is called `{name}` too: `--skill {path} --name NAME` installs it")
    })
}

/// Reads the skill `name` staged in `dir` and describes it.
///
/// # Errors
/// When it is not a readable skill.
pub fn look(
    dir: &Path,
    name: &str,
    path: &str,
    dropped: Vec<String>,
) -> Result<(Skill, Digest, PlannedSkill)> {
    let refused = |why: String| {
        let text = format!("skill `{name}` cannot be installed: {why}");
        Error::new(text).hint("tell its author")
    };
    let skill = Skill::load(dir).map_err(|diagnostic| refused(diagnostic.to_string()))?;
    let digest = Digest::read(dir).map_err(|error| error.context(format!("skill `{name}`")))?;
    let warnings = skill.diagnostics.iter().filter(|d| d.level() > Level::Note);
    let mut warnings: Vec<_> = warnings.cloned().collect();
    // What is wrong with a restriction is said first.
    warnings.sort_by_key(|found| !found.is_about_restriction());
    let warnings = warnings.into_iter().map(Diagnostic::from);
    let planned = PlannedSkill {
        name: name.to_owned(),
        provenance: None,
        version: skill.fields.version(),
        description: skill.description.clone(),
        path: path.to_owned(),
        files: digest.files.paths().len(),
        bytes: digest.bytes,
        paths: digest.files.paths().map(str::to_owned).collect(),
        scripts: digest.scripts.iter().cloned().collect(),
        author: skill.authors_name(),
        signature: None,
        powers: Powers::of(&skill),
        dropped,
        warnings: warnings.map(|found| found.to_string()).collect(),
        findings: scan::scan(dir),
    };
    Ok((skill, digest, planned))
}
