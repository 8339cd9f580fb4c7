//! One skill: a directory with a `SKILL.md`. This room parses it as leniently as real skills
//! require (docs/spec/skills.md), and no path leaves the directory. It does not know hosts,
//! sessions or other skills. Open `load.rs` first.

mod arguments;
mod body;
mod diagnostic;
mod fields;
mod frontmatter;
mod load;
mod mapping;
mod rank;
mod render;
mod resources;
pub mod rules;
mod runner;
mod text;

pub use body::commands_run;
pub use diagnostic::Diagnostic;
pub use fields::{
    FIELDS, Fields, Hooks, KnownField, SkillScope, ValueForm, folds_to, is_allowed_tools, is_text,
    is_tools, near_miss_of, parse_flag, written,
};
pub use frontmatter::{SplitSkillFile, split as split_frontmatter};
pub use load::{
    Skill, find_skill_file, list, read_skill_file, skill_directories, skill_file_digest, unreadable,
};
pub use mapping::{deepest_bracket, over_limits as over_yaml_limits};
pub use rank::{Searchable, rank};
pub use render::{SKILL, SKILL_CONTENT, guarded, rendered, wrapped};
pub use resources::{Resource, SkillPath, normalized};
pub use rules::{Level, Severity};
pub use runner::{Interpreters, PYTHON, Runner, Shebang, has_bit};
pub use skill_text::SkillName;
pub use text::{brief, one_line, shown_name, shown_tokens, tokens, unified_diff, visible};
