//! Agent Skills for chibi.

pub mod error;
pub mod host;
pub mod permission;
pub mod sys;
