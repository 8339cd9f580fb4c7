//! `remove`.

use crate::cli::layers::layer_of;
use crate::cli::market::market;
use crate::cli::options::{Common, Scope};
use crate::cli::outcome::Outcomes;
use crate::cli::{Caller, Failure};
use crate::error::Result;
use crate::marketplace::Market;
use crate::policy::Event;
use crate::run_context::RunContext;

/// Remove installed skills
#[derive(Debug, clap::Args)]
pub struct Remove {
    /// NAME, or OWNER/NAME
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    #[command(flatten)]
    pub scope: Scope,
}

impl Remove {
    /// Removes the skills.
    pub fn run(
        &self,
        ctx: &RunContext,
        common: Common,
        caller: Caller,
    ) -> std::result::Result<String, Failure> {
        Outcomes::of_each(common, caller, &self.names, |name| {
            self.remove(ctx, common, caller, name)
        })
    }

    fn remove(
        &self,
        ctx: &RunContext,
        common: Common,
        caller: Caller,
        written: &str,
    ) -> Result<String> {
        let layer = layer_of(ctx, caller, self.scope, "remove", written)?;
        let base = ctx.base(&ctx.layer_dir(layer));
        let market = Market {
            dry_run: common.dry_run,
            ..market(ctx, &base, false)
        };
        let (name, entry) = market.remove(written)?;
        if common.dry_run {
            return Ok(format!("would remove `{name}`\n"));
        }
        let event = Event::new("remove")
            .with("skill", &*name)
            .with("source", entry.map(|entry| entry.source))
            .with("layer", layer.as_str());
        ctx.record(event);
        Ok(format!("removed `{name}`\n"))
    }
}
