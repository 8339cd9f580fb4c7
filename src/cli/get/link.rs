//! `link`: installs a link to a skill's working copy.

use std::path::PathBuf;

use crate::cli::market::market;
use crate::cli::options::Scope;
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
    pub fn run(&self, ctx: &RunContext) -> Result<String> {
        let base = self.scope.base(ctx);
        let linked = market(ctx, &base, false).link(&self.dir, self.name.as_deref())?;
        let to = one_line(&linked.source.unwrap_or_default());
        Ok(format!("`{}` is linked to {to}\n", linked.name))
    }
}
