//! The skill that a call of one of our tools means, for judging the call and for running it.

use crate::catalog::usable_or_active;
use crate::protocol::prelude::*;

/// A skill being called.
#[derive(Debug, Clone)]
pub struct CalledSkill {
    /// The skill as it is on disk now.
    pub skill: Skill,
    /// The name of its own tool, which a restriction may cover.
    pub tool: String,
    /// A name by which other tools find exactly this skill.
    pub reference: String,
    /// The input for the skill.
    pub arguments: Option<String>,
}

impl CalledSkill {
    /// A call of `skill`, written as `written` unless its own tool is called.
    pub fn new(
        catalog: &Catalog,
        skill: &Skill,
        written: Option<&str>,
        arguments: Option<String>,
    ) -> Self {
        let tool = tool_name(&skill.name);
        let first = catalog.by_tool(&tool);
        // By its plain name, another skill would be found.
        let written = written.filter(|_| first.is_none_or(|first| first.dir != skill.dir));
        Self {
            skill: skill.clone(),
            reference: written.unwrap_or(skill.name.as_str()).to_owned(),
            tool,
            arguments,
        }
    }
}

/// The skill that a call of `tool` activates, which asks for `wanted`; `None` if that is no tool of ours
/// with the current skills: if there are few, `skill` may be another plugin's.
///
/// # Errors
/// If the call is ours but activates nothing; its tool reports the same.
pub fn skill_of_call(
    facts: &Facts,
    tool: &str,
    wanted: Result<Activate>,
) -> Option<Result<CalledSkill>> {
    let catalog = match &wanted {
        Ok(wanted) => catalog_of(facts, wanted),
        Err(_) => Catalog::of(facts),
    };
    is_listed(facts, &catalog, tool).then(|| find(facts, &catalog, wanted?))
}

/// The skill that a call of one of our tools activates.
///
/// # Errors
/// If there is no such skill or it cannot be used; the hint says what to do.
pub fn resolve(facts: &Facts, wanted: Activate) -> Result<CalledSkill> {
    find(facts, &catalog_of(facts, &wanted), wanted)
}

fn catalog_of(facts: &Facts, wanted: &Activate) -> Catalog {
    match &wanted.skill {
        Some(written) => Catalog::naming(facts, written),
        None => Catalog::about(facts, &wanted.tool),
    }
}

fn is_listed(facts: &Facts, catalog: &Catalog, tool: &str) -> bool {
    match tool {
        ours::MARKETPLACE => true,
        ours::SKILL => Catalog::disclosed(facts).has_one_tool(),
        own => catalog.by_tool(own).is_some(),
    }
}

fn find(facts: &Facts, catalog: &Catalog, wanted: Activate) -> Result<CalledSkill> {
    let found = match &wanted.skill {
        Some(written) => usable(catalog, written),
        None => catalog.by_tool(&wanted.tool).ok_or_else(|| {
            let text = format!("there is no tool `{}`", quoted(&wanted.tool));
            Error::new(text).hint(suggestion(catalog, &wanted.tool))
        }),
    };
    // With an unreadable configuration nothing is offered.
    let skill = found.map_err(|missing| match facts.config() {
        Ok(_) => missing,
        Err(error) => error.context("no skill is offered"),
    })?;
    let written = wanted.skill.as_deref();
    Ok(CalledSkill::new(catalog, skill, written, wanted.arguments))
}

/// The directory of the skill that a tool means by this name, or without one.
pub fn skill_dir(facts: &Facts, written: Option<&str>, session: &Session) -> Option<PathBuf> {
    match written {
        Some(written) => {
            let catalog = Catalog::naming(facts, written);
            let skill = usable_or_active(&catalog, written, session).ok();
            skill.map(|skill| skill.dir.clone())
        }
        None => session.latest().map(|active| PathBuf::from(&active.dir)),
    }
}

/// The activation of a skill.
pub fn activation(skill: &Skill) -> OurTool<'_> {
    OurTool::Skill {
        name: skill.name.as_str(),
        dir: &skill.dir,
    }
}

/// How to run the script instead.
pub fn advice(skill: &str, script: &Path) -> String {
    let script = script.display().to_string();
    let call = json!({"skill": skill, "script": script, "args": []});
    format!(
        "`{script}` is a script of the skill `{skill}`: run it with {} {call} instead of reading it",
        ours::RUN_SCRIPT
    )
}
