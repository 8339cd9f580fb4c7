//! The interface for people at a shell: arguments, tables, JSON, exit codes. The verbs call the
//! same rooms as the tool actions of the same names (law 9, docs/spec/README.md#laws).

mod approve;
mod args;
mod audit;
mod author_args;
mod available;
mod check;
mod complete;
mod config;
mod consent;
mod decisions;
mod doctor;
mod findings;
mod history;
mod info;
mod installed;
mod jobs;
mod json;
mod look;
mod man;
mod market;
mod model_install;
mod named;
mod new;
mod options;
mod pack;
mod permitted;
mod person;
mod proposals;
mod report;
mod run;
mod screen;
mod search;
mod shop;
mod simulate;
mod stats;
mod table;
mod tree;
mod trust;
mod try_skill;
mod validate;
mod visibility;
mod welcome;
mod wrap;

pub use model_install::model_install;
pub use run::{Caller, Failure, run};
