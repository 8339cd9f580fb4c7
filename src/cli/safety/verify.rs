//! `verify`: compares skills with the lockfile, checks their signatures again, and restores them.

use std::slice;

use crate::catalog::signing_in_force;
use crate::cli::prelude::*;
use crate::policy::DigestCache;

const NONE_RECORDED: &str = "The lockfile has no skill.\n";

/// Check installed skills against the lockfile and their signatures
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// Names of skills; all if omitted
    pub names: Vec<String>,
    #[command(flatten)]
    pub scope: LayerOption,
    /// Restore what differs; changed files are kept in stash/
    #[arg(long)]
    pub fix: bool,
}

impl VerifyArgs {
    /// Compares the skills; a failure if one differs.
    pub fn run(&self, call: CliCall) -> Answer {
        let by_layer = self.layers(call)?;
        if self.fix {
            return fix(call, &by_layer);
        }
        let (mut verified, mut failed) = (Vec::new(), Outcomes::new(call));
        let mut unsigned = Vec::new();
        for (layer, names) in &by_layer {
            let market = market(call, *layer, false);
            let before = verified.len();
            if names.is_empty() {
                verified.extend(market.verify(&[])?);
            }
            for name in names {
                match market.verify(slice::from_ref(name)) {
                    Ok(one) => verified.extend(one),
                    Err(error) => failed.push(name, Err(error)),
                }
            }
            match signature_problems(&market, &verified[before..]) {
                Ok(found) => unsigned.extend(found),
                Err(error) => {
                    let error = error.context("signatures could not be checked");
                    failed.push(layer.as_str(), Err(error));
                }
            }
        }
        self.add_unsigned(call.facts, &verified, &mut unsigned);
        if verified.is_empty() && !failed.is_empty() {
            return failed.answer();
        }
        let compared = json!({
            "skills": verified,
            "signatures": unsigned,
        });
        let text = call.answer(&compared, || self.describe(&verified, &unsigned))?;
        let is_whole =
            failed.is_empty() && unsigned.is_empty() && verified.iter().all(VerifiedSkill::is_well);
        Failure::unless(is_whole, text + &failed.errors())
    }

    fn describe(&self, verified: &[VerifiedSkill], unsigned: &[SignatureProblem]) -> String {
        if verified.is_empty() && unsigned.is_empty() {
            return NONE_RECORDED.to_owned();
        }
        let intact = verified
            .iter()
            .filter(|one| one.state == InstallState::Intact);
        let intact = intact.count();
        let alone = |one: &&VerifiedSkill| intact == 1 || one.state != InstallState::Intact;
        let mut text: String = verified.iter().filter(alone).map(state_of).collect();
        if intact > 1 {
            let _ = writeln!(text, "{intact} skills are intact");
        }
        let is_damaged =
            |one: &&VerifiedSkill| !one.is_well() && one.state != InstallState::Unreadable;
        let damaged = verified.iter().filter(is_damaged);
        let damaged: Vec<String> = damaged.map(|one| listed_name(&one.name)).collect();
        let mut words = vec!["verify", "--fix"];
        words.extend(damaged.iter().map(String::as_str));
        if words.len() > 2 {
            let scope = format!("--layer={}", self.scope.layer().as_str());
            words.extend((!self.scope.is_default()).then_some(scope.as_str()));
            let command = shell_command(&words);
            let _ = writeln!(text, "`agent-skills {command}` restores what was installed");
        }
        for fault in unsigned {
            let name = listed_name(&fault.name);
            let _ = writeln!(text, "{name}: {}\n  {}", fault.message, fault.remedy);
        }
        text
    }

    /// The skills by their layers. What is only looked at may be in several: then that is meant which
    /// the catalog takes.
    fn layers(&self, call: CliCall) -> Result<Vec<(Layer, Vec<String>)>> {
        if self.fix || self.names.is_empty() {
            return layers_of(call, self.scope, "verify", &self.names);
        }
        let layer = |name: &String| {
            let layer = layer_of(call, self.scope, "verify", name);
            let layer = layer.or_else(|several| {
                let catalog = Catalog::naming(call.facts, name);
                let entry = catalog.by_name(name).ok_or(several)?;
                tell_which(name, &entry.dir);
                Ok::<_, Error>(entry.layer)
            })?;
            Ok((layer, vec![name.clone()]))
        };
        self.names.iter().map(layer).collect()
    }

    /// Checks anew what has to be signed to be offered, and adds what is not.
    fn add_unsigned(
        &self,
        facts: &Facts,
        verified: &[VerifiedSkill],
        problems: &mut Vec<SignatureProblem>,
    ) {
        if !signing_in_force(facts).require_anything() {
            return;
        }
        // A host's call has no time to check all of them.
        if facts.run.protocol.is_none() {
            DigestCache::forget(facts.state());
        }
        let is_meant = |name: &str| {
            self.names.is_empty() || verified.iter().any(|verified| verified.name == name)
        };
        for problem in unsigned_skills(facts) {
            let is_new = problems.iter().all(|known| known.path != problem.path);
            if is_new && is_meant(&problem.name) {
                problems.push(problem);
            }
        }
    }
}

fn fix(call: CliCall, by_layer: &[(Layer, Vec<String>)]) -> Answer {
    let mut outcomes = Outcomes::new(call);
    let mut has_any = false;
    for (layer, names) in by_layer {
        let market = market_for(call, *layer, false)?;
        has_any |= !market.entries()?.is_empty();
        for one in market.repair(names, &mut note)? {
            outcomes.push(&one.name, Ok(restored(call, &one, *layer)));
        }
    }
    if outcomes.is_empty() && !call.common.json {
        let well = "Every skill is as it was installed.\n";
        return Ok(if has_any { well } else { NONE_RECORDED }.to_owned());
    }
    outcomes.answer()
}

/// Records that a skill was restored, and says so.
pub fn restored(call: CliCall, skill: &SyncedSkill, layer: Layer) -> String {
    let shown = listed_name(&skill.name);
    if call.common.dry_run {
        return format!("would restore `{shown}`\n");
    }
    let commit = skill.to.clone();
    call.record("restore", (&skill.name, layer), [("commit", commit)]);
    let kept = skill.stashed.as_ref();
    let kept = kept.map(|place| format!("; your changes are kept in {}", one_line(place)));
    format!("`{shown}` was restored{}\n", kept.unwrap_or_default())
}

fn state_of(skill: &VerifiedSkill) -> String {
    let state = match skill.state {
        InstallState::Intact => "intact",
        InstallState::Changed => "changed",
        InstallState::Missing => "missing",
        InstallState::Unreadable => "unreadable",
    };
    let mut text = format!("{}: {state}\n", listed_name(&skill.name));
    for why in [&skill.why, &skill.remedy].into_iter().flatten() {
        let _ = writeln!(text, "  {}", one_line(why));
    }
    let VerifiedSkill {
        changed,
        missing,
        extra,
        ..
    } = skill;
    for (label, paths) in [("changed", changed), ("missing", missing), ("extra", extra)] {
        for path in paths {
            let _ = writeln!(text, "  {label} {}", one_line(path));
        }
    }
    text
}
