//! People at a shell: arguments, tables, JSON, exit codes. The verbs call the same rooms as the
//! tool actions of the same names (law 9).

mod approve;
mod args;
mod audit;
mod available;
mod check;
mod complete;
mod config;
mod consent;
mod doctor;
mod info;
mod installed;
mod jobs;
mod json;
mod look;
mod man;
mod market;
mod named;
mod options;
mod permitted;
mod report;
mod run;
mod screen;
mod shop;
mod stats;
mod table;
mod tree;
mod trust;
mod visibility;
mod welcome;
mod wrap;

pub use run::{Caller, Failure, run};
