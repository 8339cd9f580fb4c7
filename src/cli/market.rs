//! The market as a command uses it: what the command line says, its deadline and its progress.

use std::io::IsTerminal;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::permitted::permitting;
use super::screen::is_dumb;
use crate::catalog::Layer;
use crate::error::Result;
use crate::host::Protocol;
use crate::marketplace::{Market, Permit};
use crate::run_context::RunContext;
use crate::skill::one_line;
use crate::sys::{Base, is_quiet, limits, process, progress, tell};

/// The market of the skills in `base`; `offline` uses only cached data.
pub fn market<'a>(ctx: &'a RunContext, base: &'a Base, offline: bool) -> Market<'a> {
    let deadline = || Instant::now() + Duration::from_secs(limits::HOST_CALL_SECONDS);
    Market {
        deadline: (ctx.protocol == Some(Protocol::Stdin)).then(deadline),
        offline,
        mirror: mirror(ctx),
        progress: watched(ctx),
        // What one command caches, another may install.
        permit: Rc::new(Permit::new(|_, _| Ok(()), limits_sources(ctx))),
        ..ctx.market_at(base)
    }
}

/// What shows progress, if a person watches at a terminal.
pub fn watched(ctx: &RunContext) -> Option<fn(&str)> {
    let steers = ctx.protocol.is_none() && !is_dumb(&ctx.env);
    let watched = steers && !is_quiet() && std::io::stderr().is_terminal();
    watched.then_some(progress)
}

/// As [`market`], for what is or may be installed in a layer: a source that a policy forbids there
/// is not even contacted.
///
/// # Errors
/// When a policy cannot be read.
pub fn market_for<'a>(
    ctx: &'a RunContext,
    base: &'a Base,
    offline: bool,
    layer: Layer,
) -> Result<Market<'a>> {
    if layer == Layer::Enterprise {
        // What root installs for everybody, everybody can read.
        process::write_for_all();
    }
    Ok(Market {
        permit: permitting(ctx, layer)?,
        ..market(ctx, base, offline)
    })
}

/// The mirror for GitHub from the environment; ignored if a policy limits the sources or cannot be
/// read.
fn mirror(ctx: &RunContext) -> Option<String> {
    let base = ctx.env.text("AGENT_SKILLS_GITHUB_BASE")?;
    if !limits_sources(ctx) {
        return Some(base);
    }
    note("AGENT_SKILLS_GITHUB_BASE is ignored: a policy says which sources there are");
    None
}

/// Whether a policy limits the sources, or cannot be read.
fn limits_sources(ctx: &RunContext) -> bool {
    let policies = ctx.policies();
    policies.map_or(true, |policies| policies.has_source_rules())
}

/// Tells a person what is happening.
pub fn note(text: &str) {
    tell(format_args!("agent-skills: {}\n", one_line(text)));
}
