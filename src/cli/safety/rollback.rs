//! `rollback`.

use crate::cli::prelude::*;

/// Restore the state before the last update or approved proposal
#[derive(Debug, clap::Args)]
pub struct RollbackArgs {
    /// The skills' names
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    #[command(flatten)]
    pub scope: LayerOption,
}

impl RollbackArgs {
    /// Restores the skills.
    pub fn run(&self, call: CliCall) -> Answer {
        Outcomes::of_each(call, &self.names, |name| self.roll_back(call, name))
    }

    fn roll_back(&self, call: CliCall, written: &str) -> Result<String> {
        let layer = layer_of(call, self.scope, "rollback", written)?;
        let market = market(call, layer, false);
        if let Ok(name) = market.installed(written) {
            permits_loss(call.facts, layer, &name)?;
        }
        let (name, entry) = market.rollback(written)?;
        let commit = entry.and_then(|entry| entry.commit);
        let at = commit.as_ref().map(|commit| format!(" at {commit}"));
        let (at, shown) = (at.unwrap_or_default(), listed_name(&name));
        if call.common.dry_run {
            return Ok(format!("would restore `{shown}`{at}\n"));
        }
        call.record("rollback", (&name, layer), [("commit", commit)]);
        let links = share_again(call, layer, &name);
        Ok(format!("`{shown}` was restored{at}\n{links}"))
    }
}
