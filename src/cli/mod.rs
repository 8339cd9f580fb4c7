//! People at a shell: arguments, tables, JSON, exit codes. The verbs call the same rooms as the
//! tool actions of the same names (law 9).

mod args;
mod check;
mod consent;
mod installed;
mod jobs;
mod look;
mod market;
mod report;
mod run;
mod shop;

pub use run::{Caller, Failure, run};
