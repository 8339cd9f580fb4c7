//! Which links of this user were made, so that one that is missing can be told from one that was
//! never wanted. Those of a project are part of the project.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::sys::{Durable, EntryName, files, limits};

const FILE: EntryName = EntryName::from_static("links.json");

/// A link that was made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Made {
    /// Its path.
    pub link: PathBuf,
    /// The directory of its skill.
    pub skill: PathBuf,
    /// Whether it was made when an agent was connected, and goes with the connection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_connection: bool,
}

/// The links that were made; an unreadable record counts as empty, since it decides nothing but what
/// `doctor` looks for.
pub fn read(home: &Path) -> Vec<Made> {
    let file = home.join(FILE.as_os_str());
    let bytes = files::read_capped(&file, limits::LINKS_FILE).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Changes the record.
///
/// # Errors
/// When it cannot be written.
pub fn change(home: &Path, change: impl FnOnce(&mut Vec<Made>)) -> Result<()> {
    let before = read(home);
    let mut made = before.clone();
    change(&mut made);
    made.sort();
    made.dedup();
    if made == before {
        return Ok(());
    }
    let json = serde_json::to_vec_pretty(&made);
    let json = json.map_err(|error| Error::caused("links.json cannot be written", error))?;
    files::replace(&home.join(FILE.as_os_str()), &json, 0o600, Durable::No)
}
