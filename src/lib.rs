//! Agent Skills for chibi.

pub mod error;
pub mod skill;
pub mod sys;
