//! What an update would change, to be shown to a person first.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::marketplace::install::{Planned, plan};
use crate::marketplace::reference::Ancestry;
use crate::marketplace::scan::{self, Finding, Severity};
use crate::marketplace::source::Provenance;
use crate::skill::Skill;

/// The difference between an installed skill and its replacement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its directory's name.
    pub name: String,
    /// The source of the new version; `None` for a proposal.
    pub provenance: Option<Provenance>,
    /// The current commit.
    pub from: Option<String>,
    /// The new commit.
    pub to: Option<String>,
    /// Added files.
    pub added: Vec<String>,
    /// Changed files.
    pub changed: Vec<String>,
    /// Removed files.
    pub removed: Vec<String>,
    /// Added scripts.
    pub new_scripts: Vec<String>,
    /// Tools that it newly requests or no longer denies.
    pub new_tools: Vec<String>,
    /// Findings that the current version does not have.
    pub new_findings: Vec<Finding>,
    /// Whether it has been changed by hand since it was installed.
    pub edited: bool,
    /// How the new commit relates to the old one; `None` for sources without commits.
    pub ancestry: Option<Ancestry>,
    /// The difference line by line, if requested.
    pub text: Option<String>,
}

impl Difference {
    /// Compares the skill in `installed`, whose files are `now`, with a version that has the files
    /// `new`.
    pub fn between(installed: &Path, now: &Files, planned: &Planned, new: &Files) -> Self {
        let (old_scripts, mut new_scripts) = (plan::scripts(now), plan::scripts(new));
        new_scripts.retain(|script| !old_scripts.contains(script));
        let old_findings = scan::scan(installed);
        let what = |finding: &Finding| {
            let Finding {
                code,
                file,
                excerpt,
                ..
            } = finding.clone();
            (code, file, excerpt)
        };
        let known = |finding: &Finding| old_findings.iter().any(|old| what(old) == what(finding));
        // What is read from elsewhere was never agreed to: it counts as a skill that may do nothing.
        let old = Skill::load(installed).ok();
        let old = old.filter(|skill| skill.pointed_to().is_none());
        let nothing = || Some(Vec::new());
        let old_tools = old.as_ref().map_or_else(nothing, plan::allowed_tools);
        let mut new_tools = widened(old_tools, planned.allowed_tools.as_deref());
        let denied = old.map(|skill| skill.fields.disallowed_tools());
        let denied_no_more = denied.unwrap_or_default().into_iter();
        let denied_no_more = denied_no_more.filter(|tool| !planned.disallowed_tools.contains(tool));
        new_tools.extend(denied_no_more.map(|tool| format!("{tool}, which it denies now")));
        let findings = planned.findings.iter();
        Self {
            name: planned.name.clone(),
            provenance: planned.provenance.clone(),
            added: only(new, now),
            removed: only(now, new),
            changed: changed(new, now),
            new_scripts,
            new_tools,
            new_findings: findings
                .filter(|finding| !known(finding))
                .cloned()
                .collect(),
            ..Self::default()
        }
    }

    /// Whether someone has to agree, because the skill could do more than before.
    pub fn needs_consent(&self) -> bool {
        let is_severe = |finding: &Finding| finding.severity >= Severity::High;
        !self.new_scripts.is_empty()
            || !self.new_tools.is_empty()
            || self.new_findings.iter().any(is_severe)
    }

    /// Why the new commit is suspicious, if it does not follow the old one.
    pub fn regress(&self) -> Option<&'static str> {
        self.ancestry?.doubt()
    }
}

type Files = BTreeMap<String, String>;

/// The paths in `these` that are not in `others`.
pub fn only(these: &Files, others: &Files) -> Vec<String> {
    let only = these.keys().filter(|path| !others.contains_key(*path));
    only.cloned().collect()
}

/// The paths in both with different content.
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

/// What the new list allows and the old one does not. An absent list allows everything.
fn widened(old: Option<Vec<String>>, new: Option<&[String]>) -> Vec<String> {
    match (old, new) {
        (None, _) => Vec::new(),
        (Some(_), None) => vec!["every tool, as it has no allowed-tools any more".to_owned()],
        (Some(old), Some(new)) => {
            let wider = new.iter().filter(|tool| !old.contains(tool));
            wider.cloned().collect()
        }
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
