//! Signatures of skills: what comes with one that is fetched and may prove who signed it (`proof`),
//! and whether it does, by the user's own git, ssh-keygen and gpg (`git`, `ssh`). What was proven when
//! a skill was installed is pinned in the user's lockfile, and from then on compared with the keys
//! that count (`key_set`). What is signed and required is in `crate::signing`. Open `check.rs` first.

mod check;
mod git;
mod key_set;
mod known;
mod proof;
mod sign;
mod ssh;

pub use check::{
    CheckedSignature, KeySetCache, SignatureChecker, SignatureSubject, is_signed, proofs,
};
pub use known::{KnownSigner, KnownSigners};
pub use proof::{ManifestProof, ManifestProofs, Proof};
pub use sign::SignedManifest;
