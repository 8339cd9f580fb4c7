//! `policy`: what is in force, where it is written, and what it does to which skill; `policy explain`:
//! what each rule says of each skill.

use crate::activation::{added_entries, why_not_added};
use crate::catalog::signature as signature_of;
use crate::catalog::{Eligibility, EligibilityRules, InstalledEntries, rules_about};
use crate::cli::prelude::*;
use crate::policy::{MissingSkill, RuleOutcome, RuleResult, Setting, SkillUse, in_force};

/// Show what is in force, from where, and which skills it affects
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct PolicyArgs {
    /// What else to do
    #[command(subcommand)]
    pub ask: Option<PolicyAction>,
}

/// What `policy` can do.
#[derive(Debug, clap::Subcommand)]
pub enum PolicyAction {
    /// Explain which rules apply to each skill, and why
    Explain {
        /// Only of this skill, there or required
        name: Option<String>,
    },
}

impl PolicyArgs {
    /// Shows it.
    pub fn run(&self, call: CliCall) -> Answer {
        match &self.ask {
            None => show(call),
            Some(PolicyAction::Explain { name }) => explain(call, name.as_deref()),
        }
    }
}

/// Everything that is in force.
///
/// # Errors
/// The same answer if a file cannot be relied on, or a required skill is missing.
fn show(call: CliCall) -> Answer {
    let (facts, screen) = (call.facts, call.screen);
    let catalog = Catalog::of(facts);
    let read = rules(facts).and_then(|rules| Ok((rules, facts.config()?)));
    let (rules, config) = match read {
        Ok(read) => read,
        Err(error) => return unknown(call, &error),
    };
    let title = |title: &str| screen.paint(title, Paint::Bold) + "\n";
    let mut text = String::new();
    let is_of_file = |rule: &&Setting| rule.layer == "policy" && rule.file.is_some();
    let (policies, configured): (Vec<_>, Vec<_>) = rules.iter().partition(is_of_file);
    for (of, rules, none) in [
        ("Policy", policies, "  no policy restricts this machine\n"),
        ("Configuration", configured, "  every key has its default\n"),
    ] {
        text += &title(of);
        text += if rules.is_empty() { none } else { "" };
        text.extend(rules.iter().map(|rule| rule_line(rule, screen)));
    }
    let missing: Vec<String> = catalog.missing.iter().map(ToString::to_string).collect();
    if !missing.is_empty() {
        text += &title("Missing");
    }
    let shown = missing.iter();
    let shown = shown.map(|one| screen.hanging("  ", &one_line(one), 6));
    text.extend(shown);
    text += &title("Skills");
    let (mut skills, mut unaffected) = (Vec::new(), 0);
    let entries = catalog.entries().iter();
    for entry in entries.filter(|entry| is_told(&facts.run, entry)) {
        let (name, layer) = (entry.name(), entry.layer.as_str());
        let effects = effects(facts, &config, &catalog, entry);
        if effects.is_empty() {
            unaffected += 1;
            continue;
        }
        let shown = screen.paint(&one_line(&name), Paint::Bold);
        let _ = writeln!(text, "  {shown} ({layer})");
        for (effect, reason) in &effects {
            let first = format!("    {effect}: ");
            text += &screen.hanging(&first, &one_line(reason), first.len());
        }
        let effect = |(effect, reason)| json!({"effect": effect, "reason": reason});
        let effects: Vec<Value> = effects.into_iter().map(effect).collect();
        let path = entry.dir.display().to_string();
        skills.push(json!({"name": name, "layer": layer, "path": path, "effects": effects}));
    }
    let others = match skills.len() {
        0 => counted(unaffected, "skill is", "skills are"),
        _ => counted(unaffected, "other skill is", "other skills are"),
    };
    if unaffected > 0 {
        let _ = writeln!(text, "  {others} not affected");
    }
    let is_whole = missing.is_empty();
    let report = json!({
        "error": null,
        "hint": null,
        "rules": rules,
        // Skills that a policy requires and that are missing, each with the reason.
        "missing": missing,
        "skills": skills,
        // How many skills nothing affects.
        "unaffected": unaffected,
    });
    Failure::unless(is_whole, call.answer(&report, || text)?)
}

/// The same while a file cannot be relied on: what is in force is not known, so nothing is offered.
fn unknown(call: CliCall, error: &Error) -> Answer {
    let (why, hint) = (format!("no skill is offered: {error}"), error.next_step());
    let report = json!({
        "error": why, "hint": hint, "rules": [], "missing": [], "skills": [], "unaffected": 0,
    });
    let text = call.answer(&report, || {
        let hint = hint.map(|hint| call.screen.hanging("hint: ", &one_line(hint), 6));
        call.screen.hanging("", &one_line(&why), 0) + &hint.unwrap_or_default()
    })?;
    Err(Failure::Answered(text))
}

/// A key with its value, and where it is written.
fn rule_line(rule: &Setting, screen: Screen) -> String {
    let from = match (&rule.file, rule.line) {
        (Some(file), Some(line)) => format!("{file}, line {line}"),
        (Some(file), None) => file.clone(),
        (None, _) => "as the policy requires".to_owned(),
    };
    let value = rule.value.as_str().unwrap_or_default();
    let text = format!("{} = {value} ({from})", rule.key);
    screen.hanging("  ", &one_line(&text), 6)
}

/// What is done to one skill: `hidden`, `name-only`, `always-on` or `allow`, and a clause on one line.
fn effects(
    facts: &Facts,
    config: &Config,
    catalog: &Catalog,
    entry: &Entry,
) -> Vec<(&'static str, String)> {
    let mut effects = Vec::new();
    let mut found = |effect, reason| effects.push((effect, reason));
    match &entry.eligibility {
        Eligibility::Withheld(withheld, why) if *withheld != WithheldReason::Shadowed => {
            found("hidden", why.to_string());
        }
        Eligibility::Offered { name_only: true } => {
            let reason = "the model does not see its description (`visibility`)";
            found("name-only", reason.to_owned());
        }
        // An author's mistake, or another skill, is not what is in force.
        Eligibility::Withheld(..)
        | Eligibility::Unusable
        | Eligibility::Offered { name_only: false } => {}
    }
    for (contexts, names) in config.uses_skills.lists() {
        let names_entry = |name: &String| {
            let named = catalog.by_users_name(name);
            named.is_some_and(|named| named.dir == entry.dir)
        };
        if names.iter().any(names_entry) {
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
        let reason = format!("what the configuration adds to its list is ignored: {why}");
        found("allow", reason);
    }
    effects
}

/// Every key that a policy or the configuration sets.
///
/// # Errors
/// If one of them cannot be relied on.
fn rules(facts: &Facts) -> Result<Vec<Setting>> {
    let (policies, own) = (facts.policies()?, facts.own_config()?);
    in_force(&facts.run, facts.state(), &policies, &own)
}

/// What holds for the skills that `name` means, or for all.
///
/// # Errors
/// When a policy or the configuration cannot be relied on, or there is no such skill. The same answer
/// if a required one is missing.
fn explain(call: CliCall, name: Option<&str>) -> Answer {
    let rules = rules(call.facts)?;
    let catalog = match name {
        Some(name) => Catalog::naming_each(call.facts, &[name.to_owned()]),
        None => Catalog::of(call.facts),
    };
    let wanted = name.map(SkillName::from_written);
    let is_wanted = |one: &SkillName| wanted.as_ref().is_none_or(|it| it.as_ref() == Some(one));
    let is_meant = |one: &&MissingSkill| is_wanted(&one.name);
    let missing = catalog.missing.iter().filter(is_meant);
    let missing: Vec<String> = missing.map(ToString::to_string).collect();
    let meant = match skills_named(call.facts, &catalog, name) {
        // One that is missing may be nowhere.
        Err(_) if !missing.is_empty() => Vec::new(),
        meant => meant?,
    };
    let in_force = EligibilityRules::new(call.facts, SkillUse::Any);
    let mut origins = InstalledEntries::default();
    let about = |entry| explain_skill(call, (&in_force, &rules), entry, &mut origins);
    let (skills, texts): (Vec<Value>, Vec<String>) = meant.into_iter().map(about).unzip();
    let answer = json!({"skills": skills, "missing": missing});
    let text = call.answer(&answer, || {
        if skills.is_empty() && missing.is_empty() {
            return "there are no skills\n".to_owned();
        }
        let missing = missing.iter();
        let missing = missing.map(|one| call.screen.hanging("missing: ", &one_line(one), 2));
        missing.chain(texts).collect()
    })?;
    Failure::unless(missing.is_empty(), text)
}

/// The entries that a name means with all others of it, or all that may be told.
fn skills_named<'c>(
    facts: &Facts,
    catalog: &'c Catalog,
    name: Option<&str>,
) -> Result<Vec<&'c Entry>> {
    let told = |entry: &&Entry| is_told(&facts.run, entry);
    let Some(name) = name else {
        return Ok(catalog.entries().iter().filter(told).collect());
    };
    let entry = installed(facts, catalog, name)?;
    let rivals = catalog.rivals(entry).filter(told);
    Ok([entry].into_iter().chain(rivals).collect())
}

/// What each rule says of one skill, as data and as text.
fn explain_skill(
    call: CliCall,
    (rules, written): (&EligibilityRules, &[Setting]),
    entry: &Entry,
    origins: &mut InstalledEntries,
) -> (Value, String) {
    let (facts, screen, skill) = (call.facts, call.screen, entry.disclosed());
    let (name, layer) = (entry.name(), entry.layer.as_str());
    let version = skill.and_then(|skill| skill.fields.version());
    let is_offered = entry.offered().is_some();
    let state = match (entry.is_required, is_offered) {
        (true, _) => "required and offered",
        (false, true) => "offered",
        (false, false) => "not offered",
    };
    let shown = screen.paint(&one_line(&name), Paint::Bold);
    let of = version.as_deref().map(|it| format!(" {}", one_line(it)));
    let head = format!("{shown}{} ({layer}), {state}", of.unwrap_or_default());
    let mut text = screen.hanging("", &head, 2);
    let said = rules_about(rules, entry);
    if said.is_empty() {
        text.push_str("  no rule applies to it\n");
    }
    let is_signed = said.iter().any(|one| one.rule == "signing.require");
    let mut rules = Vec::new();
    for said in said {
        let line = line_of(&said, written);
        let outcome = match said.outcome {
            RuleOutcome::Holds => "holds",
            RuleOutcome::Fails => "fails",
            RuleOutcome::DoesNotApply => "does not apply",
        };
        let file = said.file.as_ref().map(|file| file.display());
        let place = match (file, line) {
            (Some(file), Some(line)) => format!(" ({file}, line {line})"),
            (Some(file), None) => format!(" ({file})"),
            (None, _) => String::new(),
        };
        let why = one_line(&format!("{}: {}{place}", said.rule, said.why));
        text += &screen.hanging("  ", &format!("{outcome}  {why}"), 6);
        // Where in its file the rule is.
        rules.push(with(json!(said), json!({"line": line})));
    }
    let signature = skill.filter(|_| is_signed);
    let signature = signature.and_then(|_| signature_of(facts, entry, origins).ok());
    let about = json!({
        "name": name,
        "layer": layer,
        "path": entry.dir.display().to_string(),
        // Whether the model is told of it, and whether a policy requires it.
        "offered": is_offered,
        "required": entry.is_required,
        "version": version,
        "source": origins.said(facts, entry).map(|said| &said.source),
        // If one is required of any skill.
        "signature": signature,
        "rules": rules,
    });
    (about, text)
}

/// The line of a rule in its file.
fn line_of(said: &RuleResult, written: &[Setting]) -> Option<usize> {
    let file = said.file.as_ref().map(|file| file.display().to_string());
    let states_rule = |one: &&Setting| {
        let below = one.key.strip_prefix(said.rule);
        file.is_some()
            && one.file == file
            && below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
    };
    written.iter().find(states_rule).and_then(|one| one.line)
}
