//! Changes to skills that a model proposes: parsing its diffs, applying them to a copy, and storing
//! them until the user decides. It never changes a skill itself. Open `proposed.rs` first.

mod files;
mod patch;
mod proposed;

pub use files::{Proposal, ProposalId, Proposals, ProposedChange};
pub use patch::{Applied, parse_diff};
pub use proposed::{ChangedFile, apply_diff, home_of, proposal_event, proposed_for};
