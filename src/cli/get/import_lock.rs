//! `import-lock`: installs the skills of a foreign lockfile.

use std::path::PathBuf;

use super::install::{is_new, told};
use super::next::what_next;
use crate::cli::agents::share;
use crate::cli::market::{market_for, note};
use crate::cli::options::{Common, Findings, Scope};
use crate::cli::outcome::Outcomes;
use crate::cli::permitted::deciding;
use crate::cli::{Answer, Caller};
use crate::run_context::RunContext;
use crate::skill::one_line;

/// Install the skills in another program's lock file
#[derive(Debug, clap::Args)]
pub struct ImportLock {
    /// skills-lock.json, .skill-lock.json, .openskills.json, or a directory of skills with them
    #[arg(default_value = ".")]
    pub path: PathBuf,
    #[command(flatten)]
    pub findings: Findings,
    #[command(flatten)]
    pub scope: Scope,
}

impl ImportLock {
    /// Installs each skill; a failure if one was left out.
    pub fn run(&self, ctx: &RunContext, common: Common, caller: Caller) -> Answer {
        let layer = self.scope.layer();
        let given = (common, self.findings);
        let mut confirm = deciding(ctx, caller, given, layer, ("import-lock", None))?;
        let base = self.scope.base(ctx);
        let market = market_for(ctx, &base, false, layer)?.dry(common.dry_run);
        let mut outcomes = Outcomes::new(common, caller);
        let mut new = Vec::new();
        for one in market.import_lock(&self.path, &mut confirm, &mut note)? {
            let told = one.outcome.and_then(|installed| {
                let mut told = told(ctx, common, &installed, layer)?;
                share(ctx, common, (layer, &[]), &installed, &mut told)?;
                Ok((told, installed))
            });
            match told {
                Ok((told, installed)) => {
                    for (name, text) in told {
                        outcomes.push(&name, Ok(text));
                    }
                    new.extend(installed.into_iter().filter(is_new));
                }
                Err(error) => {
                    let left_out = format!("`{}` was left out", one_line(&one.name));
                    outcomes.push(&one.name, Err(error.context(left_out)));
                }
            }
        }
        outcomes.then(what_next(ctx, &new, layer, caller));
        outcomes.answer()
    }
}
