#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod arguments;
mod body;
mod description;
mod diagnostic;
mod fields;
mod frontmatter;
pub mod limits;
mod lint;
mod mapping;
mod rules;
mod skill;
mod source;
mod text;

pub use arguments::PlaceholderValues;
pub use body::commands_run;
pub use description::Descriptions;
pub use diagnostic::{Diagnostic, variant_code};
pub use fields::{
    FIELDS, Fields, Hooks, KnownField, SkillScope, is_allowed_tools, is_tools, written,
};
pub use frontmatter::{SplitSkillFile, split};
pub use lint::{Finding, lint, no_effect};
pub use mapping::{deepest_bracket, over_limits};
pub use rules::{Level, RULES, Rule};
pub use skill::Skill;
pub use skill_text::SkillName;
pub use source::{Source, key_offset, place};
pub use text::{shown_tokens, tokens};
