//! What is installed and from where: the lockfile, and comparisons with it. Open `lockfile.rs` first.

pub mod digest;
pub mod history;
pub mod import;
pub mod installed_name;
pub mod lock_fields;
pub mod lockfile;
pub mod previous;
pub mod verify;
