//! The software bill of an installation (docs/marketplace.md#a-software-bill): what is installed, in
//! which version, from where, with which digests and under which licence, as `CycloneDX`, which
//! other programs read. Pure. Open `cyclonedx.rs` first.

mod cyclonedx;
mod purl;

pub use cyclonedx::{Item, cyclonedx};
