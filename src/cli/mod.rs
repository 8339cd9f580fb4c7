//! The door for people at a shell: arguments, tables, JSON, exit codes. Each verb has a file with
//! its arguments, its help and its `run` (a verb and its opposite share one), in folders by what it
//! is for; `args.rs` lists them. They call the same rooms as the tool actions of the same names (law
//! 9, docs/spec/README.md#laws).

#![allow(
    clippy::struct_excessive_bools,
    reason = "they are flags of a command line"
)]

mod agents;
mod args;
mod authorization;
mod caller;
mod choosing;
mod consent;
mod decisions;
mod describe;
mod describe_plan;
mod get;
mod json;
mod look;
mod lookup;
mod market;
mod options;
mod outcome;
mod policy_checks;
mod prelude;
mod report;
mod run;
mod safety;
mod screen;
mod set_up;
mod signatures;
mod table;
mod write;

pub use authorization::model_install;
pub use caller::{Answer, Failure};
pub use options::Caller;
pub use run::run;
