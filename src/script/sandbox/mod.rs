//! What a script may read, write and reach. The limits are decided here for every system; only
//! Linux enforces them, with Landlock for files and signals and a seccomp filter for the rest.

mod choice;
mod filter;
mod kernel;
mod mode;
mod places;
mod ruleset;

pub use choice::{Confinement, Execution};
pub use kernel::{Kernel, lacking};
pub use mode::{Mode, Network};
pub use places::Places;
pub use ruleset::{Built, Prepared, Sandbox, build};
