//! `info`: everything about one installed skill.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::author::no_effect;
use crate::catalog::{Catalog, Entry, Installed, signature};
use crate::cli::agents::names;
use crate::cli::named::installed;
use crate::cli::options::Common;
use crate::cli::outcome::look_at;
use crate::cli::report::{Report, Reporter, remark};
use crate::cli::signed::{lapsed, signed};
use crate::cli::{Answer, Caller, Paint, Screen};
use crate::facts::Facts;
use crate::marketplace::Checked;
use crate::script::program_of;
use crate::signing::Signature;
use crate::skill::{Known, Listing, Skill, brief, one_line, written};
use crate::sys::limits;
use crate::sys::text::size;

/// Show everything about installed skills
#[derive(Debug, clap::Args)]
pub struct Info {
    /// The skills' names
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Show its files instead
    #[arg(long, conflicts_with = "history")]
    pub files: bool,
    /// Show its versions instead: the one in use, the available ones, and what changed
    #[arg(long)]
    pub history: bool,
    /// Do not query its source
    #[arg(long, requires = "history")]
    pub offline: bool,
}

/// Longest part of a field's value that is shown.
const FIELD: usize = 300;

/// The report, and data collected only for a single skill.
#[derive(Debug, Serialize)]
struct Details {
    #[serde(flatten)]
    report: Report,
    license: Option<String>,
    compatibility: Option<String>,
    /// Its other fields that some client uses, as written.
    fields: Map<String, Value>,
    #[serde(skip)]
    told: Vec<(&'static str, String)>,
    /// `the model and people`, `the model`, `people` or `nobody`.
    called_by: Option<&'static str>,
    /// Other skills of its name, and why they are not offered instead.
    rivals: Vec<Rival>,
    files: usize,
    bytes: u64,
    scripts: Vec<Script>,
    /// Its signature, as it was checked just now; `null` if it may not be read.
    signature: Option<Checked>,
    #[serde(skip)]
    lapsed: Option<String>,
}

#[derive(Debug, Serialize)]
struct Rival {
    path: String,
    layer: &'static str,
    /// `null` for the one that is offered.
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct Script {
    path: String,
    /// `null` when it cannot be run here.
    interpreter: Option<String>,
    problem: Option<String>,
}

impl Info {
    /// Everything about the skills.
    pub fn run(&self, facts: &Facts, common: Common, caller: Caller, screen: Screen) -> Answer {
        let look = |name: &str| {
            let catalog = Catalog::naming(facts, name);
            let entry = installed(facts, &catalog, name)?;
            Ok(Details::new(facts, &catalog, entry))
        };
        let shown = |info: &Details| info.render(screen);
        look_at(common, caller, &self.names, "skills", look, shown)
    }
}

impl Details {
    fn new(facts: &Facts, catalog: &Catalog, entry: &Entry) -> Self {
        let skill = entry.disclosed();
        let text = |key: &str| skill.and_then(|skill| skill.fields.text(key));
        let listing = skill.map(|skill| Listing::read(&skill.dir, limits::WALKED_FILES));
        let listing = listing.unwrap_or_default();
        let scripts = listing.resources.iter().filter_map(|resource| {
            let skill = skill?;
            let label = resource.path.display().to_string();
            let file = skill.dir.join(&resource.path);
            let (interpreter, problem) =
                match program_of(&file, &skill.dir, &label, &facts.run.env)? {
                    Ok(path) => (Some(path.display().to_string()), None),
                    Err(error) => (None, Some(error.to_string())),
                };
            Some(Script {
                path: label,
                interpreter,
                problem,
            })
        });
        let rivals = catalog.rivals(entry).map(|rival| Rival {
            path: rival.dir.display().to_string(),
            layer: rival.layer.as_str(),
            reason: rival.reason_not_offered(),
        });
        let mut reporter = Reporter::new(facts, catalog);
        let origins = &mut reporter.origins;
        let signature = skill.map(|_| signature_of(facts, entry, origins));
        let known = origins.known(facts, entry).zip(signature.as_ref());
        let lapsed = known.and_then(|(known, now)| lapsed(known.signer.as_ref(), now));
        Self {
            signature,
            lapsed,
            license: text("license"),
            compatibility: text("compatibility"),
            fields: others(skill)
                .map(|(known, _, value)| (known.key.to_owned(), value.clone()))
                .collect(),
            told: skill.map(told).unwrap_or_default(),
            called_by: skill.map(|_| callers(entry)),
            rivals: rivals.collect(),
            files: listing.total,
            bytes: listing.resources.iter().map(|resource| resource.size).sum(),
            scripts: scripts.collect(),
            report: reporter.report(entry),
        }
    }

    fn render(&self, screen: Screen) -> String {
        let mut text = String::new();
        for (label, value) in self.fields() {
            let gap = " ".repeat(14_usize.saturating_sub(label.len()));
            let label = screen.paint(label, Paint::Bold) + &gap;
            text += &screen.hanging(&label, &one_line(&value), 14);
        }
        for found in &self.report.diagnostics {
            for line in screen.hanging("", &remark(found), 2).lines() {
                let _ = writeln!(text, "{}", screen.paint(line, found.level.into()));
            }
        }
        text
    }

    /// What is known, each with its label; one without continues the one before.
    fn fields(&self) -> Vec<(&'static str, String)> {
        let report = &self.report;
        let mut fields = Vec::new();
        let mut known = |label, value: Option<&str>| {
            fields.extend(value.map(|value| (label, value.to_owned())));
        };
        known("name", Some(&report.name));
        let tool = report.tool.as_deref();
        known("tool", tool.or(Some("none: it is not offered")));
        // Omit this for a skill that is unreadable or must not be shown.
        let is_told = report.tokens.is_some();
        let description = report.description.as_deref();
        known("description", description.or(is_told.then_some("none")));
        known("version", report.version.as_deref());
        known("path", Some(&report.path));
        known("layer", Some(report.layer));
        for rival in &self.rivals {
            let reason = rival.reason.as_deref();
            let reason = reason.unwrap_or("it is the one that is offered");
            let text = format!("{} ({}): {reason}", rival.path, rival.layer);
            known("also", Some(&text));
        }
        let agents = names(&report.agents);
        known("found by", Some(&*agents).filter(|names| !names.is_empty()));
        known("called by", self.called_by);
        known("license", self.license.as_deref());
        known("needs", self.compatibility.as_deref());
        for (key, value) in &self.told {
            known(key, Some(value));
        }
        known("source", self.source().as_deref());
        let checked = self.signature.as_ref().map(signed);
        known(
            "signer",
            self.lapsed.as_ref().or(checked.as_ref()).map(|it| &**it),
        );
        if let Some(cost) = report.tokens {
            let (instructions, description) = (cost.instructions, cost.description);
            let text = format!("about {instructions} for the instructions");
            let whole = format!("{text}, {description} in every prompt");
            known("tokens", Some(if report.offered { &whole } else { &text }));
            let files = match self.files {
                0 => "only SKILL.md".to_owned(),
                more => format!("{more} besides SKILL.md, {}", size(self.bytes)),
            };
            known("files", Some(&files));
        }
        for (at, script) in self.scripts.iter().enumerate() {
            let by = script.interpreter.as_ref().map(|by| format!("run by {by}"));
            let by = by.or_else(|| script.problem.clone()).unwrap_or_default();
            let label = if at == 0 { "scripts" } else { "" };
            known(label, Some(&format!("{}: {by}", script.path)));
        }
        let restriction = match &report.restriction {
            None if !is_told => "not known: the skill was not read",
            None if report.tool.is_none() => "none of its own, but it is not offered",
            None => "none: every tool may be used while it is active",
            Some(restriction) if restriction.allowed.is_some() => {
                "while it is active, only what is listed here and what is always allowed"
            }
            Some(_) => "denials only",
        };
        known("restriction", Some(restriction));
        if let Some(restriction) = &report.restriction {
            for rule in &restriction.rules {
                known("", Some(rule));
            }
            for denial in &restriction.denials {
                known("", Some(&format!("never {denial}")));
            }
        }
        fields
    }

    fn source(&self) -> Option<String> {
        let report = &self.report;
        if let Some(to) = &report.linked_to {
            return Some(format!("linked to {to}"));
        }
        let commit = report.commit.as_ref();
        let at = commit.map(|commit| format!(" at {commit}"));
        Some(report.says().to_owned() + report.source.as_deref()? + &at.unwrap_or_default())
    }
}

/// The signature of a skill. What cannot be checked counts as none.
fn signature_of(facts: &Facts, entry: &Entry, origins: &mut Installed) -> Checked {
    let checked = signature(facts, entry, origins);
    checked.unwrap_or_else(|error| Checked {
        signature: Signature::unchecked(format!("that cannot be checked: {error}")),
        unmet: None,
        since: None,
        is_first: false,
    })
}

/// The fields that have no line of their own and are set: each with its key and value as written.
fn others(skill: Option<&Skill>) -> impl Iterator<Item = (&'static Known, &str, &Value)> {
    const OWN_LINE: [&str; 10] = [
        "name",
        "description",
        "license",
        "compatibility",
        "version",
        "allowed-tools",
        "disallowed-tools",
        "tools",
        "user-invocable",
        "disable-model-invocation",
    ];
    let fields = skill.into_iter().map(|skill| &skill.fields);
    let pairs = fields.flat_map(|fields| fields.keys().zip(fields.values()));
    pairs.filter_map(|(key, value)| {
        let known = Known::of(key).filter(|known| !OWN_LINE.contains(&known.key))?;
        (!value.is_null()).then_some((known, key, value))
    })
}

/// The same for people, each with the reason why it has no effect, if it has none.
fn told(skill: &Skill) -> Vec<(&'static str, String)> {
    let told = others(Some(skill)).map(|(known, key, value)| {
        let shown = brief(&written(value), FIELD);
        let why = no_effect(&skill.fields, key).map(|why| format!(", which {why}"));
        (known.key, shown + &why.unwrap_or_default())
    });
    told.collect()
}

fn callers(entry: &Entry) -> &'static str {
    match (entry.tool.is_some(), entry.callable().is_some()) {
        (true, true) => "the model and people",
        (true, false) => "the model",
        (false, true) => "people",
        (false, false) => "nobody",
    }
}

/// A bundled file's path on one line, with unusual characters escaped.
pub fn shown(path: &Path) -> String {
    path.display().to_string().escape_debug().to_string()
}
