//! Being connected to agents: our entries in their configuration, and their undo. Knows nothing of
//! skills, sessions or decisions.

mod change;
mod entry;
mod file;
mod json;
mod merge;
mod place;
mod plugin;
mod state;
#[cfg(test)]
mod tests;
mod toml;

pub use change::{Change, Connector};
pub use entry::{Invocation, program};
pub use file::Run;
pub use place::{Place, Places};
pub use plugin::directory;
pub use state::{Found, Lack, found, last_seen, seen_file, watched};
