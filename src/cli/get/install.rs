//! `install`, and how the outcome of an install is reported.

use std::slice::from_ref;

use crate::activation::unmet;
use crate::cli::get::update::{push_update, record};
use crate::cli::prelude::*;
use crate::cli::set_up::config::set_in_config;
use crate::marketplace::{
    InstallOptions, InstallStatus, InstalledSkill, LocalEdits, Pick, ReferenceForm, UpdateOptions,
    Updated, offered_name,
};

/// Install skills from a repository, archive, site or directory
#[derive(Debug, clap::Args)]
pub struct InstallArgs {
    /// owner/skill, owner/repo@skill, owner/repo/path, a URL, skill@source, or ./directory;
    /// restores from the lockfile if omitted
    #[arg(value_name = "REFERENCE")]
    pub references: Vec<String>,
    #[command(flatten)]
    pub findings: FindingsOption,
    /// Install every skill of the repository
    #[arg(long, conflicts_with = "skill", requires = "references")]
    pub all: bool,
    /// List the skills of the repository, and install none
    #[arg(long, requires = "references", conflicts_with_all = ["all", "skill", "name", "accept_findings"])]
    pub list: bool,
    /// Install these skills of the repository
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        requires = "references"
    )]
    pub skill: Vec<String>,
    /// Install it under this name if its own is taken
    #[arg(long, requires = "references")]
    pub name: Option<String>,
    /// How to interpret the reference
    #[arg(long, value_enum, requires = "references")]
    pub reading: Option<ReferenceForm>,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
    /// Restore exactly what the lockfile says, or fail
    #[arg(long, conflicts_with = "references")]
    pub frozen: bool,
    /// The agents besides chibi that are to find it, such as claude-code
    #[arg(long = "for", value_name = "AGENT,…", value_delimiter = ',')]
    pub agents: Vec<Agent>,
    #[command(flatten)]
    pub scope: LayerOption,
}

impl InstallArgs {
    /// The command for a message, without what consents to it.
    fn command(&self, reference: Option<&str>) -> String {
        let mut words: Vec<String> = vec!["install".to_owned()];
        words.extend(reference.map(str::to_owned));
        words.extend(self.all.then(|| "--all".to_owned()));
        let agents: Vec<&str> = self.agents.iter().map(|agent| agent.as_str()).collect();
        let layer = Some(self.scope.layer().as_str()).filter(|_| !self.scope.is_default());
        let options = [
            ("--for", agents.join(",")),
            ("--skill", self.skill.join(",")),
            ("--name", self.name.clone().unwrap_or_default()),
            ("--reading", self.reading()),
            ("--layer", layer.unwrap_or_default().to_owned()),
        ];
        let given = options.into_iter().filter(|(_, value)| !value.is_empty());
        words.extend(given.flat_map(|(option, value)| [option.to_owned(), value]));
        shell_command(&words)
    }

    /// The command that shows what a reference means.
    fn show(&self, reference: &str) -> String {
        match &*self.reading() {
            "" => shell_command(&["show", reference]),
            reading => shell_command(&["show", reference, "--reading", reading]),
        }
    }

    /// How it is to be read; empty if that was not said.
    fn reading(&self) -> String {
        let value = self.reading.and_then(|reading| reading.to_possible_value());
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Lists what each reference means, or installs it, after showing it to anyone who can be asked.
    /// Without a reference, installs from the lockfile: the project's, otherwise the user's.
    pub fn run(&self, call: CliCall) -> Answer {
        let layer = match self.references[..] {
            [] => layer_to_restore(call.facts, self.scope),
            _ => self.scope.layer(),
        };
        let market = market_for(call, layer, self.offline)?;
        if self.list {
            return self.list(call, &market);
        }
        let mut references: Vec<Option<&str>> = vec![None];
        if !self.references.is_empty() {
            references = self.references.iter().map(|one| Some(&**one)).collect();
        }
        let mut outcomes = Outcomes::new(call);
        let mut new = Vec::new();
        for reference in references {
            let command = self.command(reference);
            let done = self.install(call, &market, layer, reference);
            let done = done.and_then(|installed| {
                let mut told = record_installed(call, installed.clone(), (layer, &self.agents))?;
                Self::offer_what_was_seen(call, &mut told)?;
                let switched = self.switch(call, &market, (layer, &command), &installed)?;
                Ok((told, switched))
            });
            match done {
                Ok((told, switched)) => {
                    for (skill, text) in told {
                        // What has remarks of its own is said on its own.
                        let is_plain = text.lines().count() == 1 && is_managed(&skill);
                        let note = is_plain.then_some(OutcomeNote::Unchanged(ALREADY));
                        outcomes.push_with(&skill.name, Ok(text), note.unwrap_or_default());
                        new.extend(Some(skill).filter(is_new));
                    }
                    for one in &switched {
                        push_update(&mut outcomes, one, ToolNames::of(call.facts));
                    }
                }
                Err(error) => outcomes.push(reference.unwrap_or("the lockfile"), Err(error)),
            }
        }
        outcomes.then(what_next(call, &new, layer));
        outcomes.answer()
    }

    /// Offers new skills that a person has just agreed to although a key that may be meant to
    /// restrict them does not: they were shown that, and asked.
    fn offer_what_was_seen(call: CliCall, told: &mut [(InstalledSkill, String)]) -> Result<()> {
        if call.common.dry_run || !call.asks() {
            return Ok(());
        }
        for (new, text) in told.iter_mut().filter(|(new, _)| is_new(new)) {
            let Ok(skill) = Skill::load(&new.dir) else {
                continue;
            };
            if skill.near_miss().is_none() {
                continue;
            }
            let name = offered_name(&new.dir, &skill);
            let key = ["visibility".to_owned(), name.to_string()];
            set_in_config(call.facts, &key, "on", false)?;
            text.push_str("  note: it is offered to the model, as you agreed\n");
        }
        Ok(())
    }

    fn install_options<'p>(
        &self,
        takes_first_signer: bool,
        pick: Option<Pick<'p>>,
    ) -> InstallOptions<'p> {
        InstallOptions {
            all: self.all,
            skills: self.skill.clone(),
            name: self.name.clone(),
            reading: self.reading,
            takes_first_signer,
            pick,
            is_missing: None,
        }
    }

    /// Installs what a reference means, or what the lockfile lists.
    fn install(
        &self,
        call: CliCall,
        market: &Market,
        layer: Layer,
        reference: Option<&str>,
    ) -> Result<Vec<InstalledSkill>> {
        let command = self.command(reference);
        let show = reference.map(|reference| self.show(reference));
        let mut confirm = install_decision(call, self.findings, layer, show.as_deref())?;
        let Some(reference) = reference else {
            return market.restore(self.frozen, &mut confirm, &mut note);
        };
        let pick = skill_picker(call, Some(reference), &command);
        let catalog = Catalog::of(call.facts);
        let policies = call.facts.policies()?;
        let is_missing = |skill: &Skill| {
            let (name, version) = (skill.name.as_str(), skill.fields.version());
            if catalog.by_name(name).and_then(Entry::offered).is_some() {
                return Ok(false);
            }
            let refused = refuses_skill(&policies, layer, name, (name, version.as_deref()));
            refused.map_or(Ok(true), |why| Err(Error::new(why)))
        };
        let options = InstallOptions {
            is_missing: Some(&is_missing),
            ..self.install_options(!may_be_model(call), pick.as_ref().map(|pick| pick as Pick))
        };
        market.install(reference, &options, &mut confirm, &mut note)
    }

    /// The skills that each reference means. Nothing is installed.
    fn list(&self, call: CliCall, market: &Market) -> Answer {
        let look = |reference: &str| {
            let (source, skills) =
                market.offered(reference, &self.install_options(false, None), &mut note)?;
            let shown = offered(&skills, call, &self.command(Some(reference)));
            let data = json!({"reference": reference, "source": source, "skills": skills});
            Ok((data, shown))
        };
        answer_each(call, &self.references, "references", look)
    }

    /// Switches the skills of which another version is installed.
    fn switch(
        &self,
        call: CliCall,
        market: &Market,
        (layer, command): (Layer, &str),
        installed: &[InstalledSkill],
    ) -> Result<Vec<Updated>> {
        let consenting = Consent::new(call, self.findings);
        let policies = call.facts.policies()?;
        let mut switched = Vec::new();
        for (skill, switch) in installed
            .iter()
            .filter_map(|one| Some((one, one.switch.as_ref()?)))
        {
            let options = UpdateOptions {
                edited: LocalEdits::Stash,
                switch: Some(switch),
                ..UpdateOptions::default()
            };
            let mut agree = |difference: &Difference| {
                permits_update(&policies, layer, difference)?;
                require_person_for_doubt(call, difference.provenance.as_deref())?;
                consenting.to_switch(difference, switch, command)
            };
            switched.extend(market.update(from_ref(&skill.name), options, &mut agree)?);
        }
        record(call, &switched, layer);
        Ok(switched)
    }
}

/// What is said of several skills that are there.
const ALREADY: &str = "skills are already installed; `agent-skills update` updates them";

/// Where what a lockfile has is restored: in the project, if it has one and nothing else is said.
pub fn layer_to_restore(facts: &Facts, scope: LayerOption) -> Layer {
    let project = Layer::Project.base(facts);
    if scope.is_default() && market_at(facts, &project).has_lockfile() {
        return Layer::Project;
    }
    scope.layer()
}

/// Whether it was there, and came from a source.
fn is_managed(skill: &InstalledSkill) -> bool {
    skill.status == InstallStatus::Already && skill.source.is_some()
}

/// Whether it was not there before.
pub fn is_new(skill: &InstalledSkill) -> bool {
    skill.status == InstallStatus::New
}

/// Records what was installed, has agents find it, and says of each skill what has become of it in
/// this layer, unless it is installed at another state than the one that was asked for.
///
/// # Errors
/// When a person declined all of them, or this layer's skills are not for the agents that were given.
pub fn record_installed(
    call: CliCall,
    installed: Vec<InstalledSkill>,
    (layer, agents): (Layer, &[Agent]),
) -> Result<Vec<(InstalledSkill, String)>> {
    for skill in installed.iter().filter(|skill| is_new(skill)) {
        let (source, commit) = (skill.source.clone(), skill.commit.clone());
        let from = [("source", source), ("commit", commit)];
        call.record("install", (&skill.name, layer), from);
    }
    let declined = |skill: &InstalledSkill| skill.status == InstallStatus::Declined;
    if !call.common.dry_run && !installed.is_empty() && installed.iter().all(declined) {
        return Err(Error::new("nothing was installed: you said no"));
    }
    let unmet = unmet_requirements(call.facts, &installed);
    let told = |skill: InstalledSkill| {
        if call.common.dry_run && declined(&skill) {
            let from = one_line(skill.source.as_deref().unwrap_or_default());
            let text = format!("would install `{}` from {from}\n", skill.name);
            return (skill, text);
        }
        let mut text = skill.summary() + "\n";
        for remark in skill.warnings.iter().chain(&skill.dropped) {
            let _ = writeln!(text, "  note: {}", one_line(remark));
        }
        (skill, text)
    };
    let stay = installed.into_iter().filter(|one| one.switch.is_none());
    let mut all: Vec<(InstalledSkill, String)> = stay.map(told).collect();
    if let Some((_, last)) = all.last_mut() {
        last.push_str(&unmet);
    }
    share(call, (layer, agents), &mut all)?;
    Ok(all)
}

fn unmet_requirements(facts: &Facts, installed: &[InstalledSkill]) -> String {
    let requires = |skill: &InstalledSkill| {
        let skill = Skill::load(&skill.dir).ok()?;
        skill.fields.value("requires").is_some().then_some(skill)
    };
    let new = installed.iter().filter(|skill| is_new(skill));
    let skills: Vec<Skill> = new.filter_map(requires).collect();
    if skills.is_empty() {
        return String::new();
    }
    let catalog = Catalog::of(facts);
    let mut text = String::new();
    for skill in &skills {
        for found in unmet(facts, &catalog, skill, |_| false) {
            let _ = writeln!(text, "  note: `{}`: {found}", skill.name);
        }
    }
    text
}

/// What to do next with skills that were not there before, in the words of the host.
pub fn what_next(call: CliCall, new: &[InstalledSkill], layer: Layer) -> String {
    if new.is_empty() {
        return String::new();
    }
    if layer == Layer::Project {
        let next =
            "next: agent-skills trust (skills of a project are offered once it is trusted)\n";
        return next.to_owned();
    }
    let skills: Vec<(String, Skill)> = new
        .iter()
        .filter_map(|one| {
            let skill = Skill::load(&one.dir).ok()?;
            Some((offered_name(&one.dir, &skill).to_string(), skill))
        })
        .collect();
    let is_told =
        |skill: &Skill| !skill.fields.disables_model_invocation() && skill.near_miss().is_none();
    let is_asked = skills.iter().any(|(_, skill)| is_told(skill));
    let mut each = skills.iter();
    let by_name = each.find(|(_, skill)| skill.fields.user_invocable());
    let (does, one) = match new {
        [_] => ("it does", "it"),
        _ => ("they do", "one"),
    };
    let has_chibi = has_chibi(&call.facts.run);
    let mut ways = Vec::new();
    if is_asked {
        let whom = if has_chibi { "chibi" } else { "your agent" };
        ways.push(format!("ask {whom} for what {does}"));
    }
    if let Some((name, _)) = by_name.filter(|_| has_chibi) {
        ways.push(format!("call {one} by name: chibi \"/{name}\""));
    }
    // Its own tool is not offered before the next start.
    let now = match call.caller {
        Caller::Host if is_asked => "; a model can `use` it at once",
        _ => "",
    };
    match ways.as_slice() {
        [] => String::new(),
        ways => format!("next: {}{now}\n", ways.join(", or ")),
    }
}
