//! What a script may read, write and reach. The limits are decided here for every system; only
//! Linux enforces them, with Landlock for files and signals and a seccomp filter for the rest.

mod confinement;
#[cfg(target_os = "linux")]
mod enforce;
#[cfg(target_os = "linux")]
mod filter;
mod places;

pub use confinement::{Confinement, Kernel, Network, Sandbox, SandboxMode, lacking};
pub use places::SandboxInputs;
