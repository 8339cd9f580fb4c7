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
mod evidence;
mod list;
mod meant;
mod outline;
mod path;
mod path_context;
mod path_pattern;
mod places;
mod protect;
mod protected;
mod reading;
mod refusal;
mod restriction;
mod rule;
#[cfg(test)]
mod scene;
mod scope;
mod settings;
mod shell;
mod stacking;
mod steps;
mod suggestion;
mod template;
mod tool_matcher;
#[cfg(test)]
mod work;

pub use absolute::absolute_arguments;
pub use baseline::read_only_action;
pub use call::{Call, OurTool};
pub use decide::{
    Decision, Outcome, compares_arguments, decide, decide_unreadable_state, denied, never_allowed,
};
pub use evidence::{CALL, CitedRule, Grant, Part};
pub use meant::ArgumentValue;
pub use outline::Outline;
pub use path::Resolve;
pub use places::{Places, ProtectedPaths, ProtectedPlaces};
pub use refusal::{Reason, Refusal};
pub use restriction::Restriction;
pub use rule::{Rule, RuleNote, mistaken_grant, unclear_denial};
pub use scope::Scope;
pub use settings::{Deactivate, Enforce, ScriptScope, Settings, Stacking};
pub use suggestion::{EntryRequest, Obstacle, describe_entry, entries_for, is_known_program};
