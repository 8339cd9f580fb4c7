//! Which skills a place has and which of them are meant: discovery, choosing, configured sources.
//! Open `picking.rs` first.

mod discover;
mod listing;
mod origin;
mod picking;
mod upstream;

pub use discover::{MarketplaceManifest, SkillInTree, discover};
pub use listing::{ListedSkill, Source, within_sources};
pub use origin::Origin;
pub use picking::{SkillChoice, choose};
pub use upstream::{
    UpstreamState, ancestry, find_again, is_same_tree, moved, newer_tags, upstream_state,
};
