//! Copies the directory of a skill. Installed skills contain only regular files and directories;
//! those put there by hand may contain links, which stay links.

use std::io;
use std::os::unix::fs::PermissionsExt;

use crate::error::{Error, Result};
use crate::sys::{Dir, EntryKind};

/// Copies the files, directories and links in `from` to `to`.
///
/// # Errors
/// When something cannot be read or written.
pub fn copy_tree(from: &Dir, to: &Dir) -> Result<()> {
    copy_entries(from, to)
        .map_err(|error| Error::io("copy", from.path(), &error).hint("check the space on the disk"))
}

fn copy_entries(from: &Dir, to: &Dir) -> io::Result<()> {
    for (name, kind) in from.entries()? {
        match kind {
            EntryKind::Dir => copy_entries(&from.open_dir(&name)?, &to.new_dir(&name)?)?,
            EntryKind::File => {
                let (mut file, metadata) = from.open_file(&name)?;
                let mode = metadata.permissions().mode() & 0o777;
                io::copy(&mut file, &mut to.create(&name, mode)?)?;
            }
            EntryKind::Link => to.link_to(&from.read_link(&name)?, &name)?,
            EntryKind::Other => {}
        }
    }
    Ok(())
}
