//! The entries that would let a refused call pass, one for each part that nothing grants, and what
//! each of them opens. The engine decides again with them; nothing is guessed. It does not know where
//! the calls come from.

mod commands;
mod opens;
mod parts;
mod programs;
mod words;

pub use opens::opens;
pub use parts::{Obstacle, Wanted, entries_for};
pub use programs::is_known as is_known_program;
