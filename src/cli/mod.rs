//! The door for people at a shell: arguments, tables, JSON, exit codes. Each verb has a file with
//! its arguments, its help and its `run` (a verb and its opposite share one), in folders by what it
//! is for; `args.rs` lists them. They call the same rooms as the tool actions of the same names (law
//! 9, docs/spec/README.md#laws).

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
mod report;
mod run;
mod safety;
mod screen;
mod set_up;
mod signed;
mod table;
mod write;

use caller::pasted;
use consent::Consenting;
use describe::ToolNames;
use market::{note, watched};
use options::Call;
use options::{Common, Findings, Scope};
use outcome::{Outcomes, look_at};
use table::{Cell, Column, Table};

pub use caller::{Answer, Caller, Failure};
pub use person::model_install;
pub use run::run;
pub(crate) use screen::{Paint, Screen};
