//! Scans a skill for suspicious content (docs/spec/references.md#the-scan): its text, encoded text,
//! and its files' first bytes. It works offline, on the skill alone, and knows neither source nor
//! consent.

mod bytes;
mod directory;
mod encoded;
mod finding;
mod frontmatter;
mod hidden;
mod matchers;
mod rules;
mod text;

pub use crate::skill::Severity;
pub use directory::scan;
pub use finding::Finding;
