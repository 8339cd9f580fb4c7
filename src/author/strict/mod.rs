//! The specification's reference validator (skills-ref, docs/spec/skills.md#strict-validation)
//! reimplemented, quirks included. It deliberately shares nothing with the lenient parser in
//! `skill`: the two disagree about what a `SKILL.md` is.

mod parse;
mod style;
#[cfg(test)]
mod tests;
mod validate;
mod yaml;

#[cfg(test)]
use parse::parse_frontmatter;
pub use parse::{
    At, Problem, Properties, find_skill_md, is_skill_file, read_properties, read_text, to_prompt,
};
pub use validate::validate;
pub use yaml::reads_as;
