//! Changes what is installed: everything is staged, confirmed, and moved into place as a whole.
//! Open `add.rs` first.

mod add;
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
mod repair;
mod restore;
mod signed;
mod staging;
mod stash;
mod swap;
mod sync;
mod sync_list;
mod update;
mod updated;

pub use add::{Installed, Status};
pub use copy::{CopyPlan, Piece, copy_tree};
pub use difference::Difference;
pub use names::check_same_skill;
pub use plan::{Plan, Planned, Staged};
pub use powers::{Powers, ToolKey};
pub use present::Present;
pub use remove::{Removed, Unsaved};
pub use repair::Repaired;
pub use staging::{Prepared, Staging};
pub use swap::{Changes, SKILLS, Whole};
pub use sync::{AgreeToAll, Fate, SyncPlan, Synced};
pub use sync_list::SyncList;
pub use updated::{Agree, Change, Edited, Switch, UpdateOptions, Updated};
