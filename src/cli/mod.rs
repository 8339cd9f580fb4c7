//! People at a shell: arguments, tables, JSON, exit codes. The verbs call the same rooms as the
//! tool actions of the same names (law 9).

mod approve;
mod args;
mod audit;
mod check;
mod config;
mod consent;
mod history;
mod installed;
mod jobs;
mod look;
mod market;
mod options;
mod permitted;
mod proposals;
mod report;
mod run;
mod search;
mod shop;
mod stats;
mod trust;
mod visibility;

pub use run::{Caller, Failure, run};
