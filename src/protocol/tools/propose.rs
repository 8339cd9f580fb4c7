//! `propose_skill_update` and `create_skill`: record a change that the model proposes, for the user
//! to decide. Nothing else changes.

use crate::catalog::{base_at, market_at};
use crate::policy::RuleSubject;
use crate::proposal::{
    Proposal, ProposalId, Proposals, ProposedChange, apply_diff, home_of, proposal_event,
};
use crate::protocol::prelude::*;
use crate::skill::Level;
use crate::sys::UnixMillis;

/// The diff of a proposal, or the text of a proposed skill, which a person has to read; 99 % of
/// real `SKILL.md` files are smaller.
const PROPOSAL: usize = 64 * 1024;

/// Proposes a change to an installed skill.
///
/// # Errors
/// If proposals are switched off, or the change cannot be made.
pub fn propose_skill_update(facts: &Facts, call: &ProposeSkillUpdate) -> Result<String> {
    if !facts.config()?.takes_proposals() {
        return Err(switched_off("proposals"));
    }
    propose_change(facts, call)
}

/// The same, whether or not a model may propose.
///
/// # Errors
/// If the change cannot be made.
pub fn propose_change(facts: &Facts, call: &ProposeSkillUpdate) -> Result<String> {
    let most = limits::PROPOSAL_TEXT;
    let evidence = call
        .evidence
        .as_deref()
        .filter(|text| !one_line(text).is_empty());
    at_most(&call.diff, PROPOSAL, "the diff")?;
    at_most(&call.justification, most, "the justification")?;
    at_most(evidence.unwrap_or_default(), most, "the evidence")?;
    if one_line(&call.justification).is_empty() {
        return Err(Error::new("the justification is empty")
            .hint("say in one sentence what is wrong and why the change is better"));
    }
    let catalog = Catalog::naming(facts, &call.skill);
    let skill = usable(&catalog, &call.skill)?;
    let entry = catalog.in_dir(&skill.dir);
    let entry = entry.ok_or_else(|| Error::new("the skill is gone").hint("try again"))?;
    let (base, directory) = home_of(facts, entry)?;
    market_at(facts, &base_at(facts, &base)).check_changeable(&directory)?;
    let changed = apply_diff(&skill.dir, &skill.dir, &call.diff, None)?.into_iter();
    let files = changed.map(|file| (file.path.as_path().display().to_string(), file.digest));
    let change = ProposedChange::Update {
        dir: skill.dir.display().to_string(),
        diff: call.diff.clone(),
        files: files.collect(),
    };
    let name = skill.name.as_str();
    hand_in(facts, name, change, &call.justification, evidence)
}

/// Proposes a new skill.
///
/// # Errors
/// If that is switched off, or there cannot be such a skill.
pub fn create_skill(facts: &Facts, call: &CreateSkill) -> Result<String> {
    if !facts.config()?.takes_new_skills() {
        return Err(switched_off("create_skill"));
    }
    at_most(&call.body, PROPOSAL, "the body")?;
    at_most(&call.description, limits::PROPOSAL_TEXT, "the description")?;
    let name = SkillName::from_written(&call.name)
        .filter(|name| name.as_str() == call.name && call.name.is_ascii())
        .ok_or_else(|| {
            let shown = quoted(&call.name);
            Error::new(format!("`{shown}` cannot be a new skill's name"))
                .hint("use lowercase letters, digits and single hyphens, at most 64 characters")
        })?;
    let place = facts.run.dirs.skills().join(name.as_str());
    if place.symlink_metadata().is_ok() || Catalog::of(facts).by_name(name.as_str()).is_some() {
        return Err(Error::new(format!("a skill `{name}` already exists"))
            .hint("propose a change to it with propose_skill_update, or choose another name"));
    }
    let proposed = RuleSubject {
        name: name.as_str(),
        directory: name.as_str(),
        version: None,
        is_administrators: false,
        is_projects: false,
    };
    if let Some(reason) = facts.policies()?.refuses_skill(proposed) {
        return Err(Error::new(reason).hint("choose another name, or tell the user"));
    }
    let text = skill_file(&name, call)?;
    let (change, why) = (ProposedChange::Create { text }, one_line(&call.description));
    hand_in(facts, name.as_str(), change, &why, None)
}

/// The `SKILL.md` of a new skill, checked to parse as what was asked for.
fn skill_file(name: &SkillName, call: &CreateSkill) -> Result<String> {
    let description = one_line(&call.description);
    let one_lines = |tools: &Vec<String>| tools.iter().map(|tool| one_line(tool)).collect();
    let tools: Option<Vec<String>> = call.allowed_tools.as_ref().map(one_lines);
    let author = "a model, through create_skill";
    let mut fields =
        json!({"name": name, "description": description, "metadata": {"author": author}});
    if let Some(tools) = &tools {
        fields["allowed-tools"] = json!(tools);
    }
    let yaml = serde_yaml::to_string(&fields)
        .map_err(|error| Error::caused("the frontmatter cannot be written", error))?;
    let body = call.body.trim();
    let text = format!("---\n{yaml}---\n\n{body}\n");
    let wrong = |why: &str| {
        Error::new(format!("the skill would be invalid: {why}"))
            .hint("a description has 1 to 1024 characters; the body is Markdown and not empty")
    };
    if description.is_empty() || description.chars().count() > 1024 {
        return Err(wrong("its description is empty or too long"));
    }
    if body.is_empty() || body.contains('\0') {
        return Err(wrong("its body is empty or not text"));
    }
    let dir = std::path::Path::new(name.as_str());
    let skill = Skill::parse(dir, dir.join("SKILL.md"), text.as_bytes())
        .map_err(|diagnostic| wrong(&diagnostic.to_string()))?;
    let mut found = skill.diagnostics();
    if let Some(odd) = found.find(|odd| odd.level() > Level::Note) {
        return Err(wrong(&odd.to_string()));
    }
    let is_as_meant = skill.name == *name
        && skill.description == Some(description)
        && skill.fields.allowed_tools() == tools;
    if !is_as_meant {
        return Err(wrong("its fields would not be read as given"));
    }
    Ok(text)
}

fn hand_in(
    facts: &Facts,
    skill: &str,
    change: ProposedChange,
    justification: &str,
    evidence: Option<&str>,
) -> Result<String> {
    let what = match &change {
        ProposedChange::Update { files, .. } => {
            let files: Vec<_> = files.keys().cloned().collect();
            format!("to change `{skill}` ({})", one_line(&files.join(", ")))
        }
        ProposedChange::Create { .. } => format!("to create the skill `{skill}`"),
    };
    let proposal = Proposal {
        id: ProposalId::new(skill, &change),
        skill: skill.to_owned(),
        change,
        justification: justification.to_owned(),
        evidence: evidence.map(str::to_owned),
        written: UnixMillis::now().to_string(),
        context: facts.context().ok().flatten(),
    };
    let mut state = "was already recorded";
    if Proposals::at(facts.state()).add(&proposal)? {
        facts.record(proposal_event(&proposal, "written"));
        state = "was recorded";
    }
    let id = &proposal.id;
    Ok(format!(
        "The proposal {id} {state}: {what}. Nothing has changed. The user decides: agent-skills \
         proposals show {id}"
    ))
}

fn at_most(text: &str, max: usize, what: &str) -> Result<()> {
    if text.len() <= max {
        return Ok(());
    }
    let text = format!("{what} has {} bytes; the limit is {max}", text.len());
    Err(Error::new(text).hint("propose the part that matters most"))
}

fn switched_off(key: &str) -> Error {
    Error::new(format!("`{key}` is switched off in the configuration"))
        .hint("tell the user what you would change")
}
