//! The one integration binary: plays chibi, in both protocol generations, against the real
//! executable. One module per topic.

// A test that cannot go on may panic.
#![allow(clippy::unwrap_used)]
// What was skipped, and why, is told where the test runner shows it.
#![allow(clippy::print_stdout)]

mod archives;
mod audit;
mod check;
mod closed;
mod concurrency;
mod configuration;
mod corpus;
mod doctor;
mod door;
mod first_minutes;
mod hooks;
mod host;
mod hostile;
mod installing;
mod jobs;
mod layers;
mod looking;
mod market;
mod market_hostile;
mod market_http;
mod market_kills;
mod market_lock;
mod market_sources;
mod market_updates;
mod parsing;
mod permission_fuzz;
mod policy;
mod reading;
mod readme;
mod regressions;
mod repository;
mod restriction;
mod sandbox;
mod scripts;
mod scripts_basic;
mod scripts_end;
mod server;
mod shell_generator;
#[rustfmt::skip]
mod shell_grammar;
mod shell_tables;
mod terminal;
mod trust;

use host::Host;
