//! Changes what is installed: everything is staged, confirmed, and moved into place as a whole.
//! Open `add.rs` first.

mod add;
mod change;
mod copy;
mod difference;
mod edit;
mod names;
mod plan;
mod powers;
mod preview;
mod remove;
mod restore;
mod signer_checks;
mod staging;
mod sync;
mod update;

pub use add::{InstallStatus, InstalledSkill};
pub use change::{SKILLS, SkillChange, Transaction, clean};
pub use copy::copy_tree;
pub use difference::Difference;
pub use names::check_same_skill;
pub use plan::{Plan, PlannedSkill, StagedSkill};
pub use powers::{Powers, ToolKey};
pub use remove::RemovedSkill;
pub use signer_checks::SkillOnDisk;
pub use staging::Staging;
pub use sync::{AgreeToAll, SyncAction, SyncList, SyncPlan, SyncedSkill};
pub use update::{Agree, LocalEdits, UpdateOptions, UpdateResult, Updated, VersionSwitch};
