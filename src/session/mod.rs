//! What is active in which session: the model of the state file, and its locked store on disk. It
//! does not know what a restriction means or how a host calls. Open `active.rs` first, then
//! `store.rs`.

mod active;
mod hook_record;
mod key;
pub mod seen;
mod store;

pub use active::*;
pub use hook_record::HookRecord;
pub use key::SessionKey;
pub use store::{StateUnreadable, Store};
