//! `policy explain`: what each rule says of each skill, and where it is written.

use serde::Serialize;

use crate::catalog::{Catalog, Entry, Explained, Explainer, Holds, Installed, signature};
use crate::cli::named::installed;
use crate::cli::options::Common;
use crate::cli::report::is_told;
use crate::cli::{Answer, Failure, Paint, Screen, json};
use crate::error::Result;
use crate::facts::Facts;
use crate::marketplace::Checked;
use crate::policy::{InForce, MissingSkill, in_force};
use crate::skill::{SkillName, one_line};

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
pub fn rules(facts: &Facts) -> Result<Vec<InForce>> {
    let (policies, own) = (facts.policies()?, facts.own_config()?);
    in_force(&facts.run, facts.state(), &policies, &own)
}

/// What holds for the skills that `name` means, or for all.
///
/// # Errors
/// When a policy or the configuration cannot be relied on, or there is no such skill. The same answer
/// if a required one is missing.
pub fn show(facts: &Facts, common: Common, screen: Screen, name: Option<&str>) -> Answer {
    let rules = rules(facts)?;
    let catalog = match name {
        Some(name) => Catalog::naming_each(facts, &[name.to_owned()]),
        None => Catalog::of(facts),
    };
    let wanted = name.map(SkillName::from_written);
    let is_meant = |one: &&MissingSkill| {
        wanted
            .as_ref()
            .is_none_or(|it| it.as_ref() == Some(&one.name))
    };
    let missing = catalog.missing.iter().filter(is_meant);
    let missing: Vec<String> = missing.map(ToString::to_string).collect();
    let meant = meant(facts, &catalog, name);
    let meant = match meant {
        // One that is missing may be nowhere.
        Err(_) if !missing.is_empty() => Vec::new(),
        meant => meant?,
    };
    let explainer = Explainer::new(facts);
    let mut origins = Installed::default();
    let about = meant
        .into_iter()
        .map(|entry| About::new(facts, (&explainer, &rules), entry, &mut origins));
    let answer = Explanation {
        skills: about.collect(),
        missing,
    };
    let text = if common.json {
        json::one(&answer)?
    } else {
        answer.render(screen)
    };
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
            let line = screen.hanging("missing: ", &one_line(missing), 2);
            text += &line;
        }
        for skill in &self.skills {
            let state = match (skill.required, skill.offered) {
                (true, _) => "required and offered",
                (false, true) => "offered",
                (false, false) => "not offered",
            };
            let name = screen.paint(&one_line(&skill.name), Paint::Bold);
            let version = skill.version.as_ref();
            let version = version.map(|it| format!(" {}", one_line(it)));
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
