//! Getting skills: what a reference means (`reference`), reading places (`fetch`), finding and
//! choosing skills there (`source`), scanning them (`scan`), staged and atomic changes (`install`),
//! what is installed (`lock`), and that as others read it (`bill`). It does not know hosts, sessions or terminals: it returns data
//! and passes notes to a callback. Open `market.rs` first.

mod bill;
mod fetch;
mod install;
mod lock;
mod market;
mod prelude;
mod reference;
mod registry;
mod scan;
mod source;
mod verification;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use bill::{Item, cyclonedx};
pub use fetch::{Commit, FailureKind, FetchFailure, Permit, Programs};
pub use install::{AgreeToAll, SyncAction, SyncList, SyncPlan, SyncedSkill};
pub use install::{
    Difference, InstallStatus, InstalledSkill, LocalEdits, Plan, PlannedSkill, Powers, SKILLS,
    SkillOnDisk, ToolKey, UpdateResult,
};
pub use install::{RemovedSkill, UpdateOptions, Updated, VersionSwitch, check_same_skill};
pub use lock::{
    Digest, EarlierVersion, History, InstallState, InstalledName, LockEntry, Tag, VerifiedSkill,
};
pub use lock::{is_foreign, listed_name, named_by_directory, offered_name};
pub use market::{Candidate, Confirm, InstallOptions, Market, Note, Pick};
pub use reference::{Ancestry, CommitPrefix, Reachability, ReferenceForm, SourceKind};
pub use registry::{Artifact, Destination, PublishResult};
pub use scan::{ScanFinding, Severity, scan as scan_directory};
pub use source::{ListedSkill, Origin, Source, within_sources};
pub use verification::{
    CheckedSignature, KnownSigner, KnownSigners, SignatureChecker, SignedManifest,
};
