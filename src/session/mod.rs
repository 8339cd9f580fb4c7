//! What is active in which session: the model of the state file, and its locked store on disk. It
//! does not know what a restriction means or how a host calls. Open `active.rs` first, then
//! `store.rs`.

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
