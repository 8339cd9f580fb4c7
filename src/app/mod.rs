//! What the handlers and the command line share: one run's surroundings, the configuration, and
//! the glue between rooms that both need. It has no rules of its own.

mod config;
mod enforcement;
mod model_install;
mod script_reads;
mod surroundings;

pub use config::{Config, ScriptReads};
pub use enforcement::{Enforcement, OnDisk, our_tool, put_in_force, snapshot};
pub use model_install::{ModelInstall, ModelInstalls, model_install};
pub use script_reads::{advice, script_read};
pub use surroundings::{App, offered, quoted, suggestion};
