//! The software bill of an installation (docs/marketplace.md#a-software-bill): what is installed, in
//! which version, from where, with which digests and under which licence, as `CycloneDX`, which
//! other programs read. Pure but for reading the skills' files. Open `item.rs` first.

mod cyclonedx;
mod item;
mod purl;

pub use item::{Bill, Content, File, Item};
