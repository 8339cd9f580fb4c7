//! Who signed a skill: the forms of signatures, of files that list signers, and of the manifest that
//! is signed where there is no git; what is required of a signature, and what is known of one. It
//! runs no program and reads no file: `marketplace::signature` checks. Open `signature.rs` first.

mod edit;
mod manifest;
mod public_key;
mod requirement;
mod signature;
mod signers;
mod ssh;

pub use edit::{with_line, without};
pub use manifest::{MANIFEST, Manifest, SSH_SIGNATURE, digest, is_signature_file};
pub use public_key::{exported, revocations};
pub use requirement::{Demand, Requirement};
pub use signature::{Covers, Key, KeyKind, Signature, Signer};
pub use signers::{Listed, Signers};
pub use ssh::{Namespace, SshSignature, ssh_fingerprint};
