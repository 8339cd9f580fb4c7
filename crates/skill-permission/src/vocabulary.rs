//! What tools are called, what they do and what their arguments mean.

mod agent_calls;
mod capability;
mod host_tool;
mod shell_language;

pub use agent_calls::{AgentTool, McpNaming, TranslatedCall, Vocabulary};
pub use capability::{
    Capability, authors_name, fold, is_elsewhere, mentioned, nearest_tool, program_words,
};
pub use host_tool::*;
pub use shell_language::{BASH_OR_ZSH, Language, SH, Shell};
