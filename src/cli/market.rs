//! The market as a command uses it: what the command line says, its deadline and its progress.

use crate::cli::prelude::*;
use std::time::{Duration, Instant};

use crate::marketplace::Permit;
use crate::sys::{is_quiet, process, progress};

/// The market of the skills in a layer, in which a dry run changes nothing; `offline` uses only cached
/// data.
pub fn market(call: CliCall, layer: Layer, offline: bool) -> Market {
    let facts = call.facts;
    // The few that a command needs last as long as it does.
    let base = Box::leak(Box::new(layer.base(facts)));
    let deadline = || Instant::now() + Duration::from_secs(limits::HOST_CALL_SECONDS);
    Market {
        deadline: (facts.run.protocol == Some(Protocol::Stdin)).then(deadline),
        offline,
        mirror: mirror(facts),
        progress: watched(&facts.run),
        // What one command caches, another may install.
        permit: Rc::new(Permit::new(|_, _| Ok(()), limits_sources(facts))),
        dry_run: call.common.dry_run,
        ..market_at(facts, base)
    }
}

/// What shows progress, if a person watches at a terminal.
pub fn watched(run: &RunContext) -> Option<fn(&str)> {
    let steers = run.protocol.is_none() && !is_dumb(&run.env);
    let watched = steers && !is_quiet() && std::io::stderr().is_terminal();
    watched.then_some(progress)
}

/// As [`market`], for what is or may be installed in a layer: a source that a policy forbids there
/// is not even contacted.
///
/// # Errors
/// When a policy cannot be read.
pub fn market_for(call: CliCall, layer: Layer, offline: bool) -> Result<Market> {
    if layer == Layer::Enterprise {
        // What root installs for everybody, everybody can read.
        process::write_for_all();
    }
    Ok(Market {
        permit: source_permit(call.facts, layer, "installed")?,
        ..market(call, layer, offline)
    })
}

/// The mirror for GitHub from the environment; ignored if a policy limits the sources or cannot be
/// read.
fn mirror(facts: &Facts) -> Option<String> {
    let base = facts.run.env.text("AGENT_SKILLS_GITHUB_BASE")?;
    if !limits_sources(facts) {
        return Some(base);
    }
    note("AGENT_SKILLS_GITHUB_BASE is ignored: a policy limits the sources");
    None
}

/// Whether a policy limits the sources, or cannot be read.
fn limits_sources(facts: &Facts) -> bool {
    let policies = facts.policies();
    policies.map_or(true, |policies| policies.has_source_rules())
}

/// Tells a person what is happening.
pub fn note(text: &str) {
    tell(format_args!("agent-skills: {}\n", one_line(text)));
}
