//! Changes to skills that a model proposes: parsing its diffs, applying them to a copy, and storing
//! them until the user decides. It never changes a skill itself. Open `proposed.rs` first.

mod apply;
mod patch;
mod paths;
mod proposed;
mod record;
mod store;

pub use apply::Applied;
pub use patch::parse_diff;
pub use proposed::{ChangedFile, apply_diff, proposed_for};
pub use record::{Change, Comment, Proposal, ProposalId, digest};
pub use store::{Added, Proposals};
