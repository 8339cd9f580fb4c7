//! The market as one command uses it: its layer, whether offline, and its deadline.

use std::time::{Duration, Instant};

use super::options::Scope;
use crate::catalog::Layer;
use crate::host::Protocol;
use crate::marketplace::Market;
use crate::run_context::RunContext;
use crate::skill::one_line;
use crate::sys::{Base, limits, progress, warn};

/// Where this command installs skills.
#[derive(Debug)]
pub struct Shop {
    base: Base,
    offline: bool,
}

impl Shop {
    /// The market of a layer.
    pub fn new(ctx: &RunContext, scope: Scope) -> Self {
        Self::of_layer(ctx, scope.layer())
    }

    /// The user's plugin directory.
    pub fn of_user(ctx: &RunContext) -> Self {
        Self::of_layer(ctx, Layer::Plugin)
    }

    /// The project's `.chibi`.
    pub fn of_project(ctx: &RunContext) -> Self {
        Self::of_layer(ctx, Layer::Project)
    }

    fn of_layer(ctx: &RunContext, layer: Layer) -> Self {
        let (base, offline) = (ctx.base(&ctx.layer_dir(layer)), false);
        Self { base, offline }
    }

    /// The same market; `offline` uses only cached data.
    #[must_use]
    pub fn offline(mut self, offline: bool) -> Self {
        self.offline = offline;
        self
    }

    /// The market there.
    pub fn market<'a>(&'a self, ctx: &'a RunContext) -> Market<'a> {
        use std::io::IsTerminal;
        let waits = || Instant::now() + Duration::from_secs(limits::HOST_CALL_SECONDS);
        let steers = ctx.env.text("TERM").as_deref() != Some("dumb");
        let watched = ctx.protocol.is_none() && steers && std::io::stderr().is_terminal();
        Market {
            plugin_dir: &self.base,
            home: &ctx.dirs.plugin,
            env: &ctx.env,
            deadline: (ctx.protocol == Some(Protocol::Stdin)).then(waits),
            offline: self.offline,
            mirror: mirror(ctx),
            progress: watched.then_some(progress),
        }
    }
}

/// The mirror for GitHub from the environment; ignored if a policy limits the sources or cannot be
/// read.
fn mirror(ctx: &RunContext) -> Option<String> {
    let base = ctx.env.text("AGENT_SKILLS_GITHUB_BASE")?;
    if ctx
        .policies()
        .is_ok_and(|policies| !policies.judges_sources())
    {
        return Some(base);
    }
    note("AGENT_SKILLS_GITHUB_BASE is ignored: a policy says which sources there are");
    None
}

/// Tells a person what is happening.
pub fn note(text: &str) {
    warn(format_args!("{}", one_line(text)));
}
