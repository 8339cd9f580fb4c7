//! The text that the model gets on activation, also for an author's preview; messages about the skills
//! that a skill requires, for the model and for people.

use serde_json::json;

use crate::activation::prelude::*;
use skill_format::limits::MANY_TOKENS;

/// chibi's sub-agent is one model call without tools (docs/hosts.md#hooks).
const RUNS_HERE: &str = "This skill asks for a sub-agent (`context: fork`). It runs here, under its own \
                         restriction, because a sub-agent has no tools.";

/// A skill's instructions as handed over.
#[derive(Debug)]
pub struct Instructions<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// The name by which other tools find exactly this skill.
    pub reference: &'a str,
    /// What the skill is applied to.
    pub arguments: Option<&'a str>,
    /// Additional notes.
    pub more: Vec<String>,
    /// The element around them: [`skill::SKILL_CONTENT`] or [`skill::SKILL`].
    pub wrapper: &'static str,
}

impl Instructions<'_> {
    /// The instructions as text for a host of this protocol. Nothing is recorded.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn text(self, facts: &Facts) -> Result<String> {
        let (body, files) = read(self.skill)?;
        let mut notes = notes(
            facts.run.protocol,
            self.skill,
            &body,
            &files,
            self.reference,
        );
        notes.extend(permission_summary(facts, self.skill));
        notes.extend(long_line(&body));
        notes.extend(self.more);
        let text = skill::rendered(self.skill, &body, &files, self.arguments, &notes);
        Ok(wrapped(self.wrapper, self.skill.name.as_str(), &text))
    }

    /// The instructions with the skills that have to be loaded first, unless the model was handed
    /// them already: then a note in their place.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn once(mut self, facts: &Facts) -> Result<String> {
        let session = facts.session();
        if session.is_ok_and(|session| session.was_handed_over(self.skill, self.arguments)) {
            return Ok(still_active(self.skill, self.wrapper));
        }
        self.more.extend(required_line(facts, self.skill));
        self.text(facts)
    }
}

/// What the model may use while the skill is active; `None` if that is not enforced.
fn permission_summary(facts: &Facts, skill: &Skill) -> Option<String> {
    let (name, config) = (skill.name.as_str(), facts.config().ok()?);
    let enforced = config.permission();
    if enforced.enforcement(name) != Enforce::Restrict {
        return None;
    }
    let active = snapshot(skill, "");
    let (allowed, denied) = (active.allowed.as_deref(), &active.denied);
    let project = facts.run.project_dir();
    let brought = Restriction::parse(name, allowed, denied, &skill.dir, &project);
    let added = added_entries(facts, &config, name, &skill.dir);
    let brought = brought.adding(CONFIGURATION, added, &project);
    brought.permission_summary(facts.run.protocol == Some(Protocol::Environment))
}

/// A skill's body and files.
fn read(skill: &Skill) -> Result<(String, Vec<Resource>)> {
    let body = skill.body().map_err(|why| Error::new(why.to_string()))?;
    Ok((body, Resource::all(&skill.dir)))
}

/// The note that replaces instructions which are in the conversation already.
fn still_active(skill: &Skill, wrapper: &str) -> String {
    let name = skill.name.as_str();
    let text = format!(
        "This skill is already active and unchanged: follow its instructions in this conversation. \
         If they are no longer there: {}",
        how_to_read(name, "SKILL.md")
    );
    wrapped(wrapper, name, &text)
}

/// The call that reads a file of a skill.
pub fn how_to_read(name: &str, path: &str) -> String {
    let call = json!({"skill": name, "path": path});
    format!("{} {call}", ours::READ_FILE)
}

/// A warning if the instructions take up much of the model's context.
fn long_line(body: &str) -> Option<String> {
    let tokens = skill::tokens(body);
    (tokens > MANY_TOKENS).then(|| {
        format!(
            "These instructions are long: approx. {} tokens. Tell the user if context runs short.",
            skill::shown_tokens(tokens)
        )
    })
}

/// How to go on with a skill's files, and what its words for tools mean here.
fn notes(
    protocol: Option<Protocol>,
    skill: &Skill,
    body: &str,
    files: &[Resource],
    name: &str,
) -> Vec<String> {
    let (scripts, others): (Vec<_>, Vec<_>) = files
        .iter()
        .take(limits::LISTED_RESOURCES)
        .filter(|file| !file.path.starts_with("tests"))
        .partition(|file| Runner::is_meant_at(&skill.dir.join(&file.path)));
    let mut ways = Vec::new();
    if !others.is_empty() {
        ways.push(format!("Read its files with {}.", ours::READ_FILE));
    }
    if !scripts.is_empty() {
        ways.push(format!("Run its scripts with {}.", ours::RUN_SCRIPT));
    }
    if !ways.is_empty() && skill.name.as_str() != name {
        ways.push(format!("There its name is `{name}`."));
    }
    let mut notes = Vec::new();
    if !ways.is_empty() {
        notes.push(ways.join(" "));
    }
    if skill.fields.is_forked() {
        notes.push(RUNS_HERE.to_owned());
    }
    let older = protocol == Some(Protocol::Environment);
    notes.extend(tools::mapping_line(body, older));
    notes
}

/// Why a skill cannot get all that it requires; empty if it can. Skills for which `elsewhere` holds
/// count as present.
pub fn unmet(
    facts: &Facts,
    catalog: &Catalog,
    skill: &Skill,
    elsewhere: impl Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    if skill.fields.value("requires").is_none() {
        return Vec::new();
    }
    let mut required = required(facts, catalog, skill);
    required.missing.retain(|name| !elsewhere(name));
    let mut found = Vec::new();
    if !required.missing.is_empty() {
        let missing = backticked(required.missing.iter().map(|name| plain(name)), ", ");
        found.push(Diagnostic::RequiresMissing(missing));
    }
    if let Some(cycle) = &required.cycle {
        found.push(Diagnostic::RequiresCircle(circle(cycle)));
    }
    let most = facts.config().unwrap_or_default().max_active.0.get();
    if required.names.len() >= most {
        found.push(Diagnostic::RequiresTooMany(required.names.len() + 1, most));
    }
    found
}

/// Which skills the model has to load first, and how; `None` if there are none.
pub fn required_line(facts: &Facts, skill: &Skill) -> Option<String> {
    skill.fields.value("requires")?;
    let mut required = required(facts, &Catalog::of(facts), skill);
    let session = facts.session().unwrap_or_default();
    let is_active = |name: &SkillName| session.active().any(|active| active.name == name.as_str());
    required.names.retain(|name| !is_active(name));
    let mut said = Vec::new();
    // The skill itself is active or will be, so it counts once.
    let is_other = |active: &&ActiveSkill| active.name != skill.name.as_str();
    let would_be = required.names.len() + 1 + session.active().filter(is_other).count();
    let most = facts.config().unwrap_or_default().max_active.0.get();
    if !required.names.is_empty() && would_be > most {
        said.push(format!(
            "This skill requires {}. Loading them would make {would_be} skills active; the limit is \
             {most}. Load those that this task needs, and tell the user, who can raise `max_active`.",
            backticked(&required.names, ", "),
        ));
    } else if !required.names.is_empty() {
        let mut names = required.names.clone();
        names.push(skill.name.clone());
        let call = json!({"action": "load", "names": names, "mode": "add"});
        said.push(format!(
            "This skill requires {}. Load in this order: {} {call}",
            backticked(&required.names, ", "),
            ours::SESSION
        ));
    }
    if !required.missing.is_empty() {
        said.push(format!(
            "Required, but not installed or not offered: {}. Tell the user.",
            backticked(required.missing.iter().map(|name| plain(name)), ", ")
        ));
    }
    if let Some(cycle) = required.cycle {
        said.push(format!(
            "Its requirements are circular: {}.",
            circle(&cycle)
        ));
    }
    (!said.is_empty()).then(|| said.join("\n"))
}

/// Everything that `skill` requires. Owners are looked up only if a name is qualified.
fn required(facts: &Facts, catalog: &Catalog, skill: &Skill) -> RequiredSkills {
    let required = catalog.required(skill);
    if required.missing.iter().any(|name| is_qualified(name)) {
        return Catalog::load_with_owners(facts).required(skill);
    }
    required
}

fn circle(names: &[SkillName]) -> String {
    let names: Vec<&str> = names.iter().map(SkillName::as_str).collect();
    names.join(" → ")
}
