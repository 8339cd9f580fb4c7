//! Agent Skills for chibi.

pub mod error;
pub mod script;
pub mod sys;
