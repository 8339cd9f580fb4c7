//! chibi's vocabulary: its tools, including ours, their arguments, and other clients' names for
//! them. Knows no skills, rules or files.

pub mod agent;
pub mod ours;
pub mod program;
mod protocol;

pub mod tools;

pub use agent::Agent;
pub use protocol::{Protocol, release};
