//! What the commands for skills say and do about other agents: which of them find a skill.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::options::Common;
use crate::catalog::Layer;
use crate::error::{Error, Result};
use crate::host::agent::Agent;
use crate::marketplace::{Installed, InstalledName, Status, listed_name};
use crate::run_context::RunContext;
use crate::sharing::{Fault, Link, Links, Outcome, Shared};
use crate::skill::one_line;
use crate::sys::EntryName;

/// An agent that finds a skill, in the format that `--json` documents.
#[derive(Debug, Serialize)]
pub struct Finds {
    /// The agent.
    agent: &'static str,
    /// The link by which it finds the skill.
    link: String,
}

/// The agents that find the skill in this directory by our links.
pub fn finding(ctx: &RunContext, skill: &Path) -> Vec<Finds> {
    let links = Links::of(ctx);
    let each = links.to(skill).iter().flat_map(|link| {
        link.agents.iter().map(|agent| Finds {
            agent: agent.as_str(),
            link: link.path.display().to_string(),
        })
    });
    each.collect()
}

/// Their names, each once.
pub fn names(found: &[Finds]) -> String {
    let mut names: Vec<&str> = found.iter().map(|finds| finds.agent).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

/// Has the agents find what was installed, and adds to what is told of each skill.
///
/// # Errors
/// When agents were named and this layer's skills are not for them.
pub fn share(
    ctx: &RunContext,
    common: Common,
    (layer, agents): (Layer, &[Agent]),
    installed: &[Installed],
    told: &mut [(String, String)],
) -> Result<()> {
    if agents.is_empty() {
        return Ok(());
    }
    let Some(shared) = Shared::of(ctx, layer) else {
        let text = "an administrator's skills are linked for no agent";
        return Err(Error::new(text).hint("leave out `--for`, or choose another `--layer`"));
    };
    for (name, text) in told {
        let is_there = |one: &&Installed| {
            one.name == *name && (common.dry_run || one.status != Status::Declined)
        };
        let Some(skill) = installed.iter().find(is_there) else {
            continue;
        };
        *text += &share_one(&shared, common, skill, agents);
    }
    Ok(())
}

/// What became of the links to one skill. A failure is a remark: the skill is installed.
fn share_one(shared: &Shared, common: Common, skill: &Installed, agents: &[Agent]) -> String {
    let names = EntryName::parse(&skill.name).zip(EntryName::parse(listed_name(&skill.name)));
    let Some((directory, name)) = names else {
        return String::new();
    };
    let done = match shared.share(&directory, &name, agents, common.dry_run) {
        Ok(done) => done,
        Err(error) => return format!("  note: {}\n", one_line(&error.to_string())),
    };
    let mut text = String::new();
    let would = if common.dry_run { "would be " } else { "" };
    for (link, outcome) in done {
        let (agents, path) = (joined(&link), one_line(&link.path.display().to_string()));
        let _ = match outcome {
            Outcome::Made => writeln!(text, "  {would}found by {agents}: {path}"),
            Outcome::There => Ok(()),
            Outcome::Foreign => writeln!(
                text,
                "  note: {agents} {} something else at {path}, which stays; move it away and install \
                 the skill again",
                if link.agents.len() == 1 {
                    "finds"
                } else {
                    "find"
                },
            ),
        };
    }
    text
}

/// Removes the links to a skill that was removed, and says so.
pub fn withdraw(ctx: &RunContext, common: Common, layer: Layer, name: &InstalledName) -> String {
    let withdrawn = Shared::of(ctx, layer).map(|it| it.withdraw(name.entry(), common.dry_run));
    let withdrawn = match withdrawn.transpose() {
        Ok(links) => links.unwrap_or_default(),
        Err(error) => return format!("  note: {}\n", one_line(&error.to_string())),
    };
    let would = if common.dry_run { "would be " } else { "" };
    let each = withdrawn.iter().map(|link| {
        let path = one_line(&link.path.display().to_string());
        format!("  {would}no longer found by {}: {path}\n", joined(link))
    });
    each.collect()
}

fn joined(link: &Link) -> String {
    let names: Vec<&str> = link.agents.iter().map(|agent| agent.as_str()).collect();
    names.join(", ")
}

/// What is wrong with a link, and the next step.
pub fn fault(link: &Link, skill: &Path, fault: Fault) -> (String, &'static str) {
    let (path, agents) = (link.path.display(), joined(link));
    let name = skill.file_name().unwrap_or_default().to_string_lossy();
    let name = listed_name(&name);
    match fault {
        Fault::Missing => (
            format!("`{path}` is gone, by which {agents} found `{name}`"),
            "`agent-skills doctor --fix` makes the link again; to have it no more, `remove` and \
             install the skill",
        ),
        Fault::Replaced => (
            format!("something else is at `{path}`, where {agents} found `{name}`"),
            "move it away, then `agent-skills doctor --fix` makes the link again",
        ),
        Fault::Dangling => (
            format!("`{path}` leads to `{name}`, which is not installed any more"),
            "`agent-skills doctor --fix` removes the link",
        ),
    }
}
