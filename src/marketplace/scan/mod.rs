//! Looking for what a skill should not have (docs/spec/references.md#the-scan): its text, what is
//! encoded in it, its files' first bytes. Works offline, on the skill alone; it knows neither
//! source nor consent.

mod bytes;
mod directory;
mod encoded;
mod finding;
mod frontmatter;
mod hidden;
mod matchers;
mod rules;
mod text;

pub use directory::scan;
pub use finding::{Finding, Severity};
