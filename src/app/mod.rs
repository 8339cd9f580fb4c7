//! What the handlers and the command line share: one run's surroundings, the configuration, and
//! the glue between rooms that both need. It has no rules of its own.

mod config;
mod enforcement;
mod surroundings;

pub use config::Config;
pub use enforcement::{Enforcement, OnDisk, snapshot};
pub use surroundings::{App, offered, suggestion};
