//! What may go on without a question: only what patterns of confirmed skills prove to be granted.

use serde_json::Value;

use super::Case;
use crate::permission::{CitedRule, Outcome};
use crate::policy::{CONFIGURATION, Event};
use crate::sys::text::has_any;

impl Case<'_> {
    /// Why the call may go on without a question: patterns of skills that the agent itself has made
    /// active grant every part of it.
    pub(super) fn proven(&self) -> Option<(String, Event)> {
        // Options of granted programs that write or run: what they do stands behind no question.
        const WRITE: &str = "--output|--ext-diff|--exec|--upload-pack|--textconv";
        let command = self.request.arguments.get("command");
        let command = command.and_then(Value::as_str).unwrap_or_default();
        if !self.request.is_known || has_any(command, WRITE) {
            return None;
        }
        let session = self.session;
        let confirmed = session.active();
        let confirmed = confirmed.filter(|skill| session.confirmed.contains(&skill.dir));
        let confirmed: Vec<&str> = confirmed.map(|skill| skill.name.as_str()).collect();
        let proves = |rule: &CitedRule| {
            let is_theirs = confirmed.contains(&rule.source.as_str());
            let is_added = rule.source == CONFIGURATION && !confirmed.is_empty();
            is_pattern(&rule.rule) && (is_theirs || is_added)
        };
        let by = self.by_rules(&self.enforcement.clone().keeping(proves));
        let granting = by.decision.granting();
        let (first, _) = granting.split_first()?;
        (by.decision.outcome == Outcome::Granted).then(|| {
            let rules: Vec<&str> = granting.iter().map(|rule| rule.rule.as_str()).collect();
            let why = format!("granted by {} of {}", rules.join(", "), first.source);
            (why, by.event.with("granted", true))
        })
    }
}

/// Whether an entry grants by what a call's arguments are, and not as good as any call of a tool.
fn is_pattern(rule: &str) -> bool {
    let body = rule
        .split_once('(')
        .map(|(_, body)| body.trim_end_matches(')'));
    body.is_some_and(|body| body.contains(|c: char| !"*/.:~ ".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_without_a_pattern_proves_nothing() {
        for rule in [
            "Bash",
            "Bash(*)",
            "Bash(*:*)",
            "Write(**)",
            "Edit(./**)",
            "Write(~/**)",
            "*",
            "Read()",
        ] {
            assert!(!is_pattern(rule), "{rule}");
        }
        for rule in [
            "Bash(git log:*)",
            "Write(docs/**)",
            "WebFetch(domain:x.org)",
            "Bash(./run.sh)",
        ] {
            assert!(is_pattern(rule), "{rule}");
        }
    }
}
