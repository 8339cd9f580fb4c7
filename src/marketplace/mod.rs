//! Getting skills: references; repositories, archives, sites and directories as trees of files; the
//! skills in them; staged, atomic installs; the lockfile, updates, removal; the scan. This room
//! knows skills, but no host, session or terminal: it returns data and sends notes to a callback.

mod address;
mod archive;
mod asking;
mod cache;
mod choose;
mod content;
mod copy;
mod difference;
mod digest;
mod discover;
mod download;
mod failure;
mod fetch;
mod forms;
mod git;
mod history;
mod import;
mod improve;
mod install;
mod installed_name;
mod lineage;
mod link;
mod listing;
mod local;
mod lock_fields;
mod lockfile;
mod look;
mod manifest;
mod market;
mod memory;
mod named;
mod origin;
mod past;
mod picking;
mod pin;
mod plan;
mod previous;
mod reference;
mod refs;
mod remote;
mod remove;
mod repository;
mod restore;
mod rollback;
mod scan;
mod sources;
mod staging;
mod swap;
mod tool;
mod tree;
mod tree_copy;
mod update;
mod upstream;
mod verify;
mod version;
mod web;
mod well_known;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use difference::Difference;
pub use history::{Earlier, History, Tag};
pub use import::Imported;
pub use improve::check_kept;
pub use install::{Confirm, InstallOptions, Installed, Status};
pub use installed_name::InstalledName;
pub use listing::Listed;
pub use lockfile::{Kind, LockEntry};
pub use market::Market;
pub use past::Commit;
pub use pin::{Ancestry, Reach};
pub use plan::{Plan, Planned, Provenance};
pub use reference::As;
pub use remove::Removed;
pub use scan::{Finding, Severity, scan as scan_directory};
pub use sources::{Source, within_sources};
pub use swap::SKILLS;
pub use update::{Change, Edited, UpdateOptions, Updated};
pub use verify::{State, Verified};
