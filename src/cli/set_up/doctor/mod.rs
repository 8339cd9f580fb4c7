//! `doctor`: reports problems and their remedies. Each area is a file with a function that returns
//! its checks; to add a check, add a line there.

mod agents;
pub mod ask;
pub mod check;
mod examine;
mod host;
mod links;
pub mod placement;
mod programs;
mod rules;
mod skills;
mod state;

pub use examine::Doctor;
