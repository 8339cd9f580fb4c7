//! Getting skills: what a reference means, git and local directories as trees of files, the skills
//! in them, installs that are staged and swapped in whole, the lockfile, updates and removal. It
//! knows skills, but no host, session or terminal: it returns data and sends notes to a callback.

mod address;
mod choose;
mod content;
mod copy;
mod digest;
mod discover;
mod fetch;
mod forms;
mod git;
mod git_failure;
mod install;
mod local;
mod lockfile;
mod market;
mod plan;
mod reference;
mod refs;
mod remove;
mod repository;
mod source;
mod staging;
mod swap;
mod tree;
mod update;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use address::{RepoUrl, Rev, SubPath};
pub use choose::Want;
pub use digest::Digest;
pub use install::{InstallOptions, Installed, Status};
pub use lockfile::{Kind, LockEntry};
pub use market::Market;
pub use plan::{Plan, Planned};
pub use reference::{At, Reading, Reference};
pub use remove::Removed;
pub use source::{Listed, within_sources};
pub use update::{Change, Updated};
