//! Where agents other than chibi find installed skills: by links from the directories in which they
//! look, to the one directory where each skill is installed. It knows no marketplace and installs
//! nothing; it neither follows nor replaces what it did not make. Open `shared.rs` first.

mod shared;

pub use shared::{Fault, For, Link, Links, Outcome, Shared};
