//! `proposals`: a model's proposed changes to skills, for a person to review and decide.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::path::Path;

use clap::Subcommand;

use super::proposals_shown::{Shown, Today, diff_of, get, introduction, list, today};
use crate::catalog::{Catalog, Entry, Layer, base_at, market_at};
use crate::cli::caller::{Answer, Caller};
use crate::cli::consent::Consenting;
use crate::cli::describe::{describe_difference, printable};
use crate::cli::options::{Common, Findings};
use crate::cli::outcome::{Outcomes, look_at};
use crate::cli::permitted::{permits, permits_change};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::marketplace::{Difference, Plan};
use crate::proposal::{self, Change, Proposal, apply_diff, home_of, proposal_event};
use crate::skill::one_line;
use crate::sys::{Dir, tell, warn};

/// Review changes to skills that a model proposes
#[derive(Debug, Subcommand)]
pub enum Proposals {
    /// List the proposals that await a decision
    List,
    /// Show proposals: the reason, and what would change
    Show {
        /// The proposals' ids
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Apply proposals; `rollback` undoes them
    Approve {
        /// The proposals' ids
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        #[command(flatten)]
        findings: Findings,
    },
    /// Reject proposals
    Reject {
        /// The proposals' ids
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Why, for the audit log
        #[arg(long)]
        reason: Option<String>,
    },
}

impl Proposals {
    /// Lists the proposals, or does something with some.
    pub fn run(self, facts: &Facts, common: Common, caller: Caller) -> Answer {
        match self {
            Self::List => Ok(list(facts, common)?),
            Self::Show { ids } => {
                let look = |id: &str| Shown::of(facts, id);
                look_at(common, caller, &ids, "proposals", look, |one| {
                    one.text.clone()
                })
            }
            Self::Approve { ids, findings } => {
                let given = (common, findings);
                Outcomes::of_each(common, caller, &ids, |id| {
                    approve(facts, &get(facts, id)?, given, caller)
                })
            }
            Self::Reject { ids, reason } => Outcomes::of_each(common, caller, &ids, |id| {
                reject(facts, common, &get(facts, id)?, reason.as_deref())
            }),
        }
    }
}

fn approve(
    facts: &Facts,
    proposal: &Proposal,
    (common, findings): (Common, Findings),
    caller: Caller,
) -> Result<String> {
    let consenting = Consenting::new(facts, common.consent(findings), caller);
    let policies = facts.policies()?;
    let catalog = Catalog::of(facts);
    warn(format_args!("{}", introduction(proposal).trim_end()));
    let skill = &proposal.skill;
    // Whether a dry run has come as far as the question.
    let is_possible = Cell::new(false);
    let (dir, back) = match today(facts, &catalog, proposal)? {
        Today::Changed(entry, _) => {
            let (base, name) = home_of(facts, entry)?;
            let base = base_at(facts, &base);
            let market = market_at(facts, &base);
            let source = market.origin(&name)?.map(|entry| entry.source);
            // The diff shown comes from the very copy that replaces the skill.
            let shown = RefCell::new(String::new());
            let mut edit = |staged: &Dir| {
                *shown.borrow_mut() = write(staged, proposal)?;
                Ok(())
            };
            let mut agree = |difference: &Difference| {
                permits_change(&policies, skill, source.as_deref(), entry.layer, difference)?;
                let difference = Difference {
                    text: Some(shown.take()),
                    ..difference.clone()
                };
                if common.dry_run {
                    tell(format_args!(
                        "{}",
                        describe_difference(&difference, consenting.names)
                    ));
                    is_possible.set(true);
                    return Ok(false);
                }
                consenting.to_improve(&difference)
            };
            let improved = market.improve(&name, &mut edit, &mut agree);
            if is_possible.get() {
                return Ok(format!("would apply the proposal to `{skill}`\n"));
            }
            improved?;
            let layer = match entry.layer {
                Layer::Plugin => String::new(),
                layer => format!(" --layer {layer}"),
            };
            (entry.dir.clone(), format!("rollback {name}{layer}"))
        }
        Today::New(text) => {
            let source = format!("proposal {}", proposal.id);
            let mut confirm = |plan: &Plan| {
                permits(&policies, Layer::Plugin, plan)?;
                warn(format_args!("the skill:\n{}", printable(text).trim_end()));
                if common.dry_run {
                    is_possible.set(true);
                    return Ok(false);
                }
                consenting.to_create(plan)
            };
            let base = Layer::Plugin.base(facts);
            let market = market_at(facts, &base);
            let created = market.create(skill, text, &source, &mut confirm);
            if is_possible.get() {
                return Ok(format!("would create the skill `{skill}`\n"));
            }
            created?;
            (
                facts.run.dirs.skills().join(skill),
                format!("remove {skill}"),
            )
        }
    };
    facts.record(proposal_event(proposal, "approved"));
    proposal::Proposals::at(facts.state()).remove(&proposal.id)?;
    let mut text = format!("`{skill}` is as proposed; `agent-skills {back}` undoes it\n");
    let catalog = Catalog::of(facts);
    let entry = catalog.entries().iter().find(|entry| entry.dir == dir);
    if let Some(why) = entry.and_then(Entry::reason_not_offered) {
        let _ = writeln!(text, "  it is not offered: {}", one_line(&why));
    }
    Ok(text)
}

/// Applies a proposal to the staged copy of its skill; returns the diff.
fn write(staged: &Dir, proposal: &Proposal) -> Result<String> {
    let Change::Update { dir, diff, files } = &proposal.change else {
        return Ok(String::new());
    };
    let changed = apply_diff(staged.path(), Path::new(dir), diff, Some(files))?;
    for file in &changed {
        let found = file.path.find(staged.path())?;
        let written = staged.rewrite_below(&found.below, file.applied.text.as_bytes());
        written.map_err(|e| Error::io("write", &found.path, &e))?;
    }
    Ok(diff_of(&changed))
}

fn reject(
    facts: &Facts,
    common: Common,
    proposal: &Proposal,
    reason: Option<&str>,
) -> Result<String> {
    if common.dry_run {
        return Ok(format!("would reject the proposal {}\n", proposal.id));
    }
    proposal::Proposals::at(facts.state()).remove(&proposal.id)?;
    let event = proposal_event(proposal, "rejected");
    facts.record(event.with("reason", reason.map(str::to_owned)));
    Ok(format!(
        "the proposal {} is rejected; `{}` is as it was\n",
        proposal.id,
        one_line(&proposal.skill)
    ))
}
