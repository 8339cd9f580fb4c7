//! Skills in OCI registries: a client over the user's curl, the forms in which registries have
//! skills, and reading them as places. Open `skill.rs` first.

mod client;
mod media;
mod publish;
mod skill;

pub use client::Client;
pub use media::{Descriptor, OciManifest, annotation, media_type};
pub use publish::{Artifact, Destination, PublishResult};
