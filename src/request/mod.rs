//! The door in: which call this is, with which typed arguments. Plain data; it knows no skill, no
//! state and no file.

mod call;
mod hook;
mod tool;

pub use call::{Input, Payload, Protocol, Request};
pub use hook::{Hook, ListedTool, ToolResult, ToolUse};
pub use tool::{ReadSkillFile, RunSkillScript, ToolCall, WorkDir, skill_arguments};
