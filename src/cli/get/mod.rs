//! Getting skills: what can be installed, and changing what is installed.

pub mod install;
pub mod list;
pub mod remove;
pub mod show;
pub mod sources;
pub mod sync;
pub mod update;
