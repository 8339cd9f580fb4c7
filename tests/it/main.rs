//! The one integration binary: plays chibi, in both protocol generations, against the real
//! executable. One module per topic.

mod door;
mod hooks;
mod host;
mod scripts;

use host::Host;
