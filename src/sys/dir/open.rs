//! Opens an entry of a directory without following a link.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::name::EntryName;

/// Flags of every open. With them, no open waits for the other end of a FIFO.
const ALWAYS: OFlags = OFlags::CLOEXEC
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);
/// For directories.
pub const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Permission bits in the type that the system uses.
#[allow(
    clippy::useless_conversion,
    reason = "their type is not the same on every system"
)]
pub fn mode_of(bits: u32) -> Mode {
    Mode::from_raw_mode((bits & 0o7777).try_into().unwrap_or_default())
}

/// Opens one name. For a path of one component, `O_NOFOLLOW` is enough on every kernel.
///
/// # Errors
/// `ELOOP` if it is a link, and any other error of opening.
pub fn open(dir: &OwnedFd, name: &EntryName, flags: OFlags, mode: u32) -> io::Result<OwnedFd> {
    let mode = mode_of(mode);
    openat(dir, name.as_os_str(), flags | ALWAYS, mode).map_err(|error| {
        // For a link opened as a directory, the error says only that it is not a directory.
        let is_link = || {
            statat(dir, name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_symlink())
        };
        match error {
            Errno::NOTDIR if is_link() => Errno::LOOP.into(),
            // BSD reports a link that was not followed in this way.
            Errno::MLINK => Errno::LOOP.into(),
            error => error.into(),
        }
    })
}
