//! Setting the program up.

pub mod complete;
pub mod completions;
pub mod config;
pub mod doctor;
pub mod man;
