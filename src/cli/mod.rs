//! People at a shell: arguments, tables, JSON, exit codes. The verbs call the same rooms as the
//! tool actions of the same names (law 9).

mod approve;
mod args;
mod audit;
mod author_args;
mod check;
mod config;
mod consent;
mod findings;
mod history;
mod installed;
mod jobs;
mod look;
mod market;
mod new;
mod options;
mod pack;
mod permitted;
mod person;
mod proposals;
mod report;
mod run;
mod search;
mod shop;
mod simulate;
mod stats;
mod trust;
mod try_skill;
mod validate;
mod visibility;

pub use run::{Caller, Failure, run};
