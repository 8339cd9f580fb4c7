//! The door for hosts: which call this is, with its typed arguments (`request`); one file per hook
//! and per tool; the one path of every authorized call (`authorize`); the answer. It has no rules
//! of its own. Open `request.rs` first.

pub mod agents;
mod answer;
mod authorize;
mod called;
pub mod closed;
pub mod hooks;
mod meaning;
mod missing;
mod request;
mod schema;
pub mod tools;

pub use answer::{Response, install_panic_hook, live};
pub use called::{
    Called, activation, advice, call_of, called, our_tool, resolve, script_of, script_read,
    under_denied_name,
};
pub use hooks::ModelInstall;
pub use meaning::meaning;
pub use request::{
    Activate, CreateSkill, Format, HookData, Input, ListedTool, Payload, Prompt,
    ProposeSkillUpdate, ReadSkillFile, RunSkillScript, SkillSession, StartScript, ToolCall,
    ToolResult, ToolUse, WorkDir, written_skill,
};
pub use schema::schema;
pub use tools::{Place, place};
