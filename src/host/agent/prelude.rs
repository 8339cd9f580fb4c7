//! What the file of nearly every agent uses.

pub use super::table::{
    AgentHome, AgentProfile, AnswerFormat, CallKeys, CallSyntax, CommandInjection,
    CommandRuleFiles, EventKind, HooksOffValue, NameSource, PrecedenceOfDuplicates,
    PromptDetection, SkillLocations,
};
pub use skill_permission::vocabulary::{
    AgentTool, BASH_OR_ZSH, Capability, McpNaming, SH, Shell, Vocabulary,
};
pub use skill_text::{Names, Words};
