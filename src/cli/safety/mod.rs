//! What people decide about skills, and checks of what is installed.

pub mod approve;
pub mod deactivate;
pub mod enable;
pub mod rollback;
pub mod scan;
pub mod trust;
pub mod verify;
