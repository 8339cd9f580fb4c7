//! Checks the signature of a text that is no skill, such as a policy.

use crate::error::Result;
use crate::marketplace::fetch::Tool;
use crate::marketplace::signature::key_files::KeyFiles;
use crate::marketplace::signature::keys::Keys;
use crate::marketplace::signature::programs::Programs;
use crate::marketplace::signature::rules::names;
use crate::marketplace::signature::ssh;
use crate::signing::{Covers, Demand, Namespace};

/// Why the armored signature of a policy does not meet a demand; `None` if it does.
///
/// # Errors
/// When the signers cannot be read, or `ssh-keygen` does not answer.
pub fn unmet_by_policy(
    tool: Tool,
    signed: &[u8],
    armored: &str,
    demand: &Demand,
) -> Result<Option<String>> {
    let keys = Keys::read(demand.signers.as_deref(), demand.revoked.as_deref())?;
    let programs = Programs(tool);
    let files = KeyFiles::write(&programs, &keys)?;
    let purpose = (Namespace::Policy, Covers::Manifest);
    let signature = ssh::check(&programs, &files, armored, signed, purpose)?;
    Ok(demand.unmet(&signature, &names(&keys, &signature), false))
}
