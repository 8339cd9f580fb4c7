//! Agent Skills for chibi.

pub mod catalog;
pub mod error;
pub mod request;
pub mod session;
pub mod skill;
pub mod sys;
