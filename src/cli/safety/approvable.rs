//! What an approval is about: an installed skill as it is now. And who may record one.

use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::policy::{Ledger, approval_digest};
use crate::skill::Skill;

/// The skill, and the digest of all its files.
pub fn read(entry: &Entry) -> Result<(Skill, String)> {
    if entry.is_concealed() {
        let (name, holder) = (entry.name(), entry.holder().display());
        let text = format!("`{name}` comes with a project that is not trusted");
        return Err(Error::new(text).hint(format!(
            "look at it, then run `agent-skills trust {holder}` first"
        )));
    }
    let skill = Skill::load(&entry.dir)
        .map_err(|diagnostic| Error::new(diagnostic.to_string()).hint("repair it first"))?;
    let digest = approval_digest(&skill);
    let digest = digest.map_err(|source| Error::io("read", &entry.dir, &source))?;
    Ok((skill, digest))
}

/// Says whose record it is, where it cannot be written.
pub fn to_owner(facts: &Facts, error: Error) -> Error {
    let approved = Ledger::approvals(facts.enterprise(), facts.state());
    let file = approved.file().display();
    error.or_hint(format!("`{file}` has to be writable: run it as its owner"))
}
