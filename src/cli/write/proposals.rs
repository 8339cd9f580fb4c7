//! `proposals`: a model's proposed changes to skills, for a person to review and decide.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::Path;

use clap::Subcommand;
use serde::Serialize;

use crate::catalog::{Catalog, Entry, Layer};
use crate::cli::caller::{Caller, decided_by_a_person};
use crate::cli::consent::Consenting;
use crate::cli::describe::{printable, with_hint};
use crate::cli::json;
use crate::cli::options::Consent;
use crate::cli::permitted::{permits, permits_change};
use crate::error::{Error, Result};
use crate::marketplace::{Difference, Plan};
use crate::proposal::{
    Change, ChangedFile, Comment, Proposal, ProposalId, apply_diff, proposed_for,
};
use crate::run_context::RunContext;
use crate::skill::{brief, one_line};
use crate::sys::{Dir, Moment, limits, warn};

/// Review changes to skills that a model proposes
#[derive(Debug, Subcommand)]
pub enum Proposals {
    /// List the proposals that wait for a decision
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one: why, and the difference to the skill as it is now
    Show {
        /// Its id
        id: String,
    },
    /// Apply one; `rollback` takes it back
    Approve {
        /// Its id
        id: String,
        #[command(flatten)]
        consent: Consent,
    },
    /// Forget one
    Reject {
        /// Its id
        id: String,
        /// Why, for the audit log
        #[arg(long)]
        reason: Option<String>,
    },
    /// Say something about one, for whoever decides
    Comment {
        /// Its id
        id: String,
        /// What
        #[arg(required = true)]
        text: Vec<String>,
    },
}

impl Proposals {
    /// Lists the proposals, or does something with one.
    pub fn run(self, ctx: &RunContext, caller: Caller) -> Result<String> {
        match self {
            Self::List { json } => list(ctx, json),
            Self::Show { id } => Ok(show(ctx, &get(ctx, &id)?)),
            Self::Approve { id, consent } => approve(ctx, &get(ctx, &id)?, consent, caller),
            Self::Reject { id, reason } => reject(ctx, &get(ctx, &id)?, reason),
            Self::Comment { id, text } => {
                comment(ctx, &ProposalId::parse(&id)?, &text.join(" "), caller)
            }
        }
    }
}

fn get(ctx: &RunContext, id: &str) -> Result<Proposal> {
    ctx.proposals().get(&ProposalId::parse(id)?)
}

/// One proposal, in the format that `--json` documents.
#[derive(Serialize)]
struct Row<'p> {
    id: &'p str,
    skill: &'p str,
    /// `update` or `create`.
    kind: &'static str,
    files: Vec<String>,
    written: &'p str,
    context: Option<&'p str>,
    justification: &'p str,
    evidence: Option<&'p str>,
    comments: &'p [Comment],
    applies: bool,
    problem: Option<String>,
}

impl<'p> Row<'p> {
    fn new(ctx: &RunContext, catalog: &Catalog, proposal: &'p Proposal) -> Self {
        let (kind, files) = match &proposal.change {
            Change::Update { files, .. } => ("update", files.keys().cloned().collect()),
            Change::Create { .. } => ("create", vec!["SKILL.md".to_owned()]),
        };
        let problem = today(ctx, catalog, proposal).err();
        Self {
            id: proposal.id.as_str(),
            skill: &proposal.skill,
            kind,
            files,
            written: &proposal.written,
            context: proposal.context.as_deref(),
            justification: &proposal.justification,
            evidence: proposal.evidence.as_deref(),
            comments: &proposal.comments,
            applies: problem.is_none(),
            problem: problem.map(|error| error.to_string()),
        }
    }
}

fn list(ctx: &RunContext, json: bool) -> Result<String> {
    let (proposals, broken) = ctx.proposals().list();
    for error in broken {
        warn(format_args!("{error}"));
    }
    let catalog = ctx.catalog();
    let row = |proposal| Row::new(ctx, &catalog, proposal);
    let rows: Vec<Row> = proposals.iter().map(row).collect();
    if json {
        return json::bare(&rows);
    }
    if rows.is_empty() {
        return Ok("No proposal waits for a decision.\n".to_owned());
    }
    let mut text = String::new();
    for row in &rows {
        let what = format!("{} {}: {}", row.kind, row.skill, row.files.join(", "));
        let (what, why) = (brief(&what, 60), brief(row.justification, 100));
        let _ = writeln!(text, "{}  {what}  {why}", row.id);
        if let Some(problem) = &row.problem {
            let _ = writeln!(text, "{:12}  cannot be applied: {}", "", one_line(problem));
        }
    }
    text.push_str(
        "`agent-skills proposals show ID` shows one; approve ID, reject ID and comment ID TEXT\n",
    );
    Ok(text)
}

fn show(ctx: &RunContext, proposal: &Proposal) -> String {
    let mut text = introduction(proposal);
    match today(ctx, &ctx.catalog(), proposal) {
        Ok(Today::Changed(_, files)) => text = text + "\n" + &printable(&diff_of(&files)),
        Ok(Today::New(skill)) => text = text + "\n" + &printable(skill),
        Err(error) => {
            let why = with_hint(&error, error.next_step());
            let _ = writeln!(text, "cannot be applied: {why}");
            if let Change::Update { diff, .. } = &proposal.change {
                let _ = write!(text, "\nAs it was written:\n{}", printable(diff));
            }
        }
    }
    text
}

/// The reason and the comments: a model's words, each on one line.
fn introduction(proposal: &Proposal) -> String {
    let what = match proposal.change {
        Change::Update { .. } => "a change to the skill",
        Change::Create { .. } => "a new skill",
    };
    let context = proposal.context.as_deref();
    let context = context.map(|name| format!(" in `{}`", one_line(name)));
    let mut text = format!(
        "Proposal {}: {what} `{}`, written {}{}\n",
        proposal.id,
        one_line(&proposal.skill),
        one_line(&proposal.written),
        context.unwrap_or_default()
    );
    let mut field = |label: &str, value: &str| {
        let _ = writeln!(text, "{label}: {}", one_line(value));
    };
    field("why", &proposal.justification);
    if let Some(evidence) = &proposal.evidence {
        field("evidence", evidence);
    }
    for comment in &proposal.comments {
        let (by, written) = (one_line(&comment.by), one_line(&comment.written));
        field(&format!("comment by the {by}, {written}"), &comment.text);
    }
    text
}

/// A proposal applied to the current state.
enum Today<'p> {
    Changed(&'p Entry, Vec<ChangedFile>),
    New(&'p str),
}

fn today<'p>(ctx: &RunContext, catalog: &'p Catalog, proposal: &'p Proposal) -> Result<Today<'p>> {
    match &proposal.change {
        Change::Update { diff, files, .. } => {
            let entry = proposed_for(catalog, proposal)?;
            let (base, name) = ctx.home_of(entry)?;
            ctx.market_at(&ctx.base(&base)).check_changeable(&name)?;
            let changed = apply_diff(&entry.dir, &entry.dir, diff, Some(files));
            // Hints for the author of a diff do not help the person who decides about it.
            let changed = changed.map_err(|error| error.hint(forget(&proposal.id)))?;
            Ok(Today::Changed(entry, changed))
        }
        Change::Create { text } => {
            let dir = ctx.dirs.skills().join(&proposal.skill);
            if dir.symlink_metadata().is_err() {
                return Ok(Today::New(text));
            }
            let text = format!("there is a skill `{}` already", proposal.skill);
            Err(Error::new(text).hint(forget(&proposal.id)))
        }
    }
}

fn forget(id: &ProposalId) -> String {
    format!("`agent-skills proposals reject {id}` discards the proposal")
}

fn diff_of(files: &[ChangedFile]) -> String {
    let shown = files.iter().map(|file| file.applied.shown.as_str());
    shown.collect()
}

fn approve(
    ctx: &RunContext,
    proposal: &Proposal,
    consent: Consent,
    caller: Caller,
) -> Result<String> {
    let consenting = Consenting::new(ctx, consent, caller);
    let policies = ctx.policies()?;
    let catalog = ctx.catalog();
    warn(format_args!("{}", introduction(proposal).trim_end()));
    let skill = &proposal.skill;
    let (dir, back) = match today(ctx, &catalog, proposal)? {
        Today::Changed(entry, _) => {
            let (base, name) = ctx.home_of(entry)?;
            let base = ctx.base(&base);
            let market = ctx.market_at(&base);
            let source = market.origin(&name)?.map(|entry| entry.source);
            // The diff shown comes from the very copy that replaces the skill.
            let shown = RefCell::new(String::new());
            let mut edit = |staged: &Dir| {
                *shown.borrow_mut() = write(staged, proposal)?;
                Ok(())
            };
            let mut agree = |difference: &Difference| {
                permits_change(&policies, skill, source.as_deref(), entry.layer, difference)?;
                consenting.to_improve(&Difference {
                    text: Some(shown.take()),
                    ..difference.clone()
                })
            };
            market.improve(&name, &mut edit, &mut agree)?;
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
                consenting.to_create(plan)
            };
            let base = ctx.base(&ctx.dirs.plugin);
            let market = ctx.market_at(&base);
            market.create(skill, text, &source, &mut confirm)?;
            (ctx.dirs.skills().join(skill), format!("remove {skill}"))
        }
    };
    ctx.record(ctx.proposal_event(proposal, "approved"));
    ctx.proposals().remove(&proposal.id)?;
    let mut text = format!("`{skill}` is as proposed; `agent-skills {back}` undoes it\n");
    let catalog = ctx.catalog();
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

fn reject(ctx: &RunContext, proposal: &Proposal, reason: Option<String>) -> Result<String> {
    ctx.proposals().remove(&proposal.id)?;
    let event = ctx.proposal_event(proposal, "rejected");
    ctx.record(event.with("reason", reason));
    Ok(format!(
        "the proposal {} is rejected; `{}` is as it was\n",
        proposal.id,
        one_line(&proposal.skill)
    ))
}

fn comment(ctx: &RunContext, id: &ProposalId, text: &str, caller: Caller) -> Result<String> {
    if one_line(text).is_empty() || text.len() > limits::PROPOSAL_TEXT {
        let text = format!("a comment has 1 to {} bytes of text", limits::PROPOSAL_TEXT);
        return Err(Error::new(text).hint("write what the person who decides should know"));
    }
    let by = match decided_by_a_person(ctx, caller, "comment") {
        Ok(()) => "user",
        Err(_) => "model",
    };
    let comment = Comment {
        written: Moment::now().to_string(),
        by: by.to_owned(),
        text: text.to_owned(),
    };
    let proposal = ctx.proposals().comment(id, comment)?;
    ctx.record(ctx.proposal_event(&proposal, "commented").with("by", by));
    Ok(format!(
        "the comment is kept with the proposal {id}, which still waits for the user\n"
    ))
}
