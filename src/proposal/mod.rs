//! Changes to skills proposed by a model: diffs as models write them, where they apply, and
//! proposals waiting for the user. This room changes no skill and decides nothing.

mod apply;
mod patch;
mod paths;
mod proposed;
mod record;
mod store;

pub use apply::Applied;
pub use patch::{FilePatch, Patch};
pub use proposed::{ChangedFile, apply_diff, proposed_for};
pub use record::{Change, Comment, Proposal, ProposalId, digest};
pub use store::{Added, Proposals};
