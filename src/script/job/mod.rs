//! Jobs: scripts that continue after the call that started them. Each has a directory, in which its
//! supervisor writes output and result for others to read.

mod progress;
mod record;
mod store;

pub use progress::{Job, Look, Summary};
pub use record::{JobId, JobRecord, Owner, Spools};
pub use store::{Jobs, Scratch};
