//! The door for hosts: which call this is, with its typed arguments (`request`); one file per hook
//! and per tool; the one decision on a call of any host (`judge`); the answer. Open `request.rs` first.

pub mod agents;
mod answer;
pub mod call_kind;
mod called_skill;
pub mod hooks;
mod judge;
mod prelude;
mod request;
mod schema;
pub mod tools;

pub use answer::{Response, install_panic_hook, live};
pub use called_skill::{CalledSkill, activation, advice, resolve};
pub use hooks::ModelInstall;
pub use judge::{BY_TYPING, Request, Verdict, with_call};
pub use request::{
    Activate, CreateSkill, HookData, Input, ListedTool, OwnToolCall, Payload, ProposeSkillUpdate,
    ReadSkillFile, RunSkillScript, SkillSession, StartScript, ToolUse, written_skill,
};
pub use schema::schema;
