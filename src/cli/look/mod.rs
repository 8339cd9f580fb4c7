//! Looking at installed skills, and at what they and their scripts did.

pub mod audit;
pub mod check;
pub mod info;
pub mod jobs;
pub mod list_installed;
pub mod suggest;
pub mod summary;
