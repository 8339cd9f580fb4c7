//! What is active for which host process: the state file's model, and its locked store.

mod active;
mod always;
mod contexts;
mod entering;
mod file;
mod hook_record;
mod kept_arguments;
mod key;
mod loading;
mod of_run;
mod over;
mod record;
mod refusals;
mod snapshot;
mod state;
mod store;
mod unreadable;

pub use active::{ActiveSkill, End, Ended, Handed, Session, Standing};
pub use always::Kept;
pub use hook_record::{HookRecord, HookRecords, Taken};
pub use kept_arguments::KeptArguments;
pub use key::SessionKey;
pub use loading::{Changed, Loading};
pub use refusals::Refusals;
pub use snapshot::{latest, snapshot};
pub use state::State;
pub use store::Store;
pub use unreadable::Unreadable;
