//! The entries that would let a refused call pass, one for each part that nothing grants, and what
//! each of them opens. The engine decides again with them; nothing is guessed. It does not know where
//! the calls come from.

mod commands;
mod opens;
mod parts;
mod words;

pub use commands::is_known_program;
pub use opens::describe_entry;
pub use parts::{EntryRequest, Obstacle, entries_for};
