//! `doctor`: what is wrong here, and what to do about it. Each area is a file with a function that
//! answers its checks; a further check is a line there.

mod ask;
mod check;
mod examine;
mod host;
mod placement;
mod programs;
mod rules;
mod skills;
mod state;
mod upkeep;

pub use examine::doctor;
