//! Getting skills: what can be installed, and changing what is installed.

pub mod install;
pub mod list;
mod next;
pub mod remove;
pub mod show;
pub mod sources;
pub mod sync;
pub mod update;
