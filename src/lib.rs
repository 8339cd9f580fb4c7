//! Agent Skills for chibi.

pub mod error;
pub mod sys;
