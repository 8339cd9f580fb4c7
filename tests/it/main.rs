//! The one integration binary: plays chibi, in both protocol generations, against the real
//! executable. One module per topic.

// A test that cannot go on may panic.
#![allow(clippy::unwrap_used)]
// What was skipped, and why, is told where the test runner shows it.
#![allow(clippy::print_stdout)]

mod archives;
mod door;
mod hooks;
mod host;
mod market;
mod market_hostile;
mod market_http;
mod market_kills;
mod market_lock;
mod market_sources;
mod market_updates;
mod repository;
mod server;

use host::Host;
