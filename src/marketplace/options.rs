//! What a person gives besides a reference, and the callbacks that ask and inform them.

use crate::error::Result;
use crate::marketplace::install::Plan;
use crate::marketplace::reference::As;

/// What a person gives besides a reference.
#[derive(Debug, Clone, Default)]
pub struct InstallOptions {
    /// Every skill of the source (`--all`).
    pub all: bool,
    /// The source's skills of these names (`--skill a,b`).
    pub skills: Vec<String>,
    /// The name of its directory (`--name`).
    pub name: Option<String>,
    /// How to read the reference (`--reading`).
    pub reading: Option<As>,
}

/// Receives what would be installed, and decides.
pub type Confirm<'c> = dyn FnMut(&Plan) -> Result<bool> + 'c;
/// Receives progress notes on how the reference was understood.
pub type Note<'n> = dyn FnMut(&str) + 'n;
