//! Which skills exist in which layer, which of them are offered and under which tool names, and
//! what the model is told about them. It does not know what a call may do. Open `discovery.rs`
//! first; `eligibility.rs` says who may see a skill, `precedence.rs` which of one name wins.

mod disclosure;
mod discovery;
mod eligibility;
mod entry;
mod explain;
mod index;
mod installed;
mod naming;
mod precedence;
mod roots;
mod signed_skills;
mod signing_files;
#[cfg(test)]
mod testing;

pub use disclosure::{Disclosure, plain};
pub use discovery::{Catalog, PROMPT, told};
pub use eligibility::EligibilityRules;
pub use entry::{Eligibility, Entry, OfferedSkill, WithheldReason, tool_name};
pub use explain::rules_about;
pub use index::{CatalogText, Index};
pub use installed::{InstalledEntries, write_events};
pub use naming::RequiredSkills;
pub use naming::{is_qualified, suggestion, usable, usable_or_active};
pub use roots::{Layer, Root, base_at, roots};
pub use signed_skills::signature;
pub use signing_files::{market_at, own_signing_file, signing_files, signing_in_force};
