//! What is active for which host process: the state file's model, and its locked store.

mod always;
mod hook_record;
mod key;
mod refusals;
mod state;
mod store;

pub use always::Kept;
pub use hook_record::{HookRecord, HookRecords, Taken};
pub use key::SessionKey;
pub use refusals::Refusals;
pub use state::{ActiveSkill, Ended, Session, State};
pub use store::{Store, Unreadable};
