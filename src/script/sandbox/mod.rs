//! How far a script is trusted: what it may read, write and reach. Which limits those are is
//! decided here for every system; the kernel that enforces them is Linux's: files and signals are
//! Landlock's business, what that does not look at a seccomp filter's.

mod choice;
mod filter;
mod kernel;
mod places;
mod ruleset;

pub use choice::{Confinement, Execution, Mode, Network};
pub use kernel::{Kernel, lacking};
pub use places::Places;
pub use ruleset::{Built, Sandbox, build};
