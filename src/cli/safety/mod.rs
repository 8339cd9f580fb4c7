//! What people decide about skills, and checks of what is installed.

mod abilities;
pub mod approve;
pub mod confine;
pub mod deactivate;
pub mod enable;
pub mod keys;
mod keys_listed;
pub mod policy;
pub mod rollback;
pub mod scan;
pub mod trust;
pub mod verify;
