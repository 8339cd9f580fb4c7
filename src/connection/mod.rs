//! Being connected to agents: our entries in their configuration, and their undo. Knows nothing of
//! skills, sessions or decisions.

mod change;
mod entry;
mod file;
mod json;
mod place;
#[cfg(test)]
mod tests;
mod toml;

pub use change::{Change, Found, Lack, last_seen, seen_file, watched};
pub use entry::{Invocation, directory, program};
pub use place::Connector;
