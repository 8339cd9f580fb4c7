//! How the commits of a repository relate to each other and to its branches and tags. Only commits
//! are fetched, only as deep as needed, and up to a limit, beyond which the answer is unknown.

use crate::marketplace::fetch::{Class, Failure, Git, Past, Remote};
use crate::marketplace::reference::{Ancestry, CommitId, Pin, Reach};

/// Depths to fetch, one after the other. The first is enough for most queries.
pub const DEPTHS: [usize; 2] = [200, 20_000];
/// Fetches commits without their trees and files.
const COMMITS: &str = "--filter=tree:0";

/// Whether a branch or tag of a repository leads to `commit`.
pub fn reach(depths: &[usize], git: &Git, remote: &Remote, commit: &CommitId) -> Reach {
    let found = || {
        let past = Past::new(git, remote, commit)?;
        for depth in depths {
            // In a separate repository nothing else can lead to the commit.
            let all = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
            past.fetch(*depth, COMMITS, &all)?;
            if let Some(pin) = past.leading_to(commit)?.and_then(|name| Pin::parse(&name)) {
                return Ok(Reach::from_pin(&pin));
            }
            if !past.is_cut() {
                return Ok(Reach::None);
            }
        }
        Ok::<_, Failure>(Reach::Unknown)
    };
    found().unwrap_or(Reach::Unknown)
}

/// How `new` relates to the installed commit `old`.
pub fn ancestry(
    depths: &[usize],
    git: &Git,
    remote: &Remote,
    old: &CommitId,
    new: &CommitId,
) -> Ancestry {
    if old == new {
        return Ancestry::Same;
    }
    let found = || {
        let past = Past::new(git, remote, new)?;
        for depth in depths {
            past.fetch(*depth, COMMITS, &[new.as_str()])?;
            if past.leads(new, old)? {
                return Ok(Ancestry::Forward);
            }
            let new_is_cut = past.is_cut();
            match past.fetch(*depth, COMMITS, &[old.as_str()]) {
                Ok(()) if past.leads(old, new)? => return Ok(Ancestry::Backward),
                Ok(()) if !past.is_cut() => return Ok(Ancestry::Unrelated),
                Ok(()) => {}
                // The source no longer has the installed commit, and it is not in the whole history
                // of the new one.
                Err(failure) if failure.class == Class::NoSuchRef && !new_is_cut => {
                    return Ok(Ancestry::Unrelated);
                }
                Err(failure) if failure.class == Class::NoSuchRef => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(Ancestry::Unknown)
    };
    found().unwrap_or(Ancestry::Unknown)
}

#[cfg(test)]
mod tests;
