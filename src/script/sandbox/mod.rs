//! How far a script is trusted: what it may read, write and reach. Which limits those are is
//! decided here for every system; the kernel that enforces them is Linux's (Landlock).

mod choice;
mod places;
mod ruleset;

pub use choice::{Confinement, Execution, Mode, Network};
pub use places::Places;
pub use ruleset::{Built, build, lacking};
