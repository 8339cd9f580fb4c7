//! What a script may read, write and reach. The limits are decided here for every system; only
//! Linux enforces them, with Landlock for files and signals and a seccomp filter for the rest.

mod choice;
#[cfg(target_os = "linux")]
mod enforce;
#[cfg(target_os = "linux")]
mod filter;
mod kernel;
mod places;
mod ruleset;
mod trail;
#[cfg(not(target_os = "linux"))]
mod unenforced;

pub use choice::{Confinement, Mode, Network};
#[cfg(target_os = "linux")]
pub use enforce::Prepared;
pub use kernel::{Kernel, lacking};
pub use places::Places;
pub use ruleset::{Sandbox, build};
#[cfg(not(target_os = "linux"))]
pub use unenforced::Prepared;
