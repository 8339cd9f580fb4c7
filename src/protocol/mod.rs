//! The door for hosts: which call this is, with its typed arguments (`request`); one file per hook
//! and per tool; the one path of every authorized call (`authorize`); the answer. It has no rules
//! of its own. Open `request.rs` first.

mod answer;
mod authorize;
mod called;
pub mod closed;
pub mod hooks;
mod meaning;
mod our_tool;
mod request;
mod schema;
mod script_reads;
pub mod tools;

pub use answer::{Response, install_panic_hook, live};
pub use called::{Called, activation, call_of, called, resolve, script_of, under_denied_name};
pub use hooks::ModelInstall;
pub use meaning::meaning;
pub use our_tool::our_tool;
pub use request::{
    Activate, CreateSkill, Format, Hook, Input, ListedTool, Payload, Prompt, ProposeSkillUpdate,
    ReadSkillFile, RunSkillScript, SkillSession, StartScript, ToolCall, ToolResult, ToolUse,
    UseJob, WorkDir, written_skill,
};
pub use schema::schema;
pub use script_reads::{advice, script_read};
pub use tools::{Place, place};
