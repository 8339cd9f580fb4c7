//! `allowed-tools`: what a skill's list means and whether it permits a call
//! (docs/spec/restriction.md). Pure functions from text to decisions, without I/O: file system
//! queries go through [`Resolve`], and state and settings are passed in.

mod absolute;
mod arg_matcher;
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
mod template;
mod tool_matcher;
#[cfg(test)]
mod work;

pub use absolute::absolute_arguments;
pub use baseline::steering_variable;
pub use call::{Call, OurTool, Places, Scope};
pub use decide::{Decision, Granted, decide, decide_unreadable_state, denied, forbidden_outright};
pub use explain::{Explanation, Part, explain};
pub use path::Resolve;
pub use protected::ProtectedPlaces;
pub use refusal::{Reason, Refusal};
pub use restriction::Restriction;
pub use rule::{Rule, RuleNote};
pub use settings::{Deactivate, Enforce, ScriptScope, Settings, Stacking};
