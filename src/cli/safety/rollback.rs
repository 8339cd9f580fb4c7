//! `rollback`.

use crate::cli::market::market;
use crate::cli::options::Scope;
use crate::error::Result;
use crate::policy::Event;
use crate::run_context::RunContext;

/// Restore the state before the last update or approved proposal
#[derive(Debug, clap::Args)]
pub struct Rollback {
    /// The skill's name
    pub name: String,
    #[command(flatten)]
    pub scope: Scope,
}

impl Rollback {
    /// Restores the skill.
    pub fn run(&self, ctx: &RunContext) -> Result<String> {
        let (name, entry) = market(ctx, &self.scope.base(ctx), false).rollback(&self.name)?;
        let commit = entry.and_then(|entry| entry.commit);
        let at = commit.as_ref().map(|commit| format!(" at {commit}"));
        let event = Event::new("rollback")
            .with("skill", &*name)
            .with("commit", commit)
            .with("layer", self.scope.layer().as_str());
        ctx.record(event);
        Ok(format!("`{name}` was restored{}\n", at.unwrap_or_default()))
    }
}
