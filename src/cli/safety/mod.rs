//! What people decide about skills, and checks of what is installed.

mod abilities;
pub mod approve;
pub mod confine;
pub mod deactivate;
pub mod enable;
pub mod keys;
pub mod policy;
pub mod rollback;
pub mod scan;
pub mod trust;
pub mod verify;
