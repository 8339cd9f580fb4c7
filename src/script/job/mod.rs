//! Jobs: scripts that go on after the call that started them. One directory each, in which the
//! supervisor writes output and end, and everybody else reads.

mod id;
mod progress;
mod store;

pub use id::{JobId, Owner};
pub use progress::{Job, Look, Summary};
pub use store::{Facts, Jobs, Spools};
