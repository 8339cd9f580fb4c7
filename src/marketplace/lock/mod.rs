//! The lockfile: what is installed and from where, and comparisons with that. Open `lockfile.rs`
//! first.

pub mod digest;
pub mod history;
pub mod import;
pub mod installed_name;
pub mod lock_fields;
pub mod lockfile;
pub mod previous;
pub mod verify;
