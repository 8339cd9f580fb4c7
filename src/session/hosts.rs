//! The hosts of a named session: its name does not say which processes they are, so its calls record
//! what they come from.

use serde::{Deserialize, Serialize};

use super::key::{has_expired, now};
use crate::sys::process::ProcessId;

/// The hosts of a named session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hosts(Vec<Line>);

/// The processes above a call, nearest first. A wrapper ends with its call, so the nearest that
/// still runs counts as the host, and the first that is also above a later call is it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    /// The realm in which the process ids are valid.
    realm: String,
    /// Seconds since 1970 when it was recorded.
    noted: u64,
    above: Vec<ProcessId>,
}

impl Line {
    fn host(&self) -> Option<ProcessId> {
        self.above
            .iter()
            .copied()
            .find(|process| process.is_alive())
    }

    /// Whether it may still matter. Processes of another realm cannot be checked, and of a single
    /// call the nearest that is left may be any, in the end `init`: then its age decides.
    fn lasts(&self, realm: &str) -> bool {
        let is_certain = self.above.len() == 1;
        let may_matter = self.realm != realm || self.host().is_some();
        let is_checked = self.realm == realm && is_certain;
        may_matter && (is_checked || !has_expired(self.noted))
    }
}

impl Hosts {
    /// Records a call below these processes.
    pub(super) fn note(&mut self, realm: &str, above: &[ProcessId]) {
        self.forget_ended(realm);
        let mut is_known = false;
        for line in &mut self.0 {
            let host = line.host().filter(|_| line.realm == realm);
            if let Some(host) = host.filter(|host| above.contains(host)) {
                line.above = vec![host];
                is_known = true;
            }
        }
        self.0.dedup_by(|a, b| a.above == b.above);
        if !is_known {
            self.0.push(Line {
                realm: realm.to_owned(),
                noted: now(),
                above: above.to_owned(),
            });
        }
    }

    /// Whether the host of a call below these processes, nearest first, is certain. Looks no further
    /// than to that one.
    pub(super) fn knows(&self, realm: &str, mut above: impl Iterator<Item = ProcessId>) -> bool {
        let of_here = self.0.iter().filter(|line| line.realm == realm);
        let certain: Vec<ProcessId> = of_here
            .filter_map(|line| match line.above[..] {
                [host] => Some(host),
                _ => None,
            })
            .collect();
        !certain.is_empty() && above.any(|process| certain.contains(&process))
    }

    /// Those of this realm that run.
    pub(super) fn of_here<'a>(&'a self, realm: &'a str) -> impl Iterator<Item = ProcessId> + 'a {
        let lines = self.0.iter();
        let lines = lines.filter(move |line| line.realm == realm && line.lasts(realm));
        lines.filter_map(Line::host)
    }

    /// Forgets those that have ended; returns whether any is left.
    pub(super) fn forget_ended(&mut self, realm: &str) -> bool {
        self.0.retain(|line| line.lasts(realm));
        !self.0.is_empty()
    }
}

#[cfg(test)]
mod tests;
