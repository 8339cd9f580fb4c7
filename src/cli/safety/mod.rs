//! What people decide about skills, and checks of what is installed.

mod abilities;
mod approvable;
pub mod approve;
mod approved;
pub mod confine;
pub mod deactivate;
pub mod enable;
pub mod keys;
mod keys_changed;
mod keys_line;
mod keys_listed;
pub mod policy;
mod policy_explained;
pub mod rollback;
pub mod scan;
pub mod trust;
mod trusted;
pub mod verify;
