//! What the file of nearly every agent uses.

pub use super::table::{
    AgentHome, AgentProfile, AgentTool, AnswerFormat, CallKeys, CallSyntax, CommandInjection,
    CommandRuleFiles, EventKind, HooksOffValue, McpNaming, NameSource, PrecedenceOfDuplicates,
    PromptDetection, SkillLocations,
};
pub use skill_permission::vocabulary::Capability;
pub use skill_permission::vocabulary::{BASH_OR_ZSH, SH, Shell};
pub use skill_text::{Names, Words};
