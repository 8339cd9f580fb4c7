//! What a person types to name a skill: its forms, and the validated parts of a reference. Open
//! `parse.rs` first.

mod address;
pub mod forms;
mod oci;
mod parse;
mod pin;
mod reading;
mod target;
mod web;

pub use address::{RepoUrl, Rev, SubPath, is_authority, is_loopback};
pub use oci::{OciAt, OciDigest, OciRepo};
pub use parse::{As, Reference, is_local};
pub use pin::{Ancestry, CommitId, Pin, Reach};
pub use reading::{At, Kind, Place, Reading, Want};
pub use target::Target;
pub use web::WebUrl;
