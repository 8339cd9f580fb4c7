//! Which call this is, with its typed arguments. Plain data; it knows no skill, no state and no
//! file.

mod activate;
mod call;
mod hook;
mod run_script;
mod skill_session;
mod tool;

pub use activate::Activate;
pub use call::{Input, Kind, Payload, Protocol, Request};
pub use hook::{Hook, ListedTool, Prompt, ToolResult, ToolUse};
pub use run_script::{Format, RunSkillScript, StartScript, UseJob, WorkDir};
pub use skill_session::{LoadMode, SkillSession};
pub use tool::{CreateSkill, ProposeSkillUpdate, ReadSkillFile, ToolCall, written_skill};
