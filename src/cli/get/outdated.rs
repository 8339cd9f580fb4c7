//! `update --check`, earlier `outdated`: what `update` would change.

use super::update::{Update, changed};
use crate::cli::layers::layers_of;
use crate::cli::market::market_for;
use crate::cli::options::{Common, Scope};
use crate::cli::outcome::Outcomes;
use crate::cli::tool_names::ToolNames;
use crate::cli::{Answer, Caller, Failure, json};
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
}

impl Outdated {
    /// What `update --check` asks for.
    pub fn of(update: Update) -> Self {
        Self {
            names: update.names,
            scope: update.scope,
        }
    }

    /// Reports newer versions; a failure if a source could not be examined.
    pub fn run(&self, ctx: &RunContext, common: Common, caller: Caller) -> Answer {
        let mut updated = Vec::new();
        for (layer, names) in layers_of(ctx, caller, self.scope, "update", &self.names)? {
            let base = ctx.base(&ctx.layer_dir(layer));
            let market = market_for(ctx, &base, false, layer)?.dry(true);
            let options = UpdateOptions::default();
            updated.extend(market.update(&names, options, &mut |_| Ok(false))?);
        }
        updated.retain(|one| {
            !matches!(one.change, Change::UpToDate | Change::Linked) || !one.newer_tags.is_empty()
        });
        if common.json {
            let is_failed = |one: &Updated| matches!(one.change, Change::Failed { .. });
            let failed = updated.iter().any(is_failed);
            return Failure::unless(!failed, json::list("skills", &updated)?);
        }
        if updated.is_empty() {
            return Ok("Everything is up to date.\n".to_owned());
        }
        // What is asked for is not suppressed.
        let common = Common {
            quiet: false,
            ..common
        };
        let mut outcomes = Outcomes::new(common, caller);
        let names = ToolNames::of(ctx);
        for one in &updated {
            outcomes.push(
                &one.name,
                changed(one, names).map(|text| text + &later_tags(one)),
            );
        }
        outcomes.answer()
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
