//! What a model proposes to change in skills: diffs as models write them, where they apply, and the
//! proposals that wait for the user. It changes no skill and decides nothing.

mod apply;
mod patch;
mod paths;
mod record;
mod store;

pub use apply::Applied;
pub use patch::{FilePatch, Patch};
pub use record::{Change, Comment, Proposal, ProposalId, digest};
pub use store::{Added, Proposals};
