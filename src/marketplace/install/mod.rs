//! Changes what is installed: everything is staged, confirmed, and moved into place as a whole.
//! Open `add.rs` first.

mod add;
mod change;
mod copy;
mod difference;
mod improve;
mod look;
mod names;
mod plan;
mod powers;
mod remove;
mod restore;
mod signed;
mod staging;
mod sync;
mod update;

pub use add::{Installed, Status};
pub use change::{Changes, SKILLS, Step, clean};
pub use copy::copy_tree;
pub use difference::Difference;
pub use names::check_same_skill;
pub use plan::{Plan, Planned, Staged};
pub use powers::{Powers, ToolKey};
pub use remove::Removed;
pub use signed::Present;
pub use staging::Staging;
pub use sync::{AgreeToAll, SyncAction, SyncList, SyncPlan, Synced};
pub use update::{Agree, Change, Edited, UpdateOptions, Updated, VersionSwitch};
