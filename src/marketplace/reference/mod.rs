//! What a person types to name a skill: its forms, and the validated parts of a reference. Open
//! `parse.rs` first.

mod address;
mod oci;
pub mod parse;
mod pin;

pub use address::{RefName, RepoUrl, SubPath, WebUrl, is_authority, is_loopback};
pub use oci::{OciDigest, OciReference, OciRepo};
pub use parse::{
    Reading, Reference, ReferenceForm, RepositoryPart, Revision, SourceKind, SourceLocation,
    is_local,
};
pub use pin::{Ancestry, CommitId, CommitPrefix, Pin, Reachability};
