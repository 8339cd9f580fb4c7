//! Copying an installed skill, which has regular files and directories only.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

/// Copies `from` to `to`, which is made. Links are left out: nothing of ours has any.
///
/// # Errors
/// When something cannot be read or written.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    let failed = |error| Error::io("copy", from, &error).hint("check the space on the disk");
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target).map_err(failed)?;
        }
    }
    Ok(())
}
