//! Scans a skill for suspicious content (docs/spec/references.md#the-scan): its text, encoded text,
//! and the first bytes of its files. It works offline on the skill alone, and knows neither its
//! source nor what a finding leads to. Open `directory.rs` first.

mod bytes;
mod comments;
mod directory;
mod encoded;
mod finding;
mod lines;
mod rule;
mod rules;
mod text;

pub use crate::skill::Severity;
pub use directory::{is_binary, scan};
pub use finding::ScanFinding;
