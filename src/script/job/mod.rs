//! Jobs: scripts that go on after the call that started them. One directory each, in which the
//! supervisor writes output and end, and everybody else reads.

mod id;
mod keeper;
mod progress;
mod scratch;
mod store;

pub use id::{JobId, Owner};
pub use keeper::Keeper;
pub use progress::{Job, Look, Summary};
pub use scratch::Scratch;
pub use store::{Facts, Jobs, Origin, Spools};
