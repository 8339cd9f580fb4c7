//! `update`, and how changes to skills are reported.

use crate::cli::prelude::*;
use crate::cli::safety::verify::restored;
use crate::marketplace::{CommitPrefix, LocalEdits, UpdateOptions, UpdateResult, Updated};

/// Update installed skills from their sources
#[derive(Debug, clap::Args)]
pub struct UpdateArgs {
    /// Names of skills; all if omitted
    pub names: Vec<String>,
    #[command(flatten)]
    pub findings: FindingsOption,
    /// Update to this commit only, given by at least 12 digits
    #[arg(long, value_name = "COMMIT", value_parser = CommitPrefix::parse, requires = "names")]
    pub to: Option<CommitPrefix>,
    /// Only say which skills have a newer version
    #[arg(long, conflicts_with_all = ["accept_findings", "to", "diff", "force", "stash", "allow_downgrade", "accept_signer", "offline"])]
    pub check: bool,
    /// Show the difference line by line
    #[arg(long)]
    pub diff: bool,
    /// Replace skills that were changed by hand, and restore damaged ones
    #[arg(long)]
    pub force: bool,
    /// Like --force, but keep a copy of the changed skills
    #[arg(long)]
    pub stash: bool,
    /// Also update to a commit that does not descend from the installed one
    #[arg(long)]
    pub allow_downgrade: bool,
    /// Also update a skill whose signer changed, or that is no longer signed
    #[arg(long)]
    pub accept_signer: bool,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
    #[command(flatten)]
    pub scope: LayerOption,
}

impl UpdateArgs {
    /// Updates the skills; a failure if one could not be.
    pub fn run(&self, call: CliCall) -> Answer {
        if self.check {
            return self.check(call);
        }
        let mut outcomes = Outcomes::new(call);
        for (layer, names) in layers_of(call, self.scope, "update", &self.names)? {
            self.update(call, layer, &names, &mut outcomes)?;
        }
        if outcomes.is_empty() && !call.common.json {
            return Ok("No skill here has a source that it could be updated from.\n".to_owned());
        }
        outcomes.answer()
    }

    /// Reports newer versions; a failure if a source could not be examined.
    fn check(&self, call: CliCall) -> Answer {
        let mut updated = Vec::new();
        for (layer, names) in layers_of(call, self.scope, "update", &self.names)? {
            let market = market_for(call, layer, false)?.dry(true);
            let options = UpdateOptions::default();
            updated.extend(market.update(&names, options, &mut |_| Ok(false))?);
        }
        updated.retain(|one| one.change != UpdateResult::UpToDate || !one.newer_tags.is_empty());
        if call.common.json {
            let is_failed = |one: &Updated| matches!(one.change, UpdateResult::Failed { .. });
            let failed = updated.iter().any(is_failed);
            return Failure::unless(!failed, json::list("skills", &updated)?);
        }
        if updated.is_empty() {
            return Ok("Everything is up to date.\n".to_owned());
        }
        // What is asked for is not suppressed.
        let mut call = call;
        call.common.quiet = false;
        let mut outcomes = Outcomes::new(call);
        let names = ToolNames::of(call.facts);
        for one in &updated {
            let text = describe_update(one, names).map(|text| text + &later_tags(one));
            outcomes.push(&one.name, text);
        }
        outcomes.answer()
    }

    /// Updates skills of one layer.
    fn update(
        &self,
        call: CliCall,
        layer: Layer,
        names: &[String],
        outcomes: &mut Outcomes,
    ) -> Result<()> {
        let consenting = Consent::new(call, self.findings);
        let options = UpdateOptions {
            diff: self.diff,
            edited: match (self.stash, self.force) {
                (true, _) => LocalEdits::Stash,
                (_, true) => LocalEdits::Replace,
                _ => LocalEdits::Keep,
            },
            to: self.to.as_ref(),
            accept_signer: self.accept_signer,
            switch: None,
        };
        let policies = call.facts.policies()?;
        let mut agree = |difference: &Difference| {
            permits_update(&policies, layer, difference)?;
            // A difference is shown on request even if no consent is needed.
            let shown = difference.needs_consent()
                || difference.regress().is_some() && !self.allow_downgrade;
            if self.diff && !shown {
                let difference = describe_difference(difference, consenting.names);
                tell(format_args!("{difference}"));
            }
            consenting.to_update(difference, self.allow_downgrade)
        };
        let market = market_for(call, layer, self.offline)?;
        let updated = market.update(names, options, &mut agree)?;
        record(call, &updated, layer);
        let repaired = match options.edited {
            LocalEdits::Keep => Ok(Vec::new()),
            LocalEdits::Replace | LocalEdits::Stash => repaired(&market, names, &updated),
        };
        // Of each skill, only the last that became of it.
        let restores = repaired.as_deref().unwrap_or_default();
        let is_last = |one: &&Updated| restores.iter().all(|restored| *restored.name != *one.name);
        for one in updated.iter().filter(is_last) {
            push_update(outcomes, one, consenting.names);
        }
        for one in repaired? {
            outcomes.push(&one.name, Ok(restored(call, &one, layer)));
        }
        Ok(())
    }
}

/// The later versions available for a skill pinned to a tag.
fn later_tags(skill: &Updated) -> String {
    if skill.newer_tags.is_empty() {
        return String::new();
    }
    let tags = one_line(&skill.newer_tags.join(", "));
    format!("    it stays at its tag; later tags: {tags} (`install REF#TAG` switches)\n")
}

/// Records each skill that was replaced.
pub fn record(call: CliCall, updated: &[Updated], layer: Layer) {
    for skill in updated {
        if let UpdateResult::Updated { from, to, .. } = &skill.change {
            let commits = [("from", from.clone()), ("commit", to.clone())];
            call.record("update", (&skill.name, layer), commits);
        }
    }
}

/// Restores the skills whose files differ although their source has nothing newer, and, unless
/// skills are named, those that are gone.
fn repaired(market: &Market, wanted: &[String], updated: &[Updated]) -> Result<Vec<SyncedSkill>> {
    let of = |name: &str| updated.iter().find(|one| one.name == name);
    let is_ours = |one: &&VerifiedSkill| match of(&one.name) {
        Some(one) => one.change == UpdateResult::UpToDate,
        None => wanted.is_empty() && one.state == InstallState::Missing,
    };
    let verified = market.verify(&[])?;
    let damaged = verified.iter().filter(|one| !one.is_well()).filter(is_ours);
    let names: Vec<String> = damaged.map(|one| one.name.clone()).collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    market.repair(&names, &mut note)
}

/// Adds what has become of a skill.
pub fn push_update(outcomes: &mut Outcomes, skill: &Updated, names: ToolNames) {
    let besides = match &skill.change {
        UpdateResult::UpToDate if skill.new_signer.is_none() => {
            OutcomeNote::Unchanged("skills are up to date")
        }
        UpdateResult::Kept {
            code: Some(code), ..
        } => OutcomeNote::Stopped(code),
        _ => OutcomeNote::Nothing,
    };
    outcomes.push_with(&skill.name, describe_update(skill, names), besides);
}

/// What has become of a skill.
///
/// # Errors
/// When it could not be examined or updated.
pub fn describe_update(skill: &Updated, names: ToolNames) -> Result<String> {
    let name = listed_name(&skill.name);
    let mut text = match &skill.change {
        UpdateResult::UpToDate => format!("`{name}` is up to date\n"),
        UpdateResult::Failed { reason, hint } => {
            let error = Error::new(one_line(&format!("`{name}` was left as it is: {reason}")));
            return Err(match hint {
                Some(hint) => error.hint(one_line(hint)),
                None => error,
            });
        }
        UpdateResult::Available(difference) => describe_difference(difference, names),
        UpdateResult::Updated {
            from,
            to,
            dropped,
            stashed,
        } => {
            let mut text = match from_to(from.as_deref(), to.as_deref()) {
                Some(commits) => format!("`{name}` was updated from {commits}\n"),
                None => format!("`{name}` was updated\n"),
            };
            for remark in dropped {
                let _ = writeln!(text, "  note: {}", one_line(remark));
            }
            if let Some(place) = stashed {
                let _ = writeln!(text, "  your changes are kept in {place}");
            }
            text
        }
        UpdateResult::Kept { reason, hint, .. } => {
            let why = with_hint(reason, hint.as_deref());
            format!("`{name}` was left as it is: {why}\n")
        }
    };
    if let Some(signer) = &skill.new_signer {
        let signer = one_line(signer);
        let _ = writeln!(text, "`{name}` is signed from now on, by {signer}");
    }
    Ok(text)
}
