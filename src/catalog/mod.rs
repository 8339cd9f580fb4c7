//! Which skills exist in which layer, which of them are offered and under which tool names, and
//! what the model is told about them. It does not know what a call may do. Open `discovery.rs`
//! first; `eligibility.rs` says who may see a skill, `precedence.rs` which of one name wins.

mod cached;
mod disclosure;
mod discovery;
mod eligibility;
mod entry;
mod explain;
mod index;
mod index_file;
mod installed;
mod layer;
mod naming;
mod precedence;
mod prompt_budget;
mod required;
mod requires;
mod roots;
mod signatures;
mod signing;
#[cfg(test)]
mod testing;
mod tool_name;
mod verdicts;

pub use cached::{PROMPT, count_offered, told};
pub use disclosure::{Disclosure, SKILL_TOOLS, plain};
pub use discovery::Catalog;
pub use entry::{Entry, Offered, Standing, Withheld};
pub use explain::{Explained, Explainer, Holds};
pub use index::Index;
pub use index_file::Rendered;
pub use installed::{Installed, write_events};
pub use layer::{Layer, Root};
pub use naming::{is_qualified, suggestion, usable, usable_or_active};
pub use requires::Required;
pub use roots::{base_at, roots};
pub use signatures::signature;
pub use signing::{market_at, own_signing_file, signing, signing_files, signing_in_force};
pub use tool_name::tool_name;
pub use verdicts::Verdicts;
