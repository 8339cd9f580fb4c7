//! People at a shell: arguments, tables, JSON, exit codes. The verbs call the same rooms as the
//! tool actions of the same names (law 9).

mod approve;
mod args;
mod audit;
mod check;
mod config;
mod installed;
mod market;
mod report;
mod run;
mod stats;
mod trust;
mod visibility;

pub use run::{Caller, Failure, run};
