//! Agent Skills for chibi.

pub mod error;
pub mod marketplace;
pub mod skill;
pub mod sys;
