//! `verify`: compares skills with the lockfile.

use std::fmt::Write as _;

use crate::cli::market::market;
use crate::cli::options::Scope;
use crate::cli::{Failure, json};
use crate::marketplace::{State, Verified};
use crate::run_context::RunContext;
use crate::skill::one_line;

/// Compare installed skills with the lockfile
#[derive(Debug, clap::Args)]
pub struct Verify {
    /// Names of skills; all if omitted
    pub names: Vec<String>,
    #[command(flatten)]
    pub scope: Scope,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Verify {
    /// Compares the skills; a failure if one differs.
    pub fn run(&self, ctx: &RunContext) -> Result<String, Failure> {
        let verified = market(ctx, &self.scope.base(ctx), false).verify(&self.names)?;
        let text = if self.json {
            json::list("skills", &verified)?
        } else if verified.is_empty() {
            "The lockfile has no skill.\n".to_owned()
        } else {
            verified.iter().map(state_of).collect()
        };
        Failure::unless(verified.iter().all(Verified::is_well), text)
    }
}

fn state_of(skill: &Verified) -> String {
    let state = match skill.state {
        State::Intact => "intact",
        State::Changed => "changed",
        State::Missing => "missing",
        State::Linked => "a link, not compared",
    };
    let mut text = format!("{}: {state}\n", skill.name);
    for (label, paths) in [
        ("changed", &skill.changed),
        ("missing", &skill.missing),
        ("extra", &skill.extra),
    ] {
        for path in paths {
            let _ = writeln!(text, "  {label} {}", one_line(path));
        }
    }
    text
}
