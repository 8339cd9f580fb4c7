//! Skills in OCI registries: a client over the user's curl, the forms in which registries have
//! skills, and reading them as places. Open `open.rs` first.

mod artifact;
mod client;
mod collection;
mod credentials;
mod lists;
mod media;
mod open;
mod publish;
mod store;
mod token;

pub use client::Client;
pub use collection::{Member, Members};
pub use media::{Descriptor, Manifest, annotation, media_type};
pub use publish::{Artifact, Destination, Published};
