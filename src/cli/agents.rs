//! What the commands for skills say and do about other agents: which of them find a skill.

use crate::cli::prelude::*;
use crate::connection::Connections;
use crate::marketplace::{InstallStatus, InstalledSkill};
use crate::sharing::{Link, LinkOutcome, SharedSkills};

/// An agent that finds a skill, in the format that `--json` documents.
#[derive(Debug, Serialize)]
pub struct AgentLink {
    /// The agent.
    pub agent: &'static str,
    /// The link by which it finds the skill, or the skill's directory if that is the agent's own.
    pub link: String,
}

/// The agents that find the skill in this directory by our links.
pub fn agents_finding(links: &BTreeMap<PathBuf, Vec<Link>>, skill: &Path) -> Vec<AgentLink> {
    let each = links.get(skill).into_iter().flatten().flat_map(|link| {
        link.agents.iter().map(|agent| AgentLink {
            agent: agent.as_str(),
            link: link.path.display().to_string(),
        })
    });
    each.collect()
}

/// Their names, each once.
pub fn agent_names(found: &[AgentLink]) -> String {
    let mut names: Vec<&str> = found.iter().map(|finds| finds.agent).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

/// Whether what is said to people is about chibi: it has this program or is on PATH, or no other agent
/// is connected.
pub fn has_chibi(run: &RunContext) -> bool {
    let is_there = || {
        let program = run.dirs.plugin.join("agent-skills");
        program.is_file() || find_program(PROGRAM, &run.env).is_some()
    };
    let only_others = run.dirs.is_without_chibi(&run.env);
    let is_called = run.protocol.is_some();
    is_called || !only_others && (is_there() || connected(run).is_empty())
}

/// The connected agents.
pub fn connected(run: &RunContext) -> Vec<Agent> {
    let connector = Connections::of(run);
    let is_connected = |agent: &Agent| connector.found(*agent).iter().any(|it| it.is_connected);
    Agent::ALL.into_iter().filter(is_connected).collect()
}

/// Has agents find what was installed, and adds to what is told of each skill. If none is given, the
/// connected ones.
///
/// # Errors
/// When agents were given and this layer's skills are not for them.
pub fn share(
    call: CliCall,
    (layer, given): (Layer, &[Agent]),
    told: &mut [(InstalledSkill, String)],
) -> Result<()> {
    let Some(shared) = SharedSkills::of(call.facts, layer) else {
        if given.is_empty() {
            return Ok(());
        }
        let text = "an administrator's skills are linked for no agent";
        return Err(Error::new(text).hint("leave out `--for`, or choose another `--layer`"));
    };
    let agents = match given {
        [] => connected(&call.facts.run),
        given => given.to_vec(),
    };
    for (skill, text) in told {
        if call.common.dry_run || skill.status != InstallStatus::Declined {
            *text += &share_one(&shared, &skill.name, &agents, call.common.dry_run);
        }
    }
    Ok(())
}

/// A failure is a remark: the skill is installed, or removed.
fn failure_note(error: &Error) -> String {
    format!("  note: {}\n", one_line(&error.to_string()))
}

/// Has these agents find the skill of this name, and says what became of the links to it.
fn share_one(shared: &SharedSkills, name: &str, agents: &[Agent], dry_run: bool) -> String {
    let names = EntryName::parse(name).zip(EntryName::parse(listed_name(name)));
    let done = names.map_or(Ok(Vec::new()), |(directory, listed)| {
        shared.share(&directory, &listed, agents, dry_run)
    });
    let said = done.map(|links| links.iter().map(|it| link_line(it, dry_run)).collect());
    said.unwrap_or_else(|error| failure_note(&error))
}

/// What became of a link, or would, as a line; empty if it was there.
pub fn link_line((link, outcome): &(Link, LinkOutcome), dry_run: bool) -> String {
    let (agents, path) = (joined(link), one_line(&link.path.display().to_string()));
    let would = if dry_run { "would be " } else { "" };
    let s = if link.agents.len() == 1 { "s" } else { "" };
    match outcome {
        LinkOutcome::Made => format!("  {would}found by {agents}: {path}\n"),
        LinkOutcome::There => String::new(),
        LinkOutcome::Foreign => format!(
            "  note: {agents} find{s} something else at {path}, which stays; move it away and install \
             the skill again\n"
        ),
    }
}

/// The links that were removed, a line each.
pub fn removed_links(removed: &[Link], dry_run: bool) -> String {
    let would = if dry_run { "would be " } else { "" };
    let each = removed.iter().map(|link| {
        let path = one_line(&link.path.display().to_string());
        format!("  {would}no longer found by {}: {path}\n", joined(link))
    });
    each.collect()
}

/// Removes the links to a skill that was removed, and says so.
pub fn withdraw(call: CliCall, layer: Layer, name: &InstalledName) -> String {
    let withdrawn = SharedSkills::of(call.facts, layer)
        .map(|it| it.withdraw(name.entry(), call.common.dry_run));
    let links = withdrawn.unwrap_or(Ok(Vec::new()));
    let said = links.map(|links| removed_links(&links, call.common.dry_run));
    said.unwrap_or_else(|error| failure_note(&error))
}

/// Has the connected agents find a skill that was restored, and says so.
pub fn share_again(call: CliCall, layer: Layer, name: &InstalledName) -> String {
    let agents = connected(&call.facts.run);
    let shared = SharedSkills::of(call.facts, layer);
    shared.map_or_else(String::new, |it| share_one(&it, name, &agents, false))
}

/// Has agents find what is installed in a layer: each link with what became of it, or would.
///
/// # Errors
/// When the lockfile cannot be read, or a link cannot be made.
pub fn share_installed(
    facts: &Facts,
    layer: Layer,
    agents: &[Agent],
    dry_run: bool,
) -> Result<Vec<(Link, LinkOutcome)>> {
    let base = layer.base(facts);
    let (Some(shared), false) = (SharedSkills::of(facts, layer), agents.is_empty()) else {
        return Ok(Vec::new());
    };
    let mut done = Vec::new();
    for entry in market_at(facts, &base).entries()? {
        let directory = entry.name.entry();
        if let Some(name) = EntryName::parse(listed_name(&entry.name))
            && shared.has(directory)
        {
            done.extend(shared.share(directory, &name, agents, dry_run)?);
        }
    }
    Ok(done)
}

/// The agents that look where this link is.
pub fn joined(link: &Link) -> String {
    let names: Vec<&str> = link.agents.iter().map(|agent| agent.as_str()).collect();
    names.join(", ")
}
