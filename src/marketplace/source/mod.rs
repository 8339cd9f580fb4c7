//! Which skills a place has and which of them are meant: discovery, choosing, configured sources.
//! Open `picking.rs` first.

mod discover;
mod listing;
mod origin;
mod picking;
mod upstream;

pub use discover::{Found, Manifest, discover};
pub use listing::{Listed, Source, within_sources};
pub use origin::Origin;
pub use picking::{Choosing, choose};
pub use upstream::{Seen, ancestry, find_again, is_same_tree, moved, newer_tags, seen};
