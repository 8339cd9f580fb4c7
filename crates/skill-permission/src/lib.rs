//! `allowed-tools`: what a skill's list means and whether it permits a call
//! (docs/spec/restriction.md). Pure functions from text to decisions, without I/O: file system
//! queries go through [`PathResolver`], and state and settings are passed in.

mod absolute_arguments;
mod active_restrictions;
mod arg_matcher;
mod argument_value;
mod baseline;
mod call;
mod call_matching;
mod command_line;
mod command_pattern;
mod decide;
mod domain;
mod entry_grammar;
mod evidence;
mod outline;
mod path;
mod path_context;
mod path_pattern;
mod placeholders;
mod places;
mod protected;
mod reading_by_shell;
mod refusal;
mod restriction;
mod rule;
#[cfg(test)]
mod scene;
mod settings;
mod shell;
pub mod steering;
#[cfg(test)]
mod step_budget_tests;
mod steps;
mod suggestion;
mod tool_matcher;
pub mod vocabulary;

pub use absolute_arguments::absolute_arguments;
pub use active_restrictions::RestrictionInputs;
pub use argument_value::ArgumentValue;
pub use baseline::read_only_action;
pub use call::{OurTool, ToolCall};
pub use decide::{
    Decision, Outcome, compares_arguments, decide, decide_unreadable_state, denied, never_allowed,
};
pub use evidence::{CALL, CitedRule, Grant, Part};
pub use outline::Outline;
pub use path::PathResolver;
pub use places::{ProtectedPaths, ProtectedPlaces, RuleDirectories};
pub use refusal::{Reason, Refusal};
pub use restriction::Restriction;
pub use rule::{Rule, RuleNote, mistaken_grant, unclear_denial};
pub use settings::{Deactivate, Enforce, ScriptScope, Settings, Stacking};
pub use suggestion::{EntryRequest, Obstacle, describe_entry, entries_for, is_known_program};
