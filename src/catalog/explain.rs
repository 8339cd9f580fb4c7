//! Why each rule of the policies lets a skill be used or not. It asks the functions that decide.

use super::eligibility::EligibilityRules;
use super::entry::{Eligibility, Entry, WithheldReason};
use super::roots::Layer;
use crate::marketplace::{self, scan_directory};
use crate::policy::{RuleOutcome, RuleResult, approval_needed};
use crate::skill::{Diagnostic, Skill};

const ROOTS: &str = "only root can change it, where it is";
const REQUIRED: &str = "a policy requires the skill, so nothing hides it";

/// Every rule that is about a skill or about all of its kind, in the order in which they decide.
/// Of what a project brings that is not trusted, nothing is read, so that only this is said.
pub fn rules_about(rules: &EligibilityRules, entry: &Entry) -> Vec<RuleResult> {
    let mut all = Vec::new();
    if entry.layer == Layer::Project {
        let (outcome, why) = match rules.distrusts(entry.layer, &entry.dir) {
            Some((_, why)) => (RuleOutcome::Fails, why.to_string()),
            None => (RuleOutcome::Holds, "it is trusted".to_owned()),
        };
        let file = rules.policies.forbids_projects();
        all.push(RuleResult::new("project.trust", file, outcome, why));
    }
    let Some(skill) = entry.disclosed() else {
        let why = entry.reason_not_offered().filter(|_| !entry.is_concealed());
        all.extend(why.map(|why| RuleResult::new("SKILL.md", None, RuleOutcome::Fails, why)));
        return all;
    };
    all.extend(rules.by_policy(entry, skill));
    all.extend(approval(rules, entry, skill));
    all.extend(signature(rules, entry, skill));
    all.extend(scan(rules, entry));
    all.extend(others(rules, entry, skill));
    all
}

fn approval(rules: &EligibilityRules, entry: &Entry, skill: &Skill) -> Option<RuleResult> {
    let needs = rules.policies.needs_approval();
    if needs.is_empty() {
        return None;
    }
    let (outcome, why) = match (
        rules.unapproved(entry, skill),
        approval_needed(skill, &needs),
    ) {
        (Some((_, why)), _) => (RuleOutcome::Fails, why.to_string()),
        _ if rules.is_roots(entry) => (RuleOutcome::DoesNotApply, ROOTS.to_owned()),
        (None, Some(need)) => (
            RuleOutcome::Holds,
            format!("{need}, and it is approved as it is"),
        ),
        (None, None) => {
            let why = "it has nothing that needs an approval";
            (RuleOutcome::DoesNotApply, why.to_owned())
        }
    };
    let file = rules.policies.approval_file();
    Some(RuleResult::new("approval.require", file, outcome, why))
}

fn signature(rules: &EligibilityRules, entry: &Entry, skill: &Skill) -> Option<RuleResult> {
    rules.signatures.as_ref()?;
    let (outcome, why) = match rules.unsigned(entry, skill) {
        Some((_, why)) => (RuleOutcome::Fails, why.to_string()),
        None if rules.is_roots(entry) => (RuleOutcome::DoesNotApply, ROOTS.to_owned()),
        None => {
            let why = "what is required for its source is met";
            (RuleOutcome::Holds, why.to_owned())
        }
    };
    let mut signing = rules.policies.signing();
    let file = signing.find(|(_, rules)| rules.require_anything());
    let file = file.map(|(file, _)| file);
    Some(RuleResult::new("signing.require", file, outcome, why))
}

fn scan(rules: &EligibilityRules, entry: &Entry) -> Option<RuleResult> {
    let (file, least) = rules.policies.scan_block()?;
    let found = scan_directory(&entry.dir);
    let severe = found.iter().find(|finding| finding.severity >= least);
    let (outcome, why) = match severe.map(marketplace::ScanFinding::summary) {
        None => (
            RuleOutcome::Holds,
            "the scan finds nothing that is refused".to_owned(),
        ),
        Some(found) => {
            let why = format!("it cannot be installed, trusted or approved as it is: {found}");
            (RuleOutcome::DoesNotApply, why)
        }
    };
    Some(RuleResult::new("scan.block", Some(file), outcome, why))
}

fn others(rules: &EligibilityRules, entry: &Entry, skill: &Skill) -> Vec<RuleResult> {
    let mut all = Vec::new();
    let mut add = |rule, outcome, why| all.push(RuleResult::new(rule, None, outcome, why));
    let required = rules.policies.requires(skill.name.as_str());
    if let Some((_, why)) = rules.out_of_scope(skill) {
        match required {
            Some(_) => add("scope", RuleOutcome::DoesNotApply, REQUIRED.to_owned()),
            None => add("scope", RuleOutcome::Fails, why.to_string()),
        }
    }
    if rules.config.visibility.contains_key(&skill.name) && entry.is_required {
        add("visibility", RuleOutcome::DoesNotApply, REQUIRED.to_owned());
    }
    if let Eligibility::Withheld(_, why) = &entry.eligibility {
        let rule = match why {
            Diagnostic::HiddenOff(_) | Diagnostic::HiddenFromModel(_) => "visibility",
            Diagnostic::HiddenCatalog(_) => "catalog",
            Diagnostic::HiddenEnterprise(_) => "precedence",
            _ if entry.withheld() == Some(WithheldReason::Shadowed) => "precedence",
            _ => return all,
        };
        add(rule, RuleOutcome::Fails, why.to_string());
    }
    all
}
