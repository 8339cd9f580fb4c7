//! What an activation says of the skills that the skill requires.

use serde_json::json;

use crate::app::App;
use crate::catalog::plain;
use crate::host::ours;
use crate::skill::{Skill, SkillName};
use crate::sys::limits;

/// Which skills are to be loaded first, and how; `None` when there is nothing to say.
pub fn required_line(app: &App, skill: &Skill) -> Option<String> {
    skill.fields.value("requires")?;
    let catalog = app.catalog();
    let mut required = catalog.required(skill);
    let session = app.store().session(&app.session()).unwrap_or_default();
    let is_active = |name: &SkillName| session.active().any(|active| active.name == name.as_str());
    required.names.retain(|name| !is_active(name));
    let mut said = Vec::new();
    if !required.names.is_empty() {
        let mut names = required.names.clone();
        names.push(skill.name.clone());
        let call = json!({"action": "load", "names": names, "mode": "add"});
        said.push(format!(
            "This skill requires {}. Load in this order: {} {call}",
            listed(required.names.iter().map(SkillName::as_str)),
            ours::SESSION
        ));
    }
    if !required.missing.is_empty() {
        said.push(format!(
            "It requires what is not installed, or not offered: {}. Tell the user.",
            listed(required.missing.iter().map(|name| plain(name)))
        ));
    }
    if let Some(cycle) = required.cycle {
        let names: Vec<&str> = cycle.iter().map(SkillName::as_str).collect();
        said.push(format!(
            "Its requirements run in a circle: {}.",
            names.join(" → ")
        ));
    }
    if required.goes_on {
        said.push(format!(
            "Only {} levels of requirements, and {} skills, were looked at: there are more.",
            limits::REQUIRES_DEPTH,
            limits::REQUIRED_SKILLS
        ));
    }
    (!said.is_empty()).then(|| said.join("\n"))
}

fn listed(names: impl Iterator<Item = impl AsRef<str>>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{}`", name.as_ref())).collect();
    names.join(", ")
}
