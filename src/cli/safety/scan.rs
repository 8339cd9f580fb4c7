//! `scan`: the scan's findings about a skill, which need not be installed.

use std::fmt::Write as _;

use serde::Serialize;

use crate::cli::market::{market, note};
use crate::cli::{Failure, json};
use crate::error::Result;
use crate::marketplace::{Finding, RULES, Severity};
use crate::run_context::RunContext;
use crate::sys::visible;

/// Scan a skill for dangerous content
#[derive(Debug, clap::Args)]
pub struct Scan {
    /// A directory, a reference, or the name of an installed skill
    #[arg(required_unless_present = "rules")]
    pub target: Option<String>,
    /// List what is looked for in texts, with examples
    #[arg(long, conflicts_with_all = ["target", "fail_on", "offline"])]
    pub rules: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Fail on findings of this severity or worse
    #[arg(long, value_name = "SEVERITY")]
    pub fail_on: Option<Severity>,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
}

#[derive(Serialize)]
struct Scanned<'a> {
    name: &'a str,
    findings: &'a [Finding],
}

impl Scan {
    /// The findings; a failure if one is at least as severe as `fail_on`.
    pub fn run(&self, ctx: &RunContext) -> std::result::Result<String, Failure> {
        let Some(target) = &self.target else {
            return Ok(self.rules()?);
        };
        let base = ctx.base(&ctx.dirs.plugin);
        let scanned = market(ctx, &base, self.offline).scan(target, &mut note);
        let scanned = scanned.map_err(|error| {
            // A bare name most likely means an installed skill.
            match ctx.catalog().nearest(target) {
                Some(name) if !target.contains(['/', '@', ':']) => {
                    error.hint(format!("did you mean the installed `{name}`?"))
                }
                _ => error,
            }
        })?;
        let skills = scanned
            .iter()
            .map(|(name, findings)| Scanned { name, findings });
        let text = if self.json {
            json::list("skills", &skills.collect::<Vec<_>>())?
        } else {
            let mut text = String::new();
            for Scanned { name, findings } in skills {
                let _ = writeln!(text, "{name}: {} findings", findings.len());
                for finding in findings {
                    let _ = writeln!(text, "  {}", finding.summary());
                }
            }
            text
        };
        let mut findings = scanned.iter().flat_map(|(_, findings)| findings);
        let fails = |level| findings.any(|finding| finding.severity >= level);
        Failure::unless(!self.fail_on.is_some_and(fails), text)
    }

    fn rules(&self) -> Result<String> {
        if self.json {
            return json::list("rules", &*RULES);
        }
        let mut text = String::new();
        for rule in RULES.iter() {
            let [in_texts, in_scripts] = rule.severities.map(Severity::as_str);
            let severity = if in_texts == in_scripts {
                in_texts.to_owned()
            } else {
                format!("{in_texts}, in scripts {in_scripts}")
            };
            let _ = writeln!(
                text,
                "{} ({severity}): {}\n  such as: {}\n  but not: {}\n  see {}",
                rule.code,
                rule.message,
                visible(rule.example),
                rule.counter_example,
                rule.source
            );
        }
        Ok(text)
    }
}
