//! `proposals`: a model's proposed changes to skills, for a person to review and decide.

use std::cell::{Cell, RefCell};

use crate::cli::prelude::*;
use crate::proposal::{
    self, ChangedFile, Proposal, ProposalId, ProposedChange, apply_diff, home_of, proposal_event,
    proposed_for,
};
use crate::sys::time::local;

/// Review changes to skills that a model proposes
#[derive(Debug, Subcommand)]
pub enum ProposalsCommand {
    /// List the proposals that await a decision
    List,
    /// Show proposals, also the latest decided ones: the reason, and what would change
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
        findings: FindingsOption,
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

impl ProposalsCommand {
    /// Lists the proposals, or does something with some.
    pub fn run(self, call: CliCall) -> Answer {
        match self {
            Self::List => Ok(list(call)?),
            Self::Show { ids } => answer_each(call, &ids, "proposals", |id| show(call.facts, id)),
            Self::Approve { ids, findings } => Outcomes::of_each(call, &ids, |id| {
                approve(call, &get(call.facts, id)?, findings)
            }),
            Self::Reject { ids, reason } => Outcomes::of_each(call, &ids, |id| {
                reject(call, &get(call.facts, id)?, reason.as_deref())
            }),
        }
    }
}

fn approve(call: CliCall, proposal: &Proposal, findings: FindingsOption) -> Result<String> {
    let consenting = Consent::new(call, findings);
    let policies = call.facts.policies()?;
    let catalog = Catalog::of(call.facts);
    warn(format_args!("{}", introduction(proposal).trim_end()));
    let skill = &proposal.skill;
    // Whether a dry run has come as far as the question.
    let is_possible = Cell::new(false);
    let (dir, back) = match preview(call.facts, &catalog, proposal)? {
        ProposalPreview::Changed(entry, _) => {
            let (base, name) = home_of(call.facts, entry)?;
            let base = base_at(call.facts, &base);
            let market = market_at(call.facts, &base);
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
                if call.common.dry_run {
                    let difference = describe_difference(&difference, consenting.names);
                    tell(format_args!("{difference}"));
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
        ProposalPreview::New(text) => {
            let source = format!("proposal {}", proposal.id);
            let mut confirm = |plan: &Plan| {
                permits(&policies, Layer::Plugin, plan)?;
                warn(format_args!("the skill:\n{}", printable(text).trim_end()));
                if call.common.dry_run {
                    is_possible.set(true);
                    return Ok(false);
                }
                consenting.to_create(plan)
            };
            let base = Layer::Plugin.base(call.facts);
            let market = market_at(call.facts, &base);
            let created = market.create(skill, text, &source, &mut confirm);
            if is_possible.get() {
                return Ok(format!("would create the skill `{skill}`\n"));
            }
            created?;
            let dir = call.facts.run.dirs.skills().join(skill);
            (dir, format!("remove {skill}"))
        }
    };
    call.facts.record(proposal_event(proposal, "approved"));
    proposal::Proposals::at(call.facts.state()).decide(proposal)?;
    let mut text = format!("`{skill}` is as proposed; `agent-skills {back}` undoes it\n");
    let catalog = Catalog::of(call.facts);
    let entry = catalog.entries().iter().find(|entry| entry.dir == dir);
    if let Some(why) = entry.and_then(Entry::reason_not_offered) {
        let _ = writeln!(text, "  it is not offered: {}", one_line(&why));
    }
    Ok(text)
}

/// Applies a proposal to the staged copy of its skill; returns the diff.
fn write(staged: &Dir, proposal: &Proposal) -> Result<String> {
    let ProposedChange::Update { dir, diff, files } = &proposal.change else {
        return Ok(String::new());
    };
    let changed = apply_diff(staged.path(), Path::new(dir), diff, Some(files))?;
    for file in &changed {
        let (_, path, below) = file.path.find(staged.path())?;
        let written = staged.rewrite_below(&below, file.applied.text.as_bytes());
        written.map_err(|e| Error::io("write", &path, &e))?;
    }
    Ok(diff_of(&changed))
}

fn reject(call: CliCall, proposal: &Proposal, reason: Option<&str>) -> Result<String> {
    if call.common.dry_run {
        return Ok(format!("would reject the proposal {}\n", proposal.id));
    }
    proposal::Proposals::at(call.facts.state()).decide(proposal)?;
    let event = proposal_event(proposal, "rejected");
    call.facts
        .record(event.with("reason", reason.map(str::to_owned)));
    let (id, skill) = (&proposal.id, one_line(&proposal.skill));
    Ok(format!(
        "the proposal {id} is rejected; `{skill}` is as it was\n"
    ))
}

/// The waiting proposal with this id.
fn get(facts: &Facts, id: &str) -> Result<Proposal> {
    proposal::Proposals::at(facts.state()).get(&ProposalId::parse(id)?)
}

/// One proposal, in the format that `--json` documents; with the reason why it cannot be applied.
fn row(proposal: &Proposal, problem: Option<&Error>) -> Value {
    json!({
        "id": proposal.id,
        "skill": proposal.skill,
        "kind": proposal.change.kind(),
        "files": proposal.change.files(),
        "written": proposal.written,
        "context": proposal.context,
        "justification": proposal.justification,
        "evidence": proposal.evidence,
        "applies": problem.is_none(),
        "problem": problem.map(ToString::to_string),
    })
}

/// All that wait.
fn list(call: CliCall) -> Result<String> {
    let (proposals, broken) = proposal::Proposals::at(call.facts.state()).list();
    for error in broken {
        warn(format_args!("{error}"));
    }
    let catalog = Catalog::of(call.facts);
    let (mut rows, mut text) = (Vec::new(), String::new());
    for proposal in &proposals {
        let problem = preview(call.facts, &catalog, proposal).err();
        let (kind, files) = (proposal.change.kind(), proposal.change.files());
        let what = format!("{kind} {}: {}", proposal.skill, files.join(", "));
        let (what, why) = (brief(&what, 60), brief(&proposal.justification, 100));
        let _ = writeln!(text, "{}  {what}  {why}", proposal.id);
        if let Some(problem) = &problem {
            let problem = one_line(&problem.to_string());
            let _ = writeln!(text, "{:12}  cannot be applied: {problem}", "");
        }
        rows.push(row(proposal, problem.as_ref()));
    }
    if call.common.json {
        return json::bare(&rows);
    }
    if rows.is_empty() {
        return Ok("No proposals are waiting for a decision.\n".to_owned());
    }
    text.push_str("`agent-skills proposals show ID` shows one; approve ID and reject ID decide\n");
    Ok(text)
}

/// One proposal, and what applying it would change.
fn show(facts: &Facts, id: &str) -> Result<(Value, String)> {
    let (catalog, state) = (Catalog::of(facts), facts.state());
    let waiting = get(facts, id);
    let is_decided = waiting.is_err();
    let proposal = waiting.or_else(|missing| {
        let decided = proposal::Proposals::decided(state).get(&ProposalId::parse(id)?);
        decided.map_err(|_| missing)
    })?;
    let preview = if is_decided {
        let how = "`agent-skills audit --event proposal` shows how";
        Err(Error::new("it was decided").hint(how))
    } else {
        preview(facts, &catalog, &proposal)
    };
    let row = row(&proposal, preview.as_ref().err());
    let mut text = introduction(&proposal);
    match preview {
        Ok(ProposalPreview::Changed(_, files)) => text = text + "\n" + &printable(&diff_of(&files)),
        Ok(ProposalPreview::New(skill)) => text = text + "\n" + &printable(skill),
        Err(error) => {
            let why = with_hint(&error, error.next_step());
            let _ = writeln!(text, "cannot be applied: {why}");
            let (ProposedChange::Update { diff: written, .. }
            | ProposedChange::Create { text: written }) = &proposal.change;
            let _ = write!(text, "\nAs it was written:\n{}", printable(written));
        }
    }
    Ok((with(row, json!({"text": text})), text))
}

/// The reason and the evidence: a model's words. What has several lines is indented, so that none looks
/// like one of ours.
fn introduction(proposal: &Proposal) -> String {
    let what = match proposal.change {
        ProposedChange::Update { .. } => "a change to the skill",
        ProposedChange::Create { .. } => "a new skill",
    };
    let context = proposal.context.as_deref();
    let context = context.map(|name| format!(" in `{}`", one_line(name)));
    let mut text = format!(
        "Proposal {}: {what} `{}`, written {}{}\n",
        proposal.id,
        one_line(&proposal.skill),
        local(&proposal.written),
        context.unwrap_or_default()
    );
    let mut field = |label: &str, value: &str| {
        let lines = value.lines().map(one_line);
        let lines: Vec<String> = lines.filter(|line| !line.trim().is_empty()).collect();
        let _ = match lines.as_slice() {
            [] => writeln!(text, "{label}: "),
            [one] => writeln!(text, "{label}: {one}"),
            several => writeln!(text, "{label}:\n    {}", several.join("\n    ")),
        };
    };
    field("why", &proposal.justification);
    if let Some(evidence) = &proposal.evidence {
        field("evidence", evidence);
    }
    text
}

/// A proposal applied to the current state.
enum ProposalPreview<'p> {
    /// This skill with these files changed.
    Changed(&'p Entry, Vec<ChangedFile>),
    /// A new skill with this text.
    New(&'p str),
}

/// What applying it now would give.
fn preview<'p>(
    facts: &Facts,
    catalog: &'p Catalog,
    proposal: &'p Proposal,
) -> Result<ProposalPreview<'p>> {
    match &proposal.change {
        ProposedChange::Update { diff, files, .. } => {
            let entry = proposed_for(catalog, proposal)?;
            let (base, name) = home_of(facts, entry)?;
            market_at(facts, &base_at(facts, &base)).check_changeable(&name)?;
            let changed = apply_diff(&entry.dir, &entry.dir, diff, Some(files));
            // Hints for the author of a diff do not help the person who decides about it.
            let changed = changed.map_err(|error| error.hint(reject_hint(&proposal.id)))?;
            Ok(ProposalPreview::Changed(entry, changed))
        }
        ProposedChange::Create { text } => {
            let dir = facts.run.dirs.skills().join(&proposal.skill);
            if dir.symlink_metadata().is_err() {
                return Ok(ProposalPreview::New(text));
            }
            let text = format!("there is a skill `{}` already", proposal.skill);
            Err(Error::new(text).hint(reject_hint(&proposal.id)))
        }
    }
}

fn reject_hint(id: &ProposalId) -> String {
    format!("`agent-skills proposals reject {id}` discards the proposal")
}

/// The whole difference.
fn diff_of(files: &[ChangedFile]) -> String {
    let shown = files.iter().map(|file| file.applied.shown.as_str());
    shown.collect()
}
