//! What a person types to name a skill: its forms, and the validated parts of a reference. Open
//! `parse.rs` first.

mod address;
mod oci;
pub mod parse;
mod pin;

pub use address::{RepoUrl, Rev, SubPath, WebUrl, is_authority, is_loopback};
pub use oci::{OciAt, OciDigest, OciRepo};
pub use parse::{As, At, Kind, Place, Reading, Reference, Want, is_local};
pub use pin::{Ancestry, CommitId, Pin, Reach, Target};
