//! Jobs: scripts that continue after the call that started them. Each has a directory, in which its
//! supervisor writes output and result for others to read.

mod id;
mod progress;
mod record;
mod scratch;
mod store;

pub use id::{JobId, Owner};
pub use progress::{Job, Look, Summary};
pub use record::{JobRecord, Origin, Spools, millis};
pub use scratch::Scratch;
pub use store::Jobs;
