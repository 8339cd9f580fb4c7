//! What the crates about agent skills share of text: the names of skills, lists of names that cost
//! nothing when a program starts, characters that hide something, and wording for messages.
//!
//! ```
//! use skill_text::{Names, SkillName, visible};
//!
//! assert_eq!(SkillName::from_written("PDF Forms").unwrap().as_str(), "pdf-forms");
//! const SHELLS: Names = Names::new("bash dash zsh");
//! assert!(SHELLS.has("zsh"));
//! assert_eq!(visible("a\u{202e}b"), "a<U+202E>b");
//! ```
#![deny(missing_docs)]

mod hidden;
mod names;
mod skill_name;
mod wording;

pub use hidden::{
    brief, is_invisible, one_line, shown_name, visible, with_hidden_flag, written_out,
};
pub use names::{Names, Words};
pub use skill_name::SkillName;
pub use wording::{
    backticked, count, counted, did_you_mean, distinct, listed, nearest, quoted, shorten,
};
