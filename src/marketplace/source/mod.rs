//! Which skills a place has and which of them are meant: discovery, choosing, configured sources.
//! Open `picking.rs` first.

mod choose;
mod discover;
mod listing;
mod manifest;
mod named;
mod origin;
mod picking;
mod sources;
mod upstream;

pub use choose::{Choosing, Miss, choose, selects};
pub use discover::{Found, discover};
pub use listing::{Age, Listed};
pub use manifest::Manifest;
pub use origin::Origin;
pub use sources::{Source, SourceKind, unknown_source, within_sources};
pub use upstream::{Seen, ancestry, find_again, is_same_tree, moved, newer_tags, seen};
