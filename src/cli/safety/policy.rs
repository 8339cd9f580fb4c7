//! `policy`: what is in force, where it is written, and what it does to which skill.

use std::fmt::Write as _;

use serde::Serialize;

use super::policy_explained::{self, rules};
use crate::activation::{added_entries, why_not_added};
use crate::catalog::{Catalog, Entry, Standing, Withheld};
use crate::cli::options::Common;
use crate::cli::report::is_told;
use crate::cli::{Answer, Failure, Paint, Screen, json};
use crate::error::Error;
use crate::facts::Facts;
use crate::policy::{Config, InForce};
use crate::skill::one_line;
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
    pub fn run(&self, facts: &Facts, common: Common, screen: Screen) -> Answer {
        let Some(Asking::Explain { name }) = &self.ask else {
            return show(facts, common, screen);
        };
        policy_explained::show(facts, common, screen, name.as_deref())
    }
}

#[derive(Serialize)]
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
fn show(facts: &Facts, common: Common, screen: Screen) -> Answer {
    let answer = Report::new(facts);
    let text = if common.json {
        json::one(&answer)?
    } else {
        answer.render(screen)
    };
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
        let mut skills = Vec::new();
        let mut unaffected = 0;
        for entry in told {
            let effects = effects(facts, &config, &catalog, entry);
            if effects.is_empty() {
                unaffected += 1;
                continue;
            }
            skills.push(Affected {
                name: entry.name(),
                layer: entry.layer.as_str(),
                path: entry.dir.display().to_string(),
                effects,
            });
        }
        Self {
            error: None,
            hint: None,
            rules,
            missing: catalog.missing.iter().map(ToString::to_string).collect(),
            skills,
            unaffected,
        }
    }

    /// What is in force is not known, so nothing is offered.
    fn closed(error: &Error) -> Self {
        Self {
            error: Some(format!("no skill is offered: {error}")),
            hint: error.next_step().map(str::to_owned),
            rules: Vec::new(),
            missing: Vec::new(),
            skills: Vec::new(),
            unaffected: 0,
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
        section(&mut text, "Policy", screen);
        if policies.is_empty() {
            text.push_str("  no policy restricts this machine\n");
        }
        text.extend(policies.iter().map(|rule| line(rule, screen)));
        section(&mut text, "Configuration", screen);
        if configured.is_empty() {
            text.push_str("  every key has its default\n");
        }
        text.extend(configured.iter().map(|rule| line(rule, screen)));
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
            found(
                "name-only",
                "the model does not see its description (`visibility`)".to_owned(),
            );
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
            found(
                "always-on",
                format!("in contexts `{contexts}` (`uses_skills`)"),
            );
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
        found(
            "allow",
            format!("what the configuration adds to its list does not count: {why}"),
        );
    }
    effects
}
