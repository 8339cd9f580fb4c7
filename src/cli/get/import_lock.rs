//! `import-lock`: installs the skills of a foreign lockfile.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::install::outcome;
use crate::cli::describe::with_hint;
use crate::cli::market::{market_for, note};
use crate::cli::options::{Consent, Scope};
use crate::cli::permitted::deciding;
use crate::cli::{Caller, Failure};
use crate::run_context::RunContext;
use crate::skill::one_line;

/// Install the skills in another program's lock file
#[derive(Debug, clap::Args)]
pub struct ImportLock {
    /// skills-lock.json, .skill-lock.json, .openskills.json, or a directory of skills with them
    #[arg(default_value = ".")]
    pub path: PathBuf,
    #[command(flatten)]
    pub consent: Consent,
    #[command(flatten)]
    pub scope: Scope,
}

impl ImportLock {
    /// Installs each skill; a failure if one was left out.
    pub fn run(&self, ctx: &RunContext, caller: Caller) -> Result<String, Failure> {
        let layer = self.scope.layer();
        let mut confirm = deciding(ctx, caller, self.consent, layer, "import-lock")?;
        let base = self.scope.base(ctx);
        let market = market_for(ctx, &base, false, layer)?;
        let imported = market.import_lock(&self.path, &mut confirm, &mut note)?;
        let (mut text, mut all) = (String::new(), true);
        for one in imported {
            match one.outcome.and_then(|installed| outcome(&installed, layer)) {
                Ok(told) => text += &told,
                Err(error) => {
                    all = false;
                    let why = with_hint(&error, error.next_step());
                    let name = one_line(&one.name);
                    let _ = writeln!(text, "`{name}` was left out: {why}");
                }
            }
        }
        Failure::unless(all, text)
    }
}
