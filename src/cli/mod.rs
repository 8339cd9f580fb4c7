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
mod caller;
mod choosing;
mod consent;
mod decisions;
mod describe;
mod describe_plan;
mod get;
mod json;
mod look;
mod market;
mod named;
mod options;
mod outcome;
mod permitted;
mod person;
mod prelude;
mod report;
mod run;
mod safety;
mod screen;
mod set_up;
mod signed;
mod table;
mod write;

pub use caller::{Answer, Failure};
pub use options::Caller;
pub use person::model_install;
pub use run::run;
