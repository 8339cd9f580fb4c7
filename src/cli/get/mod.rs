//! Getting skills: what can be installed, and changing what is installed.

pub mod cat;
pub mod import_lock;
pub mod install;
pub mod link;
pub mod list;
mod next;
pub mod outdated;
pub mod remove;
pub mod show;
pub mod sources;
pub mod sync;
pub mod update;
