//! The one integration binary: plays chibi, in both protocol generations, against the real
//! executable. One module per topic.

mod concurrency;
mod corpus;
mod door;
mod hooks;
mod host;
mod hostile;
mod parsing;
mod reading;
mod regressions;
mod scripts_basic;
mod scripts_end;

use host::Host;
