//! Messages about the skills that a skill requires, for the model and for people.

use serde_json::json;

use crate::catalog::{Catalog, Required, is_qualified, plain};
use crate::facts::Facts;
use crate::host::ours;
use crate::skill::{Diagnostic, Skill, SkillName};
use crate::sys::text::backticked;

/// Why a skill cannot get all that it requires; empty if it can. Skills for which `elsewhere` holds
/// count as present.
pub fn unmet(
    facts: &Facts,
    catalog: &Catalog,
    skill: &Skill,
    elsewhere: impl Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    if skill.fields.value("requires").is_none() {
        return Vec::new();
    }
    let mut required = required(facts, catalog, skill);
    required.missing.retain(|name| !elsewhere(name));
    let mut found = Vec::new();
    if !required.missing.is_empty() {
        let missing = backticked(required.missing.iter().map(|name| plain(name)), ", ");
        found.push(Diagnostic::RequiresMissing(missing));
    }
    if let Some(cycle) = &required.cycle {
        found.push(Diagnostic::RequiresCircle(circle(cycle)));
    }
    let most = facts.config().unwrap_or_default().max_active.0.get();
    if required.names.len() >= most {
        found.push(Diagnostic::RequiresTooMany(required.names.len() + 1, most));
    }
    found
}

/// Which skills the model has to load first, and how; `None` if there are none.
pub fn required_line(facts: &Facts, skill: &Skill) -> Option<String> {
    skill.fields.value("requires")?;
    let mut required = required(facts, &Catalog::of(facts), skill);
    let session = facts.session().unwrap_or_default();
    let is_active = |name: &SkillName| session.active().any(|active| active.name == name.as_str());
    required.names.retain(|name| !is_active(name));
    let mut said = Vec::new();
    // The skill itself is active or will be, so it counts once.
    let others = session
        .active()
        .filter(|active| active.name != skill.name.as_str());
    let would_be = required.names.len() + 1 + others.count();
    let most = facts.config().unwrap_or_default().max_active.0.get();
    if !required.names.is_empty() && would_be > most {
        said.push(format!(
            "This skill requires {}. Loading them would make {would_be} skills active; the limit is \
             {most}. Load those that this task needs, and tell the user, who can raise `max_active`.",
            backticked(&required.names, ", "),
        ));
    } else if !required.names.is_empty() {
        let mut names = required.names.clone();
        names.push(skill.name.clone());
        let call = json!({"action": "load", "names": names, "mode": "add"});
        said.push(format!(
            "This skill requires {}. Load in this order: {} {call}",
            backticked(&required.names, ", "),
            ours::SESSION
        ));
    }
    if !required.missing.is_empty() {
        said.push(format!(
            "Required, but not installed or not offered: {}. Tell the user.",
            backticked(required.missing.iter().map(|name| plain(name)), ", ")
        ));
    }
    if let Some(cycle) = required.cycle {
        said.push(format!(
            "Its requirements are circular: {}.",
            circle(&cycle)
        ));
    }
    (!said.is_empty()).then(|| said.join("\n"))
}

/// Everything that `skill` requires. Owners are looked up only if a name is qualified.
fn required(facts: &Facts, catalog: &Catalog, skill: &Skill) -> Required {
    let required = catalog.required(skill);
    if required.missing.iter().any(|name| is_qualified(name)) {
        return Catalog::with_owners(facts).required(skill);
    }
    required
}

fn circle(names: &[SkillName]) -> String {
    let names: Vec<&str> = names.iter().map(SkillName::as_str).collect();
    names.join(" → ")
}
