//! Copying a skill that is there. What was installed has regular files and directories only; what
//! somebody put there by hand may have links, which stay links.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::error::{Error, Result};

/// Copies `from` to `to`, which is made. What is neither file, directory nor link is left out.
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
        } else if kind.is_symlink() {
            let to = fs::read_link(entry.path()).map_err(failed)?;
            symlink(to, target).map_err(failed)?;
        }
    }
    Ok(())
}
