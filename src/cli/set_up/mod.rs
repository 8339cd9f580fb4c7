//! Setting the program up.

pub mod complete;
pub mod completions;
pub mod config;
mod config_edit;
pub mod config_keys;
pub mod doctor;
pub mod hosts;
pub mod man;
