//! Which skills exist in which layer, which are offered, under which tool names, and how the model
//! is told about them. Eligibility comes from rules that are passed in.

mod budget;
mod disclosure;
mod discovery;
mod entry;
mod index;
mod index_file;
mod layer;
mod listing;
mod naming;
mod precedence;
mod prompt_budget;
mod requires;
mod search;
#[cfg(test)]
mod testing;
mod tool_name;

pub use disclosure::{Budget, Cut, Disclosure, Left, plain};
pub use discovery::Catalog;
pub use entry::{Admission, Entry, Offered, Standing};
pub use index::Index;
pub use index_file::Answer;
pub use layer::{Layer, Order, Root};
pub use listing::skill_directories;
pub use precedence::{NoRules, Rules};
pub use requires::Required;
pub use tool_name::tool_name;
