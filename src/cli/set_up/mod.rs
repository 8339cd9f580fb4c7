//! Setting the program up.

pub mod complete;
pub mod config;
pub mod config_keys;
pub mod doctor;
pub mod hosts;
pub mod man;
