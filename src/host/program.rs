//! What the host's executable is called.

use std::ffi::OsStr;

/// The host's program.
pub const PROGRAM: &str = "chibi";

/// Whether an executable of this name may be the host: other builds have a suffix (`chibi-0.10`),
/// and the kernel adds ` (deleted)` to the name of one that was replaced.
pub fn may_be_host(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(PROGRAM.as_bytes())
}
