//! Another branch, tag or commit of an installed skill's source than the one it follows. An update
//! leads there.

use crate::error::Result;
use crate::marketplace::lock::{LockEntry, LockRef};
use crate::marketplace::reference::Reading;
use crate::marketplace::source::Origin;

/// The state of a skill that was asked for, while it is installed at another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// The reference that asked for it.
    pub requested: String,
    /// The branch, tag or commit that it is to follow.
    pub to: LockRef,
    /// The one that it follows now; `None` for the default branch.
    pub from: Option<LockRef>,
}

impl Switch {
    /// The switch that leads from an entry to what was found; `None` if it is at that state, or no
    /// state was asked for.
    pub fn to(wanted: &Origin, entry: &LockEntry) -> Option<Self> {
        let to = wanted.rev.as_ref()?;
        let differs = entry.rev.as_ref() != Some(to) && entry.commit != wanted.commit;
        differs.then(|| Self {
            requested: wanted.requested.clone(),
            to: to.clone(),
            from: entry.rev.clone(),
        })
    }

    /// How to find the skill of an entry in the other state.
    ///
    /// # Errors
    /// When the entry has an invalid address or path.
    pub fn reading(&self, entry: &LockEntry) -> Result<Reading> {
        Reading::recorded(entry.kind, &entry.source, Some(&self.to), &entry.path)
    }
}
