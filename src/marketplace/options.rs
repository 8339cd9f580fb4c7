//! What a person gives besides a reference, and the callbacks that ask and inform them.

use serde::Serialize;

use crate::error::Result;
use crate::marketplace::install::Plan;
use crate::marketplace::reference::As;
use crate::skill::Skill;

/// What a person gives besides a reference.
#[derive(Clone, Default)]
pub struct InstallOptions<'p> {
    /// Every skill of the source (`--all`).
    pub all: bool,
    /// The source's skills of these names (`--skill a,b`).
    pub skills: Vec<String>,
    /// The name of its directory (`--name`).
    pub name: Option<String>,
    /// How to read the reference (`--reading`).
    pub reading: Option<As>,
    /// Whether the first signer of a source is taken where a known one is required: its user is asked.
    pub takes_first_signer: bool,
    /// Asks which of several skills are meant; without it they are an error.
    pub pick: Option<Pick<'p>>,
    /// Whether this skill is missing, which a chosen one requires: it comes from the same source then,
    /// unless this says why it may not.
    pub is_missing: Option<Missing<'p>>,
}

/// Receives a skill, and says whether it is missing.
pub type Missing<'p> = &'p dyn Fn(&Skill) -> Result<bool>;
/// Receives several skills, and returns the positions of those that are meant.
pub type Pick<'p> = &'p dyn Fn(&[Candidate]) -> Result<Vec<usize>>;
/// Receives what would be installed, and decides.
pub type Confirm<'c> = dyn FnMut(&Plan) -> Result<bool> + 'c;
/// Receives progress notes on how the reference was understood.
pub type Note<'n> = dyn FnMut(&str) + 'n;

/// One of several skills that a reference means.
#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Its directory in the source.
    pub path: String,
    /// Its author's description, unescaped.
    pub description: Option<String>,
    /// The plugin to which the source's manifest assigns it.
    pub plugin: Option<String>,
    /// Whether it is installed from there.
    pub installed: bool,
    /// What `--skill` takes to mean exactly this one.
    #[serde(skip)]
    pub select: String,
}
