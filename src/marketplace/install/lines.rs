//! The difference between two versions of a skill, line by line.

use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::marketplace::fetch::{Call, Git};
use crate::marketplace::install::Staging;
use crate::marketplace::scan;
use crate::skill::skill_digest;
use crate::sys::{Dir, EntryKind, EntryName, limits};

const DIFF: EntryName = EntryName::from_static("diff");

/// Compares two directories with `git diff`. Of a binary file, size and digest are compared.
///
/// # Errors
/// When they cannot be read, or git fails.
pub fn line_by_line(staging: &Staging, old: &Path, new: &Path, git: Git) -> Result<String> {
    // The directories have short names here, because git prints the paths that it is given.
    let scratch = staging.scratch();
    let failed = |error| scratch.error("make directory", &DIFF, &error);
    let both = scratch.new_dir(&DIFF).map_err(failed)?;
    for (from, name) in [
        (old, EntryName::from_static("a")),
        (new, EntryName::from_static("b")),
    ] {
        let to = both.new_dir(&name).map_err(failed)?;
        let copied = Dir::anchor(from).and_then(|dir| copy_readable(&dir, Path::new(""), &to));
        copied.map_err(|error| Error::io("read", from, &error))?;
    }
    // What git takes for binary is text here: one NUL byte is enough for git.
    let options = "--no-index --text --no-ext-diff --no-textconv --no-color --no-prefix";
    let args = format!("diff {options} -- diff/a diff/b");
    let call = Call {
        args: &args.split(' ').collect::<Vec<_>>(),
        may_say_no: true,
        ..Call::default()
    };
    let read = git.read(&call, limits::GIT_LISTING);
    scratch.remove_ours(&DIFF).map_err(failed)?;
    let bytes = read?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Copies what can be read line by line, and a line about each other file.
fn copy_readable(from: &Dir, below: &Path, to: &Dir) -> io::Result<()> {
    for (name, kind) in from.entries()? {
        let path: PathBuf = below.join(name.as_os_str());
        match kind {
            EntryKind::Dir => copy_readable(&from.open_dir(&name)?, &path, &to.new_dir(&name)?)?,
            EntryKind::File => {
                let (file, metadata) = from.open_file(&name)?;
                let mut bytes = Vec::new();
                file.take(limits::INSTALL_BYTES).read_to_end(&mut bytes)?;
                if scan::is_binary(&path, &bytes) {
                    let digest = skill_digest(&bytes);
                    bytes = format!("binary, {} bytes, {digest}\n", bytes.len()).into();
                }
                let mode = metadata.permissions().mode() & 0o777;
                to.create(&name, mode)?.write_all(&bytes)?;
            }
            EntryKind::Link => to.link_to(&from.read_link(&name)?, &name)?,
            EntryKind::Other => {}
        }
    }
    Ok(())
}
