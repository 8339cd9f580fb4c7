//! `source`: the places where skills are looked for.

use std::fmt::Write as _;

use clap::Subcommand;

use crate::cli::market::market;
use crate::cli::{Failure, json};
use crate::run_context::RunContext;
use crate::skill::one_line;
use crate::sys::text;

/// Configure where skills are looked for
#[derive(Debug, Subcommand)]
pub enum Sources {
    /// Add a repository, a directory, a site or the address of a marketplace.json
    Add {
        /// Its address or path
        reference: String,
        /// The name after `@` in SKILL@SOURCE
        #[arg(long)]
        name: Option<String>,
    },
    /// Remove a source; what was installed from it stays
    Remove {
        /// Its name
        name: String,
    },
    /// List the sources
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Fetch the current list of every source
    Update,
}

impl Sources {
    /// Changes or lists the sources; a failure if one could not be updated.
    pub fn run(&self, ctx: &RunContext) -> Result<String, Failure> {
        let base = ctx.base(&ctx.dirs.plugin);
        let market = market(ctx, &base, false);
        let (mut text, mut all) = (String::new(), true);
        match self {
            Self::Add { reference, name } => {
                let (source, count) = market.add_source(reference, name.as_deref())?;
                let skills = text::count(count, "skill");
                let _ = writeln!(text, "added `{}`, which has {skills}", source.name);
            }
            Self::Remove { name } => {
                market.remove_source(name)?;
                let name = one_line(name);
                let _ = writeln!(
                    text,
                    "removed the source `{name}`; what was installed from it stays"
                );
            }
            Self::List { json: true } => text = json::list("sources", &market.sources()?)?,
            Self::List { json: false } => {
                for source in market.sources()? {
                    let (name, reference) = (one_line(&source.name), one_line(&source.reference));
                    let _ = writeln!(text, "{name}  {reference}");
                }
            }
            Self::Update => {
                for (source, asked) in market.update_sources()? {
                    let name = one_line(&source.name);
                    all &= asked.is_ok();
                    let _ = match asked {
                        Ok(count) => writeln!(text, "`{name}` has {}", text::count(count, "skill")),
                        Err(error) => {
                            let why = one_line(&error.to_string());
                            writeln!(text, "`{name}` was left as it was: {why}")
                        }
                    };
                }
            }
        }
        Failure::unless(all, text)
    }
}
