#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod absolute_arguments;
mod active_restrictions;
mod agent;
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
mod shell;
#[cfg(test)]
mod step_budget_tests;
mod steps;
mod suggestion;
mod tool_matcher;

pub mod settings;
pub mod steering;
pub mod vocabulary;

pub use active_restrictions::RestrictionInputs;
pub use agent::AsWritten;
pub use call::ToolCall;
pub use decide::{Decision, Outcome, decide};
pub use path::PathResolver;
pub use places::RuleDirectories;
pub use refusal::Refusal;
pub use restriction::Restriction;

/// What a list says and what a decision rests on, for reports about them.
pub mod explain {
    pub use crate::evidence::{CALL, CitedRule, Grant, Part};
    pub use crate::outline::Outline;
    pub use crate::refusal::Reason;
    pub use crate::rule::{Rule, RuleNote, mistaken_grant, unclear_denial};
}

/// What a runtime of skills adds, which has tools of its own and places to protect.
pub mod runtime {
    pub use crate::absolute_arguments::absolute_arguments;
    pub use crate::argument_value::ArgumentValue;
    pub use crate::baseline::read_only_action;
    pub use crate::call::OurTool;
    pub use crate::decide::{compares_arguments, decide_unreadable_state, denied, never_allowed};
    pub use crate::places::{ProtectedPaths, ProtectedPlaces};
}

/// Entries that would grant what is refused.
pub mod suggest {
    pub use crate::suggestion::{
        EntryRequest, Obstacle, describe_entry, entries_for, is_known_program,
    };
}
