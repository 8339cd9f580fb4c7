//! What is active in which session: the model of the state file, and its locked store on disk. It
//! does not know what a restriction means or how a host calls. Open `active.rs` first, then
//! `store.rs`.

mod active;
mod always;
mod contexts;
mod hook_record;
mod key;
mod loading;
mod prompts;
mod seen;
mod snapshot;
mod state;
mod store;

pub use active::{ActiveSkill, End, Ended, Session, Standing};
pub use hook_record::{HookRecord, HookRecords, Taken};
pub use key::SessionKey;
pub use loading::{Changed, Loading, in_session, is_other};
pub use seen::Seen;
pub use snapshot::snapshot;
pub use state::Unreadable;
pub use store::Store;
