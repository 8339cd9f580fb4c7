//! Signatures of skills: collecting what proves one when a skill is fetched (`collect`), keeping it
//! (`store`), and checking it with the user's own git, ssh-keygen and gpg (`check`), at once
//! and at any later time, without the network. What is signed and required is in
//! `crate::signing`. Open `check.rs` first.

mod check;
mod collect;
mod commit;
mod detached;
mod evidence;
mod key_files;
mod keys;
mod known;
mod objects;
mod openpgp;
mod programs;
mod public;
mod rules;
mod sign;
mod ssh;
mod store;

pub use check::{Checker, Subject};
pub use collect::{bring, collect, is_signed};
pub use evidence::{Evidence, EvidenceId, Evidences, GitKind, GitObject, ManifestEvidence};
pub use known::{KnownSigner, KnownSigners};
pub use programs::{Programs, SIGNED};
pub use rules::{Checked, Of, Signing};
pub use sign::Signed;
pub use store::{has, keep, kept, tidy};
