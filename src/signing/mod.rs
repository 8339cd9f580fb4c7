//! Who signed a skill: the forms of signatures, of files that list signers, and of the manifest that
//! is signed where there is no git; what is required of a signature, and what is known of one. It
//! runs no program and reads no file: `marketplace::verification` checks. Open `signature.rs` first.

mod manifest;
mod public_key;
mod signature;
mod signers;

pub use manifest::{MANIFEST, Manifest, SSH_SIGNATURE, digest, is_signature_file};
pub use public_key::{SshSignature, exported, openpgp_fingerprint, revocations, ssh_fingerprint};
pub use signature::{
    KeyKind, PublicKey, Requirement, Signature, SignedObject, Signer, SourceRequirement,
};
pub use signers::{AllowedSigner, with_line, without};
