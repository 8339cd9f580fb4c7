//! What may be decided about an update, and what came of it for each skill. Knows nothing of how
//! skills are compared and moved (`update.rs`).

use serde::Serialize;

use crate::error::{Error, Result};
use crate::marketplace::install::Difference;
use crate::marketplace::lock::{LockEntry, LockRef};
use crate::marketplace::reference::{Reading, Target};
use crate::marketplace::source::Origin;

/// Options of an update.
#[derive(Debug, Clone, Copy, Default)]
pub struct UpdateOptions<'a> {
    /// Show the difference line by line (`--diff`).
    pub diff: bool,
    /// What happens to a skill changed by hand.
    pub edited: Edited,
    /// The only state to update to (`--to`).
    pub to: Option<&'a Target>,
    /// Whether it may be signed by another than before, or no longer (`--accept-signer`).
    pub accept_signer: bool,
    /// Another branch, tag or commit than the skill follows now.
    pub switch: Option<&'a Switch>,
}

/// What happens to a skill changed by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Edited {
    /// It stays unchanged.
    #[default]
    Keep,
    /// It is replaced (`--force`).
    Replace,
    /// It is replaced, and a copy is kept in `stash/` (`--stash`).
    Stash,
}

/// Receives what would change, and decides about it.
pub type Agree<'a> = dyn FnMut(&Difference) -> Result<bool> + 'a;

/// The result for one installed skill.
#[derive(Debug, Clone, Serialize)]
pub struct Updated {
    /// Its directory's name.
    pub name: String,
    /// See [`Change`].
    pub change: Change,
    /// The version that the author states in the installed skill.
    pub version: Option<String>,
    /// Its signer, if it had none before.
    pub new_signer: Option<String>,
    /// Tags of its repository that are later than its pinned tag.
    pub newer_tags: Vec<String>,
}

/// The result of an update.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum Change {
    /// It matches its source.
    UpToDate,
    /// It would be replaced.
    Available(Box<Difference>),
    /// It was replaced.
    Updated {
        /// The old commit.
        from: Option<String>,
        /// The new commit.
        to: Option<String>,
        /// What was left out, and why, one sentence each.
        dropped: Vec<String>,
        /// Where the replaced version, changed by hand, is kept.
        stashed: Option<String>,
    },
    /// It was left unchanged because someone decided so, or because it had to be.
    Kept {
        /// What stops it, if a program may want to know: `signer-changed` or `signature-missing`.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<&'static str>,
        /// The reason, as an error message.
        reason: String,
        /// The next step.
        hint: Option<String>,
    },
    /// It could not be updated and is unchanged.
    Failed {
        /// The reason, as an error message.
        reason: String,
        /// The next step.
        hint: Option<String>,
    },
}

impl Change {
    pub(super) fn failed(error: &Error) -> Self {
        Self::Failed {
            reason: error.to_string(),
            hint: error.next_step().map(str::to_owned),
        }
    }

    /// With a code, if a program may want to know.
    pub(super) fn kept(code: Option<&'static str>, why: &Error) -> Self {
        Self::Kept {
            code,
            reason: why.to_string(),
            hint: why.next_step().map(str::to_owned),
        }
    }

    /// Its source has changed, and its user changed it too.
    pub(super) fn edited(name: &str) -> Self {
        let text =
            format!("`{name}` was changed after it was installed, and its source has changed, too");
        Self::kept(None, &Error::new(text).hint(
            "`--stash` keeps a copy of your changes aside and updates, `--force` updates over them",
        ))
    }
}

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
