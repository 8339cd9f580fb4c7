//! `sync`: makes a layer equal to a list, for configuration management and timers.

use super::install;
use crate::cli::prelude::*;
use crate::marketplace::{InstalledSkill, SyncAction, SyncList, SyncPlan, is_foreign};

/// Make a layer equal to a list: a lockfile or a collection
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Make a layer equal to a list: a lockfile or a collection\n\n\
    Everything is fetched and checked before anything changes; if one skill is refused, nothing \
    does. Exit status: 0 unchanged, 3 changed, 1 refused or failed, 2 misused."
)]
pub struct SyncArgs {
    #[arg(
        help = "A skills.lock.json, or oci://HOST/NAME[:TAG][@DIGEST] of a collection; the layer's \
                own if omitted. Also another program's skills-lock.json, .skill-lock.json or \
                .openskills.json, or a directory of skills with them"
    )]
    pub list: Option<String>,
    /// Also remove skills that have a source and are not in the list
    #[arg(long)]
    pub prune: bool,
    #[command(flatten)]
    pub findings: FindingsOption,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
    #[command(flatten)]
    pub scope: LayerOption,
}

impl SyncArgs {
    /// Makes the layer equal, and says what has changed.
    pub fn run(&self, call: CliCall) -> Answer {
        let layer = self.layer(call.facts);
        let list = self.list.as_deref().unwrap_or_default();
        if !list.is_empty() && is_foreign(&call.facts.run.env.cwd.join(list)) {
            return self.import(call, layer, list);
        }
        let skills = self.sync(call, layer)?;
        let is_changed = skills.iter().any(SyncedSkill::is_change);
        let mut text = describe_changes(&skills, call.common.dry_run);
        if is_changed {
            text += &record_and_share(call, layer, &skills);
        }
        if call.common.json {
            let result = if is_changed { "changed" } else { "unchanged" };
            text = json::one(&json!({
                "result": result,
                "dry_run": call.common.dry_run,
                "layer": layer.as_str(),
                "skills": skills,
            }))?;
        } else if call.common.quiet && !call.common.dry_run {
            text.clear();
        }
        if is_changed {
            return Err(Failure::Changed(text));
        }
        Ok(text)
    }

    /// Installs each skill of another program's lockfile, which says where a skill is and not what
    /// is in it; a failure if one was left out.
    fn import(&self, call: CliCall, layer: Layer, list: &str) -> Answer {
        if self.prune {
            let error = Error::new("`--prune` needs a list of exactly which skills to keep");
            return Err(error.hint("give a skills.lock.json or a collection").into());
        }
        let mut confirm = install_decision(call, self.findings, layer, None)?;
        let market = market_for(call, layer, self.offline)?;
        let mut outcomes = Outcomes::new(call);
        let mut new = Vec::new();
        for (name, done) in market.import_lock(Path::new(list), &mut confirm, &mut note)? {
            let record = |installed| install::record_installed(call, installed, (layer, &[]));
            match done.and_then(record) {
                Ok(told) => {
                    for (skill, text) in told {
                        outcomes.push(&skill.name, Ok(text));
                        new.extend(Some(skill).filter(install::is_new));
                    }
                }
                Err(error) => {
                    let left_out = format!("`{}` was left out", one_line(&name));
                    outcomes.push(&name, Err(error.context(left_out)));
                }
            }
        }
        outcomes.then(install::what_next(call, &new, layer));
        let text = outcomes.answer()?;
        if new.is_empty() {
            Ok(text)
        } else {
            Err(Failure::Changed(text))
        }
    }

    /// The answer to a program when nothing was done.
    pub fn refused(error: &Error, layer: Layer, common: CommonOptions) -> Failure {
        let mut refused = json!({
            "result": "refused",
            "dry_run": common.dry_run,
            "layer": layer.as_str(),
            "skills": [],
            "error": error.to_string(),
        });
        if let Some(hint) = error.next_step() {
            refused["hint"] = hint.into();
        }
        match json::one(&refused) {
            Ok(text) => Failure::Answered(text),
            Err(error) => Failure::Failed(error),
        }
    }

    /// Where it works: with a layer's own lockfile in that layer; without a list, where there is one
    /// to go by, as `install` does.
    pub fn layer(&self, facts: &Facts) -> Layer {
        match &self.list {
            Some(list) if self.scope.is_default() => {
                let list = real(&facts.run.env.cwd.join(list));
                let mut layers = [Layer::Plugin, Layer::Project].into_iter();
                let is_its =
                    |layer: &Layer| real(&layer.dir(facts).join("skills.lock.json")) == list;
                layers.find(is_its).unwrap_or(Layer::Personal)
            }
            Some(_) => self.scope.layer(),
            None => install::layer_to_restore(facts, self.scope),
        }
    }

    fn sync(&self, call: CliCall, layer: Layer) -> Result<Vec<SyncedSkill>> {
        let market = market_for(call, layer, self.offline)?;
        let list = match &self.list {
            Some(list) if list.starts_with("oci://") => SyncList::Collection(list.clone()),
            Some(path) => SyncList::File(Path::new(path).to_owned()),
            None => SyncList::Own,
        };
        let policies = call.facts.policies()?;
        let consenting = Consent::new(call, self.findings);
        let mut agree = |plan: &SyncPlan| {
            permits(&policies, layer, &plan.plan)?;
            let gone = plan.skills.iter();
            for one in gone.filter(|one| one.change == SyncAction::Removed) {
                permits_loss(call.facts, layer, &one.name)?;
            }
            if call.common.dry_run {
                if !plan.plan.skills.is_empty() {
                    consenting.tell_plan(&plan.plan, None);
                }
                return Ok(false);
            }
            agrees(call, consenting, plan)
        };
        let listed = |one: &SyncedSkill| {
            permits_source_of(&policies, layer, &one.name, (Some(&one.source), None))
        };
        market.sync((&list, self.prune), &listed, &mut agree, &mut note)
    }
}

/// Shows what would be done, and decides.
fn agrees(call: CliCall, consenting: Consent, plan: &SyncPlan) -> Result<bool> {
    let shown = describe_changes(&plan.skills, true);
    if plan.plan.skills.is_empty() || !call.asks() && !call.common.yes {
        return call.to_decide(&shown, "Do it?");
    }
    if call.asks() {
        eprint(format_args!("{shown}"));
    }
    consenting.to_install(&plan.plan, None)
}

/// Records what was done, and has other agents find it.
fn record_and_share(call: CliCall, layer: Layer, skills: &[SyncedSkill]) -> String {
    let mut text = String::new();
    let mut new = Vec::new();
    for one in skills {
        let kind = match one.change {
            SyncAction::Unchanged | SyncAction::Extra => continue,
            SyncAction::Installed => "install",
            SyncAction::Replaced | SyncAction::Recorded => "update",
            SyncAction::Removed => "remove",
        };
        if one.change == SyncAction::Removed {
            text += &withdraw(call, layer, &one.name);
        }
        if one.change == SyncAction::Installed {
            let name = one.name.to_string();
            let installed = InstalledSkill {
                name,
                ..InstalledSkill::default()
            };
            new.push((installed, String::new()));
        }
        let more = [
            ("source", Some(one.source.clone())),
            ("from", one.from.clone()),
            ("commit", one.to.clone()),
        ];
        call.record(kind, (&one.name, layer), more);
    }
    // Without agents given, nothing can be wrong with them.
    let _ = share(call, (layer, &[]), &mut new);
    text.extend(new.into_iter().map(|(_, line)| line));
    text
}

/// What is or would be done, a line for each skill.
fn describe_changes(skills: &[SyncedSkill], dry_run: bool) -> String {
    let mut text = String::new();
    for one in skills {
        let name = listed_name(&one.name);
        let source = source_at(&one.source, one.to.as_deref());
        let (done, to_do, rest) = match one.change {
            SyncAction::Unchanged | SyncAction::Extra => continue,
            SyncAction::Installed => ("installed", "install", format!(" from {source}")),
            SyncAction::Replaced => {
                let old = one.from.as_deref().map(short_commit);
                let old = old.map_or_else(String::new, |old| format!(" at {}", one_line(old)));
                let rest = format!("{old} by that from {source}");
                ("replaced", "replace", rest)
            }
            SyncAction::Recorded => {
                let rest = format!(" as from {source}; its files stay");
                ("recorded", "record", rest)
            }
            SyncAction::Removed => ("removed", "remove", String::new()),
        };
        let would = format!("would {to_do}");
        let verb = if dry_run { &would } else { done };
        let _ = writeln!(text, "{verb} `{name}`{rest}");
        if let Some(place) = &one.stashed {
            let _ = writeln!(text, "  your changes are kept in {place}");
        } else if one.edited {
            text += "  it was changed here: a copy would be kept in stash/\n";
        }
    }
    let of = |fate| skills.iter().filter(|one| one.change == fate).count();
    let (same, extra) = (of(SyncAction::Unchanged), of(SyncAction::Extra));
    if same > 0 {
        let (one, many) = ("skill matches the list", "skills match the list");
        let _ = writeln!(text, "{}", counted(same, one, many));
    }
    if extra > 0 {
        let skills = counted(extra, "skill is", "skills are");
        let _ = writeln!(
            text,
            "{skills} not in the list; `--prune` removes those that have a source"
        );
    }
    if text.is_empty() {
        text.push_str("the list is empty, and nothing is installed here\n");
    }
    text
}
