//! What a call of a tool is for: which skill it activates, which of our own tools it is, and whether
//! it reads a script instead of running it. One parser for authorizing the call and for running it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::activation::meant_skill;
use crate::catalog::{
    Catalog, SKILL_TOOLS, count_offered, suggestion, tool_name, usable, usable_or_active,
};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::host::ours;
use crate::host::tools::{self, Argument, Effect};
use crate::permission::{Call, OurTool, Resolve, Scope, denied, looking};
use crate::policy::OnDisk;
use crate::protocol::{Activate, RunSkillScript, ToolCall, ToolUse, written_skill};
use crate::session::Session;
use crate::skill::{Runner, Skill};
use crate::sys::text::quoted;

/// A skill being called.
#[derive(Debug, Clone)]
pub struct Called {
    /// The skill as it is on disk now.
    pub skill: Skill,
    /// The name of its own tool, which a restriction may cover.
    pub tool: String,
    /// A name by which other tools find exactly this skill.
    pub reference: String,
    /// The input for the skill.
    pub arguments: Option<String>,
    /// Whether the tool belongs to us with the current skills: if there are few, `skill` may be
    /// another plugin's tool.
    pub is_listed: bool,
}

impl Called {
    /// A call of `skill`, written as `written` unless its own tool is called.
    pub fn new(
        catalog: &Catalog,
        skill: &Skill,
        written: Option<&str>,
        arguments: Option<String>,
    ) -> Self {
        let tool = tool_name(&skill.name);
        let is_first = catalog
            .by_tool(&tool)
            .is_some_and(|first| first.dir == skill.dir);
        Self {
            skill: skill.clone(),
            // By its plain name, another skill would be found.
            reference: written
                .filter(|_| !is_first)
                .unwrap_or(skill.name.as_str())
                .to_owned(),
            tool,
            arguments,
            is_listed: true,
        }
    }
}

/// The skill that a call of `tool` activates; `None` if it is not such a call of ours.
///
/// # Errors
/// If the call is ours but activates nothing; its tool reports the same.
pub fn called(facts: &Facts, tool: &str, arguments: &Value) -> Option<Result<Called>> {
    if !tool.starts_with(ours::SKILL) {
        return None;
    }
    let wanted = match ToolCall::parse(tool, Ok(arguments.clone())) {
        Ok(ToolCall::Activate(wanted)) => Ok(wanted),
        Ok(_) => return None,
        Err(_) if tool == ours::MARKETPLACE => return None,
        Err(error) => Err(error),
    };
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
pub fn resolve(facts: &Facts, wanted: Activate) -> Result<Called> {
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
        ours::SKILL => count_offered(facts) > SKILL_TOOLS,
        own => catalog.by_tool(own).is_some(),
    }
}

fn find(facts: &Facts, catalog: &Catalog, wanted: Activate) -> Result<Called> {
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
    Ok(Called {
        is_listed: is_listed(facts, catalog, &wanted.tool),
        ..Called::new(catalog, skill, written, wanted.arguments)
    })
}

/// The directory of the skill whose script a call runs, resolved as its tool resolves it: skills
/// may share a name, and a skill may have several spellings.
pub fn script_of(facts: &Facts, used: &ToolUse, session: &Session) -> Option<PathBuf> {
    if used.tool != ours::RUN_SCRIPT {
        return None;
    }
    skill_dir(facts, written_skill(&used.arguments), session)
}

/// The directory of the skill that a tool means by this name, or without one.
pub fn skill_dir(facts: &Facts, written: Option<&str>, session: &Session) -> Option<PathBuf> {
    match written {
        Some(written) => {
            let catalog = Catalog::naming(facts, written);
            usable_or_active(&catalog, written, session)
                .ok()
                .map(|skill| skill.dir.clone())
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

/// A call in the form that rules apply to: an activation counts as a call of the skill's own tool.
pub fn call_of<'a>(
    used: &'a ToolUse,
    called: Option<&'a Called>,
    script_of: Option<&'a Path>,
) -> Call<'a> {
    Call {
        tool: called.map_or(&used.tool, |called| &called.tool),
        arguments: &used.arguments,
        ours: match called {
            Some(called) => Some(activation(&called.skill)),
            None => our_tool(&used.tool, &used.arguments, script_of),
        },
        meant: &[],
    }
}

/// The same call under the name of the tool that is called, which may forward it.
pub fn handed_on<'a>(call: Call<'a>, used: &'a ToolUse) -> Call<'a> {
    Call {
        tool: &used.tool,
        ..call
    }
}

/// The same call under the name of the forwarding tool if that name is denied, else unchanged.
pub fn under_denied_name<'a>(scope: &Scope, call: Call<'a>, used: &'a ToolUse) -> Call<'a> {
    let forwarded = handed_on(call, used);
    if call.tool != used.tool && denied(scope, &forwarded, &OnDisk) {
        forwarded
    } else {
        call
    }
}

/// Which of our own tools a call is for, unless it activates a skill. Arguments are parsed as the
/// tool will parse them; a different reading could bypass the decision. `script_of` is the
/// directory of the skill whose script is to run.
pub fn our_tool<'a>(
    tool: &str,
    arguments: &'a Value,
    script_of: Option<&'a Path>,
) -> Option<OurTool<'a>> {
    let parsed = || ToolCall::parse(tool, Ok(arguments.clone())).ok();
    match tool {
        ours::DIRECT => Some(OurTool::Direct),
        ours::MARKETPLACE => Some(OurTool::Marketplace {
            action: match parsed() {
                Some(ToolCall::Command(words)) => words.first().and_then(|verb| looking(verb)),
                _ => None,
            },
        }),
        ours::READ_FILE => Some(OurTool::ReadSkillFile {
            skill: written_skill(arguments),
        }),
        ours::SESSION => Some(OurTool::Session),
        ours::PROPOSE => Some(OurTool::Propose { new: false }),
        ours::CREATE => Some(OurTool::Propose { new: true }),
        ours::RUN_SCRIPT => Some(match parsed() {
            Some(ToolCall::RunSkillScript(RunSkillScript::Job { .. })) => OurTool::Job,
            _ => OurTool::RunSkillScript { skill: script_of },
        }),
        _ => None,
    }
}

/// The advice if a call reads a script of the active skill; `None` for any other call.
pub fn script_read(facts: &Facts, session: &Session, used: &ToolUse) -> Option<String> {
    let active = session.latest()?;
    let text = |key: &str| used.arguments.get(key).and_then(Value::as_str);
    let dir = Path::new(&active.dir);
    let path = if used.tool == ours::READ_FILE {
        let means_it = |written| meant_skill(facts, Some(written)).is_ok_and(|it| it.dir == dir);
        let is_its = written_skill(&used.arguments).is_none_or(means_it);
        is_its.then(|| dir.join(text("path").unwrap_or_default()))?
    } else {
        let tool = tools::find(&used.tool).filter(|tool| tool.effect == Effect::Read)?;
        let key = tool.keys(&[Argument::Path]).next()?;
        facts.run.env.project_root().join(text(key)?)
    };
    let (real, dir) = (OnDisk.canonical(&path)?, OnDisk.canonical(dir)?);
    let inside = real.strip_prefix(&dir).ok()?;
    Runner::is_meant_at(&real).then(|| advice(&active.name, inside))
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
