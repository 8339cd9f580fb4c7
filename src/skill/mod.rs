//! One skill: a directory with a `SKILL.md`, which the crate `skill-format` parses. No path leaves the
//! directory. It does not know hosts, sessions or other skills. Open `load.rs` first.

mod diagnostic;
mod diff;
mod load;
mod rank;
mod render;
mod resources;
pub mod rules;
mod runner;

pub use diagnostic::Diagnostic;
pub use diff::unified_diff;
pub use load::{
    Skill, find_skill_file, list, read_skill_file, skill_directories, skill_file_digest, unreadable,
};
pub use rank::{Searchable, rank};
pub use render::{SKILL, SKILL_CONTENT, guarded, rendered, wrapped};
pub use resources::{Resource, SkillPath, normalized};
pub use rules::Severity;
pub use runner::{Interpreters, PYTHON, Runner, Shebang, has_bit};
pub use skill_format::{Fields, Hooks, Level, commands_run, shown_tokens, tokens};
pub use skill_text::{SkillName, brief, one_line, shown_name, visible};
