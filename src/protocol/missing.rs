//! Skills that a policy requires and that are missing in a conversation: recorded once in each.

use crate::catalog::Catalog;
use crate::facts::Facts;
use crate::policy::{Event, MissingSkill};
use crate::session::Seen;
use crate::sys::EntryName;

const MISSING: EntryName = EntryName::from_static("missing");

/// Records each that is missing, and returns what this session has not recorded before. Without such
/// a policy, nothing is looked at.
pub fn record(facts: &Facts) -> Vec<MissingSkill> {
    let requires = facts.policies().is_ok_and(|all| all.require_any());
    let seen = Seen::at(facts.state(), MISSING);
    let session = facts.key().as_str().to_owned();
    if !requires || seen.before(&session) {
        return Vec::new();
    }
    let missing = Catalog::disclosed(facts).missing;
    for one in &missing {
        let event = Event::new("missing")
            .with("skill", one.name.as_str())
            .with("by", one.file.display().to_string())
            .with("reason", one.why.as_str());
        facts.record(event);
    }
    missing
}
