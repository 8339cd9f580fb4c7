//! The lockfile: what is installed and from where, and comparisons with that. Open `lockfile.rs`
//! first.

mod digest;
mod history;
mod import;
mod installed_name;
mod lockfile;
pub mod previous;
mod verify;

pub use digest::{Digest, Files};
pub use history::{EarlierVersion, History, Tag};
pub use import::is_foreign;
pub use installed_name::{InstalledName, listed_name, named_by_directory, offered_name};
pub use lockfile::{LockEntry, Lockfile, write_json};
pub use previous::KeptVersion;
pub use verify::{InstallState, VerifiedSkill};
