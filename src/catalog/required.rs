//! Skills that a policy requires: which of the entries are these, which are missing, and what follows.

use super::eligibility::Rules;
use super::entry::{Entry, Standing, Withheld};
use super::layer::Layer;
use crate::policy::{Missing, MissingSkill};
use crate::skill::Diagnostic;

/// Marks the entries that are required, and returns what is missing. If a policy wants it, nothing
/// else is offered then.
pub fn settle(entries: &mut [Entry], rules: &Rules) -> Vec<MissingSkill> {
    let policies = &rules.policies;
    for entry in &mut *entries {
        let is_offered = matches!(entry.standing, Standing::Offered { .. });
        entry.is_required = is_offered && policies.requires(&entry.name()).is_some();
    }
    let mut missing = Vec::new();
    for (file, required) in policies.required() {
        let of_name = |entry: &&Entry| required.is_named(&entry.name());
        if entries.iter().filter(of_name).any(|one| one.is_required) {
            continue;
        }
        // What a project has of this name explains least.
        let mut of_name: Vec<&Entry> = entries.iter().filter(of_name).collect();
        of_name.sort_by_key(|entry| entry.layer == Layer::Project);
        let why = of_name.first().and_then(|one| one.reason_not_offered());
        missing.push(MissingSkill {
            name: required.name.clone(),
            file: file.to_owned(),
            missing: policies.if_missing(file),
            why: why.unwrap_or_else(|| "there is no skill of this name".to_owned()),
        });
    }
    let mut blocking = missing.iter();
    if let Some(one) = blocking.find(|one| one.missing == Missing::Block) {
        let why = Diagnostic::HiddenPolicy(format!("no skill is offered, because {one}"));
        let usable = entries.iter_mut().filter(|entry| entry.usable().is_some());
        for entry in usable.filter(|entry| !entry.is_required) {
            entry.standing = Standing::Withheld(Withheld::Excluded, why.clone());
            entry.tool = None;
        }
    }
    missing
}
