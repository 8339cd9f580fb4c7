//! The installed skills that an agent finds once it is connected, and no longer after that: the links
//! that `install` makes for agents that are connected already.

use crate::catalog::{Layer, market_at};
use crate::cli::agents::{connected, line, lines};
use crate::error::Result;
use crate::facts::Facts;
use crate::host::agent::Agent;
use crate::marketplace::listed_name;
use crate::sharing::{For, Link, Outcome, Shared};
use crate::sys::EntryName;
use crate::sys::text::count;

/// The layers whose skills are this user's.
const OWN: [Layer; 2] = [Layer::Plugin, Layer::Personal];

/// Has the agent find what is installed in these layers; returns each link that was made, or something
/// else in its place. A dry run makes none.
fn share(
    facts: &Facts,
    agent: Agent,
    layers: &[Layer],
    dry_run: bool,
) -> Result<Vec<(Link, Outcome)>> {
    let mut done = Vec::new();
    for layer in layers {
        let base = layer.base(facts);
        let Some(shared) = Shared::of(facts, *layer) else {
            continue;
        };
        for entry in market_at(facts, &base).entries()? {
            let directory = entry.name.entry();
            if let Some(name) = EntryName::parse(listed_name(&entry.name))
                && shared.has(directory)
            {
                done.extend(shared.share(
                    directory,
                    &name,
                    (&[agent], For::Connection),
                    dry_run,
                )?);
            }
        }
    }
    done.retain(|(_, outcome)| *outcome != Outcome::There);
    Ok(done)
}

/// What the agent would find, a line each; empty if it finds all.
pub fn unfound(facts: &Facts, agent: Agent) -> Result<String> {
    let links = share(facts, agent, &OWN, true)?;
    Ok(links.iter().map(|it| line(it, "would be ")).collect())
}

/// Has it find them, and says so.
pub fn find(facts: &Facts, agent: Agent) -> Result<String> {
    let links = share(facts, agent, &OWN, false)?;
    Ok(links.iter().map(|it| line(it, "")).collect())
}

/// How the agent gets to find the project's installed skills, whose links are part of the project;
/// empty if it does.
pub fn of_project(facts: &Facts, agent: Agent) -> Result<String> {
    let links = share(facts, agent, &[Layer::Project], true)?;
    if links.is_empty() {
        return Ok(String::new());
    }
    Ok(format!(
        "Next: `agent-skills install --layer project --for {agent}` has it find the project's skills.\n"
    ))
}

/// The links that go with the connection, as [`find`] made them, a line each: none that another
/// connected agent needs.
pub fn lose(facts: &Facts, agent: Agent, dry_run: bool) -> Result<String> {
    let mut others = connected(&facts.run);
    others.retain(|other| *other != agent);
    let mut text = String::new();
    for shared in OWN.iter().filter_map(|layer| Shared::of(facts, *layer)) {
        text += &lines(&shared.disconnect(agent, &others, dry_run)?, dry_run);
    }
    Ok(text)
}

/// What the agent still finds although nothing restricts it there any more; empty if nothing.
pub fn kept(facts: &Facts, agent: Agent) -> String {
    let all = OWN.iter().filter_map(|layer| Shared::of(facts, *layer));
    let links = all.flat_map(|shared| shared.all().collect::<Vec<_>>());
    match links
        .filter(|(_, link)| link.agents.contains(&agent))
        .count()
    {
        0 => String::new(),
        links => format!(
            "Note: {agent} still finds skills by {} that `install` made; nothing restricts them there \
             now.\n",
            count(links, "link")
        ),
    }
}
