//! `show`: the plan of an install.

use super::cat::text;
use crate::cli::describe::describe;
use crate::cli::json;
use crate::cli::market::{market, note};
use crate::error::Result;
use crate::marketplace::{As, InstallOptions};
use crate::run_context::RunContext;

/// Show a skill without installing it
#[derive(Debug, clap::Args)]
pub struct Show {
    /// owner/skill, owner/repo@skill, owner/repo/path, a URL, skill@source, or ./directory
    pub reference: String,
    /// How to interpret the reference
    #[arg(long, value_enum)]
    pub reading: Option<As>,
    /// Print this file of it
    #[arg(long, value_name = "PATH", conflicts_with = "json")]
    pub file: Option<String>,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Show {
    /// Describes what would be installed.
    pub fn run(&self, ctx: &RunContext) -> Result<String> {
        let options = InstallOptions {
            reading: self.reading,
            ..InstallOptions::default()
        };
        let base = ctx.base(&ctx.dirs.plugin);
        if let Some(path) = &self.file {
            let bytes =
                market(ctx, &base, self.offline).cat(&self.reference, path, &options, &mut note)?;
            return text(path, &bytes);
        }
        let plan = market(ctx, &base, self.offline).show(&self.reference, &options, &mut note)?;
        if self.json {
            return json::one(&plan);
        }
        Ok(describe(&plan))
    }
}
