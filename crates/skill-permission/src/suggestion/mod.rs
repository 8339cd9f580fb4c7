//! The entries that would let a refused call pass, one for each part that nothing grants, and what
//! each of them opens. The engine decides again with them; nothing is guessed. It does not know where
//! the calls come from.

mod commands;
mod entry_description;
mod missing_entries;

pub use commands::is_known_program;
pub use entry_description::describe_entry;
pub use missing_entries::{EntryRequest, Obstacle, entries_for};
