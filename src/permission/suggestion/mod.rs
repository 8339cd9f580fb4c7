//! The smallest entries that would let a refused call pass, and what each of them opens. Every
//! proposal is decided again by the engine itself; nothing is guessed. It does not know where the
//! calls come from.

mod commands;
mod needs;
mod opens;
mod programs;
mod search;
mod words;

pub use needs::{Obstacle, Wanted};
pub use opens::opens;
pub use programs::is_known as is_known_program;
pub use search::entries_for;
