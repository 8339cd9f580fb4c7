//! Getting skills: what a reference means (`reference`), reading places (`fetch`), finding and
//! choosing skills there (`source`), scanning them (`scan`), staged and atomic changes (`install`),
//! what is installed (`lock`), and that as others read it (`bill`). It does not know hosts, sessions or terminals: it returns data
//! and passes notes to a callback. Open `market.rs` first.

mod bill;
mod fetch;
mod install;
mod lock;
mod market;
mod reference;
mod registry;
mod scan;
mod signature;
mod source;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use bill::{Item, cyclonedx};
pub use fetch::{Class, Commit, Failure, Permit, Tool};
pub use install::{AgreeToAll, SyncAction, SyncList, SyncPlan, Synced};
pub use install::{
    Change, Difference, Edited, Installed, Plan, Planned, Powers, Present, SKILLS, Status, ToolKey,
};
pub use install::{Removed, UpdateOptions, Updated, VersionSwitch, check_same_skill};
pub use lock::{Digest, EarlierVersion, History, InstalledName, LockEntry, State, Tag, Verified};
pub use lock::{is_foreign, listed_name, named_by_directory, offered_name};
pub use market::{Candidate, Confirm, InstallOptions, Market, Note, Pick};
pub use reference::{Ancestry, As, Kind, Reach, Target};
pub use registry::{Artifact, Destination, Published};
pub use scan::{Finding, RULES, Rule, Severity, scan as scan_directory};
pub use signature::{Checked, KnownSigner, KnownSigners, Signed, Signing};
pub use source::{Listed, Origin, Source, within_sources};
