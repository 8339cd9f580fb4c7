//! Which skills exist in which layer, which of them are offered and under which tool names, and
//! what the model is told about them. It does not know what a call may do. Open `discovery.rs`
//! first; `eligibility.rs` says who may see a skill, `precedence.rs` which of one name wins.

mod budget;
mod cached;
mod directory_name;
mod disclosure;
mod discovery;
mod eligibility;
mod entry;
mod index;
mod index_file;
mod layer;
mod lookup;
mod naming;
mod precedence;
mod prompt_budget;
mod requires;
mod roots;
mod search;
#[cfg(test)]
mod testing;
mod tool_name;

pub use cached::{PROMPT, Rendered};
pub use disclosure::{Budget, Cut, Disclosure, Left, plain};
pub use discovery::Catalog;
pub use entry::{Admission, Entry, Offered, Standing};
pub use index::Index;
pub use index_file::Answer;
pub use layer::{Layer, Order, Root};
pub use lookup::{is_qualified, suggestion, usable};
pub use precedence::{NoRules, Rules};
pub use requires::Required;
pub use tool_name::tool_name;
