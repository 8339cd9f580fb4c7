//! `allowed-tools`: what a skill's list means and whether a call may happen under it
//! (docs/spec/restriction.md). Pure functions from text to decisions. This room does no I/O: what
//! it must ask the file system, it asks through [`Resolve`], and state and settings are handed in.

mod absolute;
mod argument;
mod baseline;
mod call;
mod command;
mod command_line;
mod decide;
mod domain;
mod explain;
mod list;
mod path;
mod path_pattern;
mod protect;
mod protected;
mod refusal;
mod restriction;
mod rule;
#[cfg(test)]
mod scene;
mod settings;
mod shell;
mod stacking;
mod steps;
mod subject;
mod template;
mod test;
#[cfg(test)]
mod work;

pub use absolute::absolute_arguments;
pub use baseline::{steering_variable, steers_an_interpreter};
pub use call::{Call, OurTool, Places, Scope};
pub use decide::{Decision, Granted, decide, decide_unreadable_state, denied, forbidden_outright};
pub use explain::{Explanation, Part, explain};
pub use path::Resolve;
pub use protected::ProtectedPlaces;
pub use refusal::{Reason, Refusal};
pub use restriction::Restriction;
pub use rule::{Rule, RuleNote};
pub use settings::{Deactivate, Enforce, ScriptScope, Settings, Stacking};
