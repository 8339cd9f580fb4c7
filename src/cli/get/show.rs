//! `show`: the plan of an install.

use serde::Serialize;

use super::cat::text;
use crate::cli::describe::describe;
use crate::cli::market::{market, note};
use crate::cli::options::Common;
use crate::cli::outcome::look_at;
use crate::cli::{Caller, Failure};
use crate::marketplace::{As, InstallOptions};
use crate::run_context::RunContext;

/// Show a skill without installing it
#[derive(Debug, clap::Args)]
pub struct Show {
    /// owner/skill, owner/repo@skill, owner/repo/path, a URL, skill@source, or ./directory
    #[arg(required = true, value_name = "REFERENCE")]
    pub references: Vec<String>,
    /// How to interpret the reference
    #[arg(long, value_enum)]
    pub reading: Option<As>,
    /// Print this file of it
    #[arg(long, value_name = "PATH")]
    pub file: Option<String>,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
}

impl Show {
    /// Describes what would be installed.
    pub fn run(&self, ctx: &RunContext, common: Common, caller: Caller) -> Result<String, Failure> {
        let options = InstallOptions {
            reading: self.reading,
            ..InstallOptions::default()
        };
        let base = ctx.base(&ctx.dirs.plugin);
        let market = market(ctx, &base, self.offline);
        if let Some(path) = &self.file {
            let read = |reference: &str| {
                let bytes = market.cat(reference, path, &options, &mut note)?;
                let text = text(path, &bytes)?;
                let reference = reference.to_owned();
                Ok(FileOf {
                    reference,
                    path,
                    text,
                })
            };
            let shown = |file: &FileOf| file.text.clone();
            return look_at(common, caller, &self.references, "files", read, shown);
        }
        let plan = |reference: &str| market.show(reference, &options, &mut note);
        look_at(common, caller, &self.references, "plans", plan, describe)
    }
}

#[derive(Serialize)]
struct FileOf<'p> {
    reference: String,
    path: &'p str,
    text: String,
}
