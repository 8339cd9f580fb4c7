//! `remove`.

use crate::cli::market::market;
use crate::cli::options::Scope;
use crate::error::Result;
use crate::policy::Event;
use crate::run_context::RunContext;

/// Remove an installed skill
#[derive(Debug, clap::Args)]
pub struct Remove {
    /// NAME, or OWNER/NAME
    pub name: String,
    #[command(flatten)]
    pub scope: Scope,
}

impl Remove {
    /// Removes one skill.
    pub fn run(&self, ctx: &RunContext) -> Result<String> {
        let (name, entry) = market(ctx, &self.scope.base(ctx), false).remove(&self.name)?;
        let event = Event::new("remove")
            .with("skill", &*name)
            .with("source", entry.map(|entry| entry.source))
            .with("layer", self.scope.layer().as_str());
        ctx.record(event);
        Ok(format!("removed `{name}`\n"))
    }
}
