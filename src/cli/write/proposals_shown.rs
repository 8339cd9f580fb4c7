//! What a person sees of a proposal before they decide.

use std::fmt::Write as _;

use serde::Serialize;

use crate::catalog::{Catalog, Entry, base_at, market_at};
use crate::cli::describe::{printable, with_hint};
use crate::cli::json;
use crate::cli::options::Common;
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::proposal::{
    Change, ChangedFile, Proposal, ProposalId, Proposals, apply_diff, home_of, proposed_for,
};
use crate::skill::{brief, one_line};
use crate::sys::time::local;
use crate::sys::warn;

/// The proposal with this id.
pub fn get(facts: &Facts, id: &str) -> Result<Proposal> {
    Proposals::at(facts.state()).get(&ProposalId::parse(id)?)
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
    applies: bool,
    problem: Option<String>,
}

impl<'p> Row<'p> {
    fn new(facts: &Facts, catalog: &Catalog, proposal: &'p Proposal) -> Self {
        let (kind, files) = match &proposal.change {
            Change::Update { files, .. } => ("update", files.keys().cloned().collect()),
            Change::Create { .. } => ("create", vec!["SKILL.md".to_owned()]),
        };
        let problem = today(facts, catalog, proposal).err();
        Self {
            id: proposal.id.as_str(),
            skill: &proposal.skill,
            kind,
            files,
            written: &proposal.written,
            context: proposal.context.as_deref(),
            justification: &proposal.justification,
            evidence: proposal.evidence.as_deref(),
            applies: problem.is_none(),
            problem: problem.map(|error| error.to_string()),
        }
    }
}

/// One proposal, and what applying it would change.
#[derive(Serialize)]
pub struct Shown {
    #[serde(flatten)]
    proposal: serde_json::Value,
    /// As a person reads it.
    pub text: String,
}

impl Shown {
    /// The proposal with this id.
    pub fn of(facts: &Facts, id: &str) -> Result<Self> {
        let proposal = get(facts, id)?;
        let row = serde_json::to_value(Row::new(facts, &Catalog::of(facts), &proposal));
        let row =
            row.map_err(|error| Error::caused("the answer cannot be written as JSON", error))?;
        Ok(Self {
            proposal: row,
            text: show(facts, &proposal),
        })
    }
}

/// All that wait.
pub fn list(facts: &Facts, common: Common) -> Result<String> {
    let (proposals, broken) = Proposals::at(facts.state()).list();
    for error in broken {
        warn(format_args!("{error}"));
    }
    let catalog = Catalog::of(facts);
    let row = |proposal| Row::new(facts, &catalog, proposal);
    let rows: Vec<Row> = proposals.iter().map(row).collect();
    if common.json {
        return json::bare(&rows);
    }
    if rows.is_empty() {
        return Ok("No proposals are waiting for a decision.\n".to_owned());
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
    text.push_str("`agent-skills proposals show ID` shows one; approve ID and reject ID decide\n");
    Ok(text)
}

fn show(facts: &Facts, proposal: &Proposal) -> String {
    let mut text = introduction(proposal);
    match today(facts, &Catalog::of(facts), proposal) {
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

/// The reason and the evidence: a model's words. What has several lines is indented, so that none looks
/// like one of ours.
pub fn introduction(proposal: &Proposal) -> String {
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
pub enum Today<'p> {
    /// This skill with these files changed.
    Changed(&'p Entry, Vec<ChangedFile>),
    /// A new skill with this text.
    New(&'p str),
}

/// What applying it now would give.
pub fn today<'p>(facts: &Facts, catalog: &'p Catalog, proposal: &'p Proposal) -> Result<Today<'p>> {
    match &proposal.change {
        Change::Update { diff, files, .. } => {
            let entry = proposed_for(catalog, proposal)?;
            let (base, name) = home_of(facts, entry)?;
            market_at(facts, &base_at(facts, &base)).check_changeable(&name)?;
            let changed = apply_diff(&entry.dir, &entry.dir, diff, Some(files));
            // Hints for the author of a diff do not help the person who decides about it.
            let changed = changed.map_err(|error| error.hint(forget(&proposal.id)))?;
            Ok(Today::Changed(entry, changed))
        }
        Change::Create { text } => {
            let dir = facts.run.dirs.skills().join(&proposal.skill);
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

/// The whole difference.
pub fn diff_of(files: &[ChangedFile]) -> String {
    let shown = files.iter().map(|file| file.applied.shown.as_str());
    shown.collect()
}
