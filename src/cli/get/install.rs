//! `install`, and how the outcome of an install is reported.

use std::fmt::Write as _;
use std::slice::from_ref;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::activation::unmet;
use crate::catalog::Layer;
use crate::cli::caller::{decided_by_a_person, pasted};
use crate::cli::consent::Consenting;
use crate::cli::describe::doubt;
use crate::cli::get::update::{record, unless_failed, what_changed};
use crate::cli::market::{market_for, note};
use crate::cli::options::{Consent, Scope};
use crate::cli::permitted::{deciding, permits_update};
use crate::cli::{Caller, Failure};
use crate::error::{Error, Result};
use crate::marketplace::{
    As, Difference, Edited, InstallOptions, Installed, Status, UpdateOptions,
};
use crate::policy::Event;
use crate::run_context::RunContext;
use crate::skill::{Skill, one_line};

/// Install skills from a repository, archive, site or directory
#[derive(Debug, clap::Args)]
pub struct Install {
    /// owner/skill, owner/repo@skill, owner/repo/path, a URL, skill@source, or ./directory;
    /// restores from the lockfile if omitted
    pub reference: Option<String>,
    #[command(flatten)]
    pub consent: Consent,
    /// Install every skill of the repository
    #[arg(long, conflicts_with = "skill", requires = "reference")]
    pub all: bool,
    /// Install these skills of the repository
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        requires = "reference"
    )]
    pub skill: Vec<String>,
    /// Install it under this name if another skill has its own
    #[arg(long, requires = "reference")]
    pub name: Option<String>,
    /// How to interpret the reference
    #[arg(long, value_enum, requires = "reference")]
    pub reading: Option<As>,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
    /// Restore exactly what the lockfile says, or fail
    #[arg(long, conflicts_with = "reference")]
    pub frozen: bool,
    #[command(flatten)]
    pub scope: Scope,
}

impl Install {
    /// The command for a message, without what consents to it.
    fn command(&self) -> String {
        let mut words = vec!["install"];
        words.extend(self.reference.as_deref());
        if self.all {
            words.push("--all");
        }
        let skills = self.skill.join(",");
        let layer = self.scope.layer();
        let reading = self.reading.and_then(|reading| reading.to_possible_value());
        let options = [
            (
                "--skill",
                (!self.skill.is_empty()).then_some(skills.as_str()),
            ),
            ("--name", self.name.as_deref()),
            ("--reading", reading.as_ref().map(PossibleValue::get_name)),
            (
                "--layer",
                (!self.scope.is_default()).then_some(layer.as_str()),
            ),
        ];
        for (option, value) in options {
            words.extend(value.into_iter().flat_map(|value| [option, value]));
        }
        pasted(&words)
    }

    /// Installs what the reference names, after showing it to anyone who can be asked. Without a
    /// reference, installs from the lockfile: the project's, otherwise the user's.
    pub fn run(self, ctx: &RunContext, caller: Caller) -> Result<String, Failure> {
        let (command, mut layer) = (self.command(), self.scope.layer());
        let mut base = self.scope.base(ctx);
        if self.reference.is_none() && self.scope.is_default() {
            let project = ctx.base(&ctx.layer_dir(Layer::Project));
            if ctx.market_at(&project).has_lockfile() {
                (base, layer) = (project, Layer::Project);
            }
        }
        let mut confirm = deciding(ctx, caller, self.consent, layer, &command)?;
        let market = market_for(ctx, &base, self.offline, layer)?;
        let installed = if let Some(reference) = &self.reference {
            let options = InstallOptions {
                all: self.all,
                skills: self.skill,
                name: self.name,
                reading: self.reading,
            };
            market.install(reference, &options, &mut confirm, &mut note)?
        } else {
            market.restore(self.frozen, &mut confirm, &mut note)?
        };
        for skill in installed.iter().filter(|skill| is_new(skill)) {
            let event = Event::new("install")
                .with("skill", skill.name.as_str())
                .with("source", skill.source.clone())
                .with("commit", skill.commit.clone());
            ctx.record(event.with("layer", layer.as_str()));
        }
        let mut answer = outcome(&installed, layer)? + &unmet_of(ctx, &installed);
        let consenting = Consenting::new(ctx, self.consent, caller);
        let policies = ctx.policies()?;
        let mut switched = Vec::new();
        for (skill, switch) in installed
            .iter()
            .filter_map(|one| Some((one, one.switch.as_ref()?)))
        {
            let options = UpdateOptions {
                edited: Edited::Stash,
                switch: Some(switch),
                ..UpdateOptions::default()
            };
            let mut agree = |difference: &Difference| {
                permits_update(&policies, layer, difference)?;
                if let Some(doubt) = difference.provenance.as_deref().and_then(doubt) {
                    decided_by_a_person(ctx, caller, &command)
                        .map_err(|error| error.context(doubt))?;
                }
                consenting.to_switch(difference, switch, &command)
            };
            switched.extend(market.update(from_ref(&skill.name), options, &mut agree)?);
        }
        record(ctx, &switched, layer);
        answer.extend(switched.iter().map(what_changed));
        unless_failed(&switched, answer, caller)
    }
}

fn is_new(skill: &Installed) -> bool {
    skill.status == Status::New
}

/// What has become of each skill in this layer.
///
/// # Errors
/// When a person declined all of them.
pub fn outcome(installed: &[Installed], layer: Layer) -> Result<String> {
    let declined = |skill: &Installed| skill.status == Status::Declined;
    if !installed.is_empty() && installed.iter().all(declined) {
        return Err(Error::new("nothing was installed: you said no"));
    }
    let mut text = String::new();
    for skill in installed.iter().filter(|skill| skill.switch.is_none()) {
        let _ = writeln!(text, "{}", skill.summary());
        for remark in skill.dropped.iter().chain(&skill.warnings) {
            let _ = writeln!(text, "  note: {}", one_line(remark));
        }
        if is_new(skill) && layer != Layer::Project {
            let _ = writeln!(
                text,
                "  the model can use it now: skill_marketplace {{\"action\": \"use\", \
                 \"skill_ref\": \"{}\"}}",
                skill.name
            );
        }
    }
    if layer == Layer::Project && !installed.is_empty() {
        text.push_str("  it is used once the project is trusted: agent-skills trust\n");
    }
    Ok(text)
}

fn unmet_of(ctx: &RunContext, installed: &[Installed]) -> String {
    let requires = |skill: &Installed| {
        let skill = Skill::load(&skill.dir).ok()?;
        skill.fields.value("requires").is_some().then_some(skill)
    };
    let new = installed.iter().filter(|skill| is_new(skill));
    let skills: Vec<Skill> = new.filter_map(requires).collect();
    if skills.is_empty() {
        return String::new();
    }
    let catalog = ctx.catalog();
    let mut text = String::new();
    for skill in &skills {
        for found in unmet(ctx, &catalog, skill, |_| false) {
            let _ = writeln!(text, "  note: `{}`: {found}", skill.name);
        }
    }
    text
}
