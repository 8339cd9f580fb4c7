//! `link`: installs a link to a skill's working copy.

use std::path::PathBuf;

use crate::cli::market::market;
use crate::cli::options::{Common, Scope};
use crate::cli::outcome::Outcomes;
use crate::cli::{Answer, Caller};
use crate::error::Result;
use crate::run_context::RunContext;
use crate::skill::one_line;

/// Link to a skill's working copy, for its author
#[derive(Debug, clap::Args)]
pub struct Link {
    /// The directory with SKILL.md
    pub dir: PathBuf,
    /// The name to install it under
    #[arg(long)]
    pub name: Option<String>,
    #[command(flatten)]
    pub scope: Scope,
}

impl Link {
    /// Links the skill in the directory.
    pub fn run(&self, ctx: &RunContext, common: Common, caller: Caller) -> Answer {
        let name = self.dir.display().to_string();
        Outcomes::of_one(common, caller, &name, self.link(ctx, common))
    }

    fn link(&self, ctx: &RunContext, common: Common) -> Result<String> {
        let base = self.scope.base(ctx);
        let market = market(ctx, &base, false).dry(common.dry_run);
        let linked = market.link(&self.dir, self.name.as_deref())?;
        let to = one_line(&linked.source.unwrap_or_default());
        let would = if common.dry_run { "would be" } else { "is" };
        Ok(format!("`{}` {would} linked to {to}\n", linked.name))
    }
}
