//! The one integration binary: plays chibi, in both protocol generations, against the real
//! executable. One module per topic.

// A test that cannot go on may panic.
#![allow(clippy::unwrap_used)]
// What was skipped, and why, is told where the test runner shows it.
#![allow(clippy::print_stdout)]

mod audit;
mod configuration;
mod door;
mod hooks;
mod host;
mod layers;
mod market;
mod policy;
mod repository;
mod restriction;
mod trust;

use host::Host;
