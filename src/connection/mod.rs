//! Being connected to agents: our entries in their configuration, and their undo. Knows nothing of
//! skills, sessions or decisions.

mod change;
mod config_file;
mod entry;
mod json;
#[cfg(test)]
mod tests;
mod toml;

pub use change::{
    ConnectionChange, ConnectionFault, ConnectionState, last_seen, seen_file, watched,
};
pub use config_file::Connections;
pub use entry::{Invocation, program};
