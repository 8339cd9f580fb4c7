//! One skill: a directory with a `SKILL.md`. This room parses it as leniently as real skills need
//! (CORPUS.md §1) and never lets a path leave the directory. It knows no host, no session and no
//! other skill.

mod arguments;
mod diagnostic;
mod fields;
mod frontmatter;
mod load;
mod mapping;
mod name;
mod render;
mod resources;
mod salvage;
mod text;
pub mod tokens;
mod visibility;

pub use arguments::Arguments;
pub use diagnostic::{Diagnostic, Level};
pub use fields::{Fields, ToolList};
pub use load::{Skill, find_skill_file};
pub use name::SkillName;
pub use render::Activation;
pub use resources::{Listing, Resource, SkillPath};
pub use text::one_line;
pub use visibility::SkillScope;
