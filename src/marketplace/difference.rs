//! What an update would change, for a person to look at before it does.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::pin::Ancestry;
use super::plan::{self, Planned, Provenance};
use super::scan::{self, Finding, Severity};
use crate::skill::Skill;

/// The difference between an installed skill and the one that would replace it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its directory's name.
    pub name: String,
    /// Where the new one comes from; none for a proposal.
    pub provenance: Option<Provenance>,
    /// The commit it is.
    pub from: Option<String>,
    /// The commit it would be.
    pub to: Option<String>,
    /// Files that would be new.
    pub added: Vec<String>,
    /// Files with other content.
    pub changed: Vec<String>,
    /// Files that would be gone.
    pub removed: Vec<String>,
    /// Scripts that would be new.
    pub new_scripts: Vec<String>,
    /// Tools it would ask for and does not now, or would no longer deny.
    pub new_tools: Vec<String>,
    /// What should be looked at and is not there now.
    pub new_findings: Vec<Finding>,
    /// Whether it was changed after it was installed.
    pub edited: bool,
    /// How the new commit stands to the old one; none for what has no commits.
    pub ancestry: Option<Ancestry>,
    /// The difference line by line, if it was asked for.
    pub text: Option<String>,
}

impl Difference {
    /// Compares the skill in `installed`, whose files are `now`, with one that would have the
    /// files `new`.
    pub fn between(installed: &Path, now: &Files, planned: &Planned, new: &Files) -> Self {
        let (old_scripts, new_scripts) = (plan::scripts(now), plan::scripts(new));
        let old_findings = scan::scan(installed);
        let known = |finding: &Finding| {
            let same = |old: &Finding| {
                (old.code, &old.file, &old.excerpt)
                    == (finding.code, &finding.file, &finding.excerpt)
            };
            old_findings.iter().any(same)
        };
        let old = Skill::load(installed).ok();
        let old_tools = old.as_ref().and_then(plan::allowed_tools);
        let mut new_tools = widened(old_tools, planned.allowed_tools.as_deref());
        let denied = old.map(|skill| skill.fields.disallowed_tools());
        let denied_no_more = denied.unwrap_or_default().into_iter();
        let denied_no_more = denied_no_more.filter(|tool| !planned.disallowed_tools.contains(tool));
        new_tools.extend(denied_no_more.map(|tool| format!("{tool}, which it denies now")));
        let findings = planned.findings.iter();
        Self {
            name: planned.name.clone(),
            provenance: planned.provenance.clone(),
            from: None,
            to: None,
            added: only(new, now),
            removed: only(now, new),
            changed: changed(new, now),
            new_scripts: new_scripts
                .into_iter()
                .filter(|s| !old_scripts.contains(s))
                .collect(),
            new_tools,
            new_findings: findings
                .filter(|finding| !known(finding))
                .cloned()
                .collect(),
            edited: false,
            ancestry: None,
            text: None,
        }
    }

    /// Whether somebody has to agree: it could do more than before.
    pub fn needs_consent(&self) -> bool {
        !self.new_scripts.is_empty() || !self.new_tools.is_empty() || self.is_suspect()
    }

    /// What is odd about the new commit, if it does not follow the old one.
    pub fn regress(&self) -> Option<&'static str> {
        self.ancestry?.doubt()
    }

    /// Whether there is something new that an install would be refused for.
    pub fn is_suspect(&self) -> bool {
        self.new_findings
            .iter()
            .any(|finding| finding.severity >= Severity::High)
    }
}

type Files = BTreeMap<String, String>;

/// The paths of `these` that `others` do not have.
pub fn only(these: &Files, others: &Files) -> Vec<String> {
    these
        .keys()
        .filter(|path| !others.contains_key(*path))
        .cloned()
        .collect()
}

/// The paths that both have with other content.
pub fn changed(these: &Files, others: &Files) -> Vec<String> {
    let differs = |(path, digest): &(&String, &String)| {
        others.get(*path).is_some_and(|other| other != *digest)
    };
    these
        .iter()
        .filter(differs)
        .map(|(path, _)| path.clone())
        .collect()
}

/// What the new list allows and the old one does not; no list allows everything.
fn widened(old: Option<Vec<String>>, new: Option<&[String]>) -> Vec<String> {
    match (old, new) {
        (None, _) => Vec::new(),
        (Some(_), None) => vec!["every tool, as it has no allowed-tools any more".to_owned()],
        (Some(old), Some(new)) => new
            .iter()
            .filter(|tool| !old.contains(tool))
            .cloned()
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_widened_by_a_new_one_or_by_losing_the_list() {
        let list = |tools: &[&str]| {
            tools
                .iter()
                .map(|tool| (*tool).to_owned())
                .collect::<Vec<_>>()
        };
        let (read, both) = (list(&["Read"]), list(&["Read", "Bash"]));
        assert_eq!(widened(Some(read.clone()), Some(&both)), ["Bash"]);
        assert_eq!(
            widened(Some(both.clone()), Some(&read)),
            Vec::<String>::new()
        );
        assert_eq!(widened(None, Some(&both)), Vec::<String>::new());
        assert_eq!(widened(Some(read), None).len(), 1);
    }
}
