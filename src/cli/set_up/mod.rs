//! Setting the program up.

pub mod complete;
pub mod config;
pub mod doctor;
pub mod hosts;
