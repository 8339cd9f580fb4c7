//! Changes what is installed: everything is staged, confirmed, and moved into place as a whole.
//! Open `add.rs` first.

mod add;
mod change;
mod copy;
mod difference;
mod improve;
pub mod litter;
mod look;
mod names;
mod plan;
mod powers;
mod present;
mod remove;
mod restore;
mod signed;
mod staging;
mod sync;
mod sync_list;
mod update;
mod updated;

pub use add::{Installed, Status};
pub use change::{Changes, SKILLS, Step};
pub use copy::copy_tree;
pub use difference::Difference;
pub use names::check_same_skill;
pub use plan::{Plan, Planned, Staged};
pub use powers::{Powers, ToolKey};
pub use present::Present;
pub use remove::Removed;
pub use staging::{Prepared, Staging};
pub use sync::{AgreeToAll, Fate, SyncPlan, Synced};
pub use sync_list::SyncList;
pub use updated::{Agree, Change, Edited, Switch, UpdateOptions, Updated};
