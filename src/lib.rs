//! Agent Skills for chibi.

pub mod catalog;
pub mod error;
pub mod handler;
pub mod host;
pub mod permission;
pub mod request;
pub mod response;
pub mod session;
pub mod skill;
pub mod script;
pub mod sys;
