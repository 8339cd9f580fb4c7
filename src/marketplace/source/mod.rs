//! Which skills a place has and which of them are meant: discovery, choosing, configured sources.
//! Open `picking.rs` first.

pub mod choose;
pub mod discover;
pub mod listing;
pub mod manifest;
pub mod named;
pub mod origin;
pub mod picking;
pub mod sources;
pub mod upstream;
