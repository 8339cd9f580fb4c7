//! `policy`: what is in force, where it is written, and what it does to which skill; `policy explain`:
//! what each rule says of each skill.

use std::fmt::Write as _;

use serde::Serialize;

use crate::activation::{added_entries, why_not_added};
use crate::catalog::{
    Catalog, Entry, Explained, Explainer, Holds, Installed, Standing, Withheld, signature,
};
use crate::cli::named::installed;
use crate::cli::report::is_told;
use crate::cli::{Answer, Call, Failure, Paint, Screen};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::marketplace::Checked;
use crate::policy::{Config, InForce, MissingSkill, in_force};
use crate::skill::{SkillName, one_line};
use crate::sys::text::counted;

/// Show what is in force, from where, and which skills it affects
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Policy {
    /// What else to do
    #[command(subcommand)]
    pub ask: Option<Asking>,
}

/// What `policy` can do.
#[derive(Debug, clap::Subcommand)]
pub enum Asking {
    /// Say of each skill which rule it keeps, and why
    Explain {
        /// Only of this skill, there or required
        name: Option<String>,
    },
}

impl Policy {
    /// Shows it.
    pub fn run(&self, call: Call) -> Answer {
        let Some(Asking::Explain { name }) = &self.ask else {
            return show(call);
        };
        explain(call, name.as_deref())
    }
}

#[derive(Default, Serialize)]
struct Report {
    /// Why nothing can be said, and the next step: a file cannot be relied on.
    error: Option<String>,
    hint: Option<String>,
    rules: Vec<InForce>,
    /// Skills that a policy requires and that are missing, each with the reason.
    missing: Vec<String>,
    skills: Vec<Affected>,
    /// How many skills nothing affects.
    unaffected: usize,
}

/// A skill, and what is done to it.
#[derive(Serialize)]
struct Affected {
    name: String,
    layer: &'static str,
    path: String,
    effects: Vec<Effect>,
}

#[derive(Serialize)]
struct Effect {
    /// `hidden`, `name-only`, `always-on` or `allow`.
    effect: &'static str,
    /// A clause on one line.
    reason: String,
}

/// Everything that is in force.
///
/// # Errors
/// The same answer if a file cannot be relied on, or a required skill is missing.
fn show(call: Call) -> Answer {
    let answer = Report::new(call.facts);
    let text = call.answer(&answer, || answer.render(call.screen))?;
    Failure::unless(answer.error.is_none() && answer.missing.is_empty(), text)
}

impl Report {
    fn new(facts: &Facts) -> Self {
        let catalog = Catalog::of(facts);
        let entries = catalog.entries().iter();
        let told = entries.filter(|entry| is_told(&facts.run, entry));
        let (rules, config) = match (rules(facts), facts.config()) {
            (Ok(rules), Ok(config)) => (rules, config),
            (Err(error), _) | (_, Err(error)) => return Self::closed(&error),
        };
        let affected = told.map(|entry| Affected {
            name: entry.name(),
            layer: entry.layer.as_str(),
            path: entry.dir.display().to_string(),
            effects: effects(facts, &config, &catalog, entry),
        });
        let (skills, others): (Vec<_>, Vec<_>) = affected.partition(|it| !it.effects.is_empty());
        Self {
            rules,
            missing: catalog.missing.iter().map(ToString::to_string).collect(),
            skills,
            unaffected: others.len(),
            ..Self::default()
        }
    }

    /// What is in force is not known, so nothing is offered.
    fn closed(error: &Error) -> Self {
        Self {
            error: Some(format!("no skill is offered: {error}")),
            hint: error.next_step().map(str::to_owned),
            ..Self::default()
        }
    }

    fn render(&self, screen: Screen) -> String {
        let mut text = String::new();
        if let Some(error) = &self.error {
            text += &screen.hanging("", &one_line(error), 0);
            let hint = self.hint.iter();
            text.extend(hint.map(|hint| screen.hanging("hint: ", &one_line(hint), 6)));
            return text;
        }
        let is_of_file = |rule: &&InForce| rule.layer == "policy" && rule.file.is_some();
        let (policies, configured): (Vec<_>, Vec<_>) = self.rules.iter().partition(is_of_file);
        for (title, rules, none) in [
            ("Policy", policies, "  no policy restricts this machine\n"),
            ("Configuration", configured, "  every key has its default\n"),
        ] {
            section(&mut text, title, screen);
            text += if rules.is_empty() { none } else { "" };
            text.extend(rules.iter().map(|rule| line(rule, screen)));
        }
        if !self.missing.is_empty() {
            section(&mut text, "Missing", screen);
        }
        for missing in &self.missing {
            text += &screen.hanging("  ", &one_line(missing), 6);
        }
        section(&mut text, "Skills", screen);
        for skill in &self.skills {
            let name = screen.paint(&one_line(&skill.name), Paint::Bold);
            let _ = writeln!(text, "  {name} ({})", skill.layer);
            for effect in &skill.effects {
                let first = format!("    {}: ", effect.effect);
                text += &screen.hanging(&first, &one_line(&effect.reason), first.len());
            }
        }
        let skills = match self.skills.len() {
            0 => counted(self.unaffected, "skill is", "skills are"),
            _ => counted(self.unaffected, "other skill is", "other skills are"),
        };
        if self.unaffected > 0 {
            let _ = writeln!(text, "  {skills} not affected");
        }
        text
    }
}

fn section(text: &mut String, title: &str, screen: Screen) {
    let _ = writeln!(text, "{}", screen.paint(title, Paint::Bold));
}

/// A key with its value, and where it is written.
fn line(rule: &InForce, screen: Screen) -> String {
    let from = match (&rule.file, rule.line) {
        (Some(file), Some(line)) => format!("{file}, line {line}"),
        (Some(file), None) => file.clone(),
        (None, _) => "as the policy requires".to_owned(),
    };
    let text = format!("{} = {} ({from})", rule.key, rule.value);
    screen.hanging("  ", &one_line(&text), 6)
}

/// What is done to one skill.
fn effects(facts: &Facts, config: &Config, catalog: &Catalog, entry: &Entry) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut found = |effect, reason| effects.push(Effect { effect, reason });
    match &entry.standing {
        Standing::Withheld(withheld, why) if *withheld != Withheld::Shadowed => {
            found("hidden", why.to_string());
        }
        Standing::Offered { name_only: true } => {
            let reason = "the model does not see its description (`visibility`)";
            found("name-only", reason.to_owned());
        }
        // An author's mistake, or another skill, is not what is in force.
        Standing::Withheld(..) | Standing::Unusable | Standing::Offered { name_only: false } => {}
    }
    for (contexts, names) in config.uses_skills.lists() {
        let is_it = |name: &String| {
            let named = catalog.by_users_name(name);
            named.is_some_and(|named| named.dir == entry.dir)
        };
        if names.iter().any(is_it) {
            let reason = format!("in contexts `{contexts}` (`uses_skills`)");
            found("always-on", reason);
        }
    }
    let name = entry.name();
    let added = added_entries(facts, config, &name, &entry.dir);
    if !added.is_empty() {
        let entries = added.join("`, `");
        let reason =
            format!("the configuration adds `{entries}` to its list (`skills.NAME.allow`)");
        found("allow", reason);
    } else if let Some(why) = why_not_added(facts, &name, &entry.dir) {
        let reason = format!("what the configuration adds to its list does not count: {why}");
        found("allow", reason);
    }
    effects
}

#[derive(Serialize)]
struct Explanation {
    skills: Vec<About>,
    /// Required skills that are missing, each with the reason.
    missing: Vec<String>,
}

#[derive(Serialize)]
struct About {
    name: String,
    layer: &'static str,
    path: String,
    /// Whether the model is told of it.
    offered: bool,
    /// Whether a policy requires it.
    required: bool,
    version: Option<String>,
    source: Option<String>,
    /// Its signature, if one is required of any skill.
    signature: Option<Checked>,
    rules: Vec<Ruled>,
}

#[derive(Serialize)]
struct Ruled {
    #[serde(flatten)]
    said: Explained,
    /// Where in its file the rule is.
    line: Option<usize>,
}

/// Every key that a policy or the configuration sets.
///
/// # Errors
/// If one of them cannot be relied on.
fn rules(facts: &Facts) -> Result<Vec<InForce>> {
    let (policies, own) = (facts.policies()?, facts.own_config()?);
    in_force(&facts.run, facts.state(), &policies, &own)
}

/// What holds for the skills that `name` means, or for all.
///
/// # Errors
/// When a policy or the configuration cannot be relied on, or there is no such skill. The same answer
/// if a required one is missing.
fn explain(call: Call, name: Option<&str>) -> Answer {
    let rules = rules(call.facts)?;
    let catalog = match name {
        Some(name) => Catalog::naming_each(call.facts, &[name.to_owned()]),
        None => Catalog::of(call.facts),
    };
    let wanted = name.map(SkillName::from_written);
    let is_it = |one: &SkillName| wanted.as_ref().is_none_or(|it| it.as_ref() == Some(one));
    let is_meant = |one: &&MissingSkill| is_it(&one.name);
    let missing = catalog.missing.iter().filter(is_meant);
    let missing: Vec<String> = missing.map(ToString::to_string).collect();
    let meant = match meant(call.facts, &catalog, name) {
        // One that is missing may be nowhere.
        Err(_) if !missing.is_empty() => Vec::new(),
        meant => meant?,
    };
    let explainer = Explainer::new(call.facts);
    let mut origins = Installed::default();
    let about = |entry| About::new(call.facts, (&explainer, &rules), entry, &mut origins);
    let skills = meant.into_iter().map(about).collect();
    let answer = Explanation { skills, missing };
    let text = call.answer(&answer, || answer.render(call.screen))?;
    Failure::unless(answer.missing.is_empty(), text)
}

/// The entries that a name means with all others of it, or all that may be told.
fn meant<'c>(facts: &Facts, catalog: &'c Catalog, name: Option<&str>) -> Result<Vec<&'c Entry>> {
    let told = |entry: &&Entry| is_told(&facts.run, entry);
    let Some(name) = name else {
        return Ok(catalog.entries().iter().filter(told).collect());
    };
    let entry = installed(facts, catalog, name)?;
    let rivals = catalog.rivals(entry).filter(told);
    Ok([entry].into_iter().chain(rivals).collect())
}

impl About {
    fn new(
        facts: &Facts,
        (explainer, written): (&Explainer, &[InForce]),
        entry: &Entry,
        origins: &mut Installed,
    ) -> Self {
        let rules = explainer.explain(entry).into_iter();
        let rules: Vec<Ruled> = rules.map(|said| Ruled::new(said, written)).collect();
        let is_signed = rules.iter().any(|one| one.said.rule == "signing.require");
        let skill = entry.disclosed();
        Self {
            name: entry.name(),
            layer: entry.layer.as_str(),
            path: entry.dir.display().to_string(),
            offered: entry.offered().is_some(),
            required: entry.is_required,
            version: skill.and_then(|skill| skill.fields.version()),
            source: origins.said(facts, entry).map(|said| said.source.clone()),
            signature: skill
                .filter(|_| is_signed)
                .and_then(|_| signature(facts, entry, origins).ok()),
            rules,
        }
    }
}

impl Ruled {
    fn new(said: Explained, written: &[InForce]) -> Self {
        let file = said.file.as_ref().map(|file| file.display().to_string());
        let is_it = |one: &&InForce| {
            let below = one.key.strip_prefix(said.rule);
            file.is_some()
                && one.file == file
                && below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
        };
        let line = written.iter().find(is_it).and_then(|one| one.line);
        Self { said, line }
    }
}

impl Explanation {
    fn render(&self, screen: Screen) -> String {
        let mut text = String::new();
        for missing in &self.missing {
            text += &screen.hanging("missing: ", &one_line(missing), 2);
        }
        for skill in &self.skills {
            let state = match (skill.required, skill.offered) {
                (true, _) => "required and offered",
                (false, true) => "offered",
                (false, false) => "not offered",
            };
            let name = screen.paint(&one_line(&skill.name), Paint::Bold);
            let version = skill
                .version
                .as_deref()
                .map(|it| format!(" {}", one_line(it)));
            let version = version.unwrap_or_default();
            let head = format!("{name}{version} ({}), {state}", skill.layer);
            text += &screen.hanging("", &head, 2);
            if skill.rules.is_empty() {
                text.push_str("  no rule is about it\n");
            }
            text.extend(skill.rules.iter().map(|rule| rule.line(screen)));
        }
        if self.skills.is_empty() && self.missing.is_empty() {
            text.push_str("there are no skills\n");
        }
        text
    }
}

impl Ruled {
    fn line(&self, screen: Screen) -> String {
        let outcome = match self.said.outcome {
            Holds::Holds => "holds",
            Holds::Fails => "fails",
            Holds::DoesNotApply => "does not apply",
        };
        let place = match (&self.said.file, self.line) {
            (Some(file), Some(line)) => format!(" ({}, line {line})", file.display()),
            (Some(file), None) => format!(" ({})", file.display()),
            (None, _) => String::new(),
        };
        let rule = self.said.rule;
        let why = one_line(&format!("{rule}: {}{place}", self.said.why));
        screen.hanging("  ", &format!("{outcome}  {why}"), 6)
    }
}
