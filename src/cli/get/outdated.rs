//! `update --check`, earlier `outdated`: what `update` would change.

use super::update::{Update, unless_failed, what_changed};
use crate::cli::market::market_for;
use crate::cli::options::Scope;
use crate::cli::{Caller, Failure, json};
use crate::marketplace::{Change, UpdateOptions, Updated};
use crate::run_context::RunContext;
use crate::skill::one_line;

/// List installed skills that have a newer version
#[derive(Debug, clap::Args)]
pub struct Outdated {
    /// Names of skills; all if omitted
    pub names: Vec<String>,
    #[command(flatten)]
    pub scope: Scope,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Outdated {
    /// What `update --check` asks for.
    pub fn of(update: Update) -> Self {
        Self {
            names: update.names,
            scope: update.scope,
            json: update.json,
        }
    }

    /// Reports newer versions; a failure if a source could not be examined.
    pub fn run(&self, ctx: &RunContext, caller: Caller) -> Result<String, Failure> {
        let options = UpdateOptions {
            dry_run: true,
            ..UpdateOptions::default()
        };
        let base = self.scope.base(ctx);
        let market = market_for(ctx, &base, false, self.scope.layer())?;
        let mut updated = market.update(&self.names, options, &mut |_| Ok(false))?;
        updated.retain(|one| {
            !matches!(one.change, Change::UpToDate | Change::Linked) || !one.newer_tags.is_empty()
        });
        if self.json {
            let is_failed = |one: &Updated| matches!(one.change, Change::Failed { .. });
            let failed = updated.iter().any(is_failed);
            return Failure::unless(!failed, json::list("skills", &updated)?);
        }
        if updated.is_empty() {
            return Ok("Everything is up to date.\n".to_owned());
        }
        let with_tags = |one: &Updated| what_changed(one) + &later_tags(one);
        unless_failed(&updated, updated.iter().map(with_tags).collect(), caller)
    }
}

/// The later versions available for a skill pinned to a tag.
fn later_tags(skill: &Updated) -> String {
    if skill.newer_tags.is_empty() {
        return String::new();
    }
    let tags = one_line(&skill.newer_tags.join(", "));
    format!("    it stays at its tag; there are later ones: {tags} (`install REF#TAG` switches)\n")
}
