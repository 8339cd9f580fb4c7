//! `info`: everything about one installed skill; its version in use, the available ones, and what
//! changed.

use crate::catalog::{InstalledEntries, signature};
use crate::cli::prelude::*;
use crate::marketplace::{History, Tag};
use crate::script::program_of;
use crate::signing::Signature;
use crate::skill::Resource;
use crate::sys::text::size;
use skill_format::{KnownField, no_effect, written};
use skill_text::Names;

/// Show everything about installed skills
#[derive(Debug, clap::Args)]
pub struct InfoArgs {
    /// The skills' names
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Show its versions instead: the one in use, the one before, and the available ones
    #[arg(long)]
    pub history: bool,
    /// Do not query its source
    #[arg(long)]
    pub offline: bool,
}

/// Longest part of a field's value that is shown.
const FIELD: usize = 300;

impl InfoArgs {
    /// What is known of the skills or their versions, in whichever layer they are.
    pub fn run(&self, call: CliCall) -> Answer {
        let look = |name: &str| {
            let catalog = Catalog::naming(call.facts, name);
            let is_ours =
                catalog.by_name(name).is_some() || !layers_with(call.facts, name).is_empty();
            let agents = connected(&call.facts.run).into_iter();
            let agents = agents.filter(|_| !is_ours && call.facts.run.protocol.is_none());
            for facts in agents.map(|agent| in_agent(call.facts, agent)) {
                let (catalog, facts) = (Catalog::naming(&facts, name), &facts);
                if let Some(entry) = catalog.by_name(name) {
                    return Ok(details(CliCall { facts, ..call }, &catalog, entry));
                }
            }
            let entry = installed(call.facts, &catalog, name)?;
            if !self.history {
                return Ok(details(call, &catalog, entry));
            }
            let name = entry.dir.file_name().unwrap_or_default().to_string_lossy();
            let history = market(call, entry.layer, self.offline).history(&name)?;
            Ok((json!(history), shown_history(&history)))
        };
        answer_each(call, &self.names, "skills", look)
    }
}

/// What is known of a skill, each with its label; one without continues the one before.
struct LabelledLines {
    screen: Screen,
    text: String,
}

impl LabelledLines {
    fn add(&mut self, label: &str, value: Option<&str>) {
        let Some(value) = value else { return };
        let gap = " ".repeat(14_usize.saturating_sub(label.len()));
        let label = self.screen.paint(label, Paint::Bold) + &gap;
        self.text += &self.screen.hanging(&label, &one_line(value), 14);
    }
}

/// Everything about one skill.
fn details(call: CliCall, catalog: &Catalog, entry: &Entry) -> (Value, String) {
    let (facts, skill) = (call.facts, entry.disclosed());
    let mut reporter = Reporter::new(facts, catalog);
    let signature = skill.map(|_| signature_of(facts, entry, &mut reporter.origins));
    let known = reporter.origins.known(facts, entry);
    let known = known.zip(signature.as_ref());
    let why_lapsed = known.and_then(|(known, now)| why_lapsed(known.signer.as_ref(), now));
    let report = reporter.report(entry);
    let mut lines = LabelledLines {
        screen: call.screen,
        text: String::new(),
    };
    lines.add("name", Some(&report.name));
    let tool = report.tool.as_deref();
    let none = (!report.offered).then_some("none: it is not offered");
    lines.add("tool", tool.or(none));
    // Omit this for a skill that is unreadable or must not be shown.
    let is_told = report.tokens.is_some();
    let description = report.description.as_deref();
    lines.add("description", description.or(is_told.then_some("none")));
    lines.add("version", report.version.as_deref());
    lines.add("path", Some(&report.path));
    lines.add("layer", Some(report.layer));
    let rivals = catalog
        .rivals(entry)
        .map(|rival| of_rival(rival, &mut lines));
    let rivals: Vec<Value> = rivals.collect();
    let agents = agent_names(&report.agents);
    lines.add("found by", Some(&*agents).filter(|names| !names.is_empty()));
    let called_by = skill.map(|_| callers(entry));
    lines.add("called by", called_by);
    let text = |key: &str| skill.and_then(|skill| skill.fields.text(key));
    let (license, compatibility) = (text("license"), text("compatibility"));
    lines.add("license", license.as_deref());
    lines.add("needs", compatibility.as_deref());
    let fields = skill.map(|skill| describe_fields(skill, &mut lines));
    lines.add("source", source(&report).as_deref());
    let checked = why_lapsed.or_else(|| signature.as_ref().map(describe_signature));
    lines.add("signer", checked.as_deref());
    let listing = skill.map(|skill| Resource::all(&skill.dir));
    let listing = listing.unwrap_or_default();
    let bytes = listing.iter().map(|resource| resource.size).sum();
    if let Some(cost) = report.tokens {
        let mut text = format!("about {} for the instructions", cost.instructions);
        if report.offered {
            let _ = write!(text, ", {} in every prompt", cost.description);
        }
        lines.add("tokens", Some(&text));
        let files = match listing.len() {
            0 => "only SKILL.md".to_owned(),
            more => format!("{more} besides SKILL.md, {}", size(bytes)),
        };
        lines.add("files", Some(&files));
    }
    let scripts = skill.map(|skill| of_scripts(facts, skill, &listing, &mut lines));
    of_restriction(&report, &mut lines);
    for found in &report.diagnostics {
        for line in call.screen.hanging("", &remark_line(found), 2).lines() {
            let line = call.screen.paint(line, found.level.into());
            lines.text.extend([&*line, "\n"]);
        }
    }
    let more = json!({
        "license": license,
        "compatibility": compatibility,
        // Its other fields that some client uses, as written.
        "fields": fields.unwrap_or_default(),
        "called_by": called_by,
        // Other skills of its name, and why they are not offered instead.
        "rivals": rivals,
        "files": listing.len(),
        "bytes": bytes,
        "scripts": scripts.unwrap_or_default(),
        // As it was checked just now; `null` if it may not be read.
        "signature": signature,
    });
    (with(json!(report), more), lines.text)
}

/// Another skill of the same name; without a reason, it is the one that is offered.
fn of_rival(rival: &Entry, lines: &mut LabelledLines) -> Value {
    let (path, layer) = (rival.dir.display().to_string(), rival.layer.as_str());
    let reason = rival.reason_not_offered();
    let why = reason.as_deref().unwrap_or("it is the one that is offered");
    lines.add("also", Some(&format!("{path} ({layer}): {why}")));
    json!({"path": path, "layer": layer, "reason": reason})
}

/// The fields that have no line of their own and are set; for people with the reason why one has no
/// effect.
fn describe_fields(skill: &Skill, lines: &mut LabelledLines) -> Map<String, Value> {
    const OWN_LINE: Names = Names::new(
        "name description license compatibility version allowed-tools disallowed-tools tools \
         user-invocable disable-model-invocation",
    );
    let mut fields = Map::new();
    for (key, value) in &skill.fields.0 {
        let known = KnownField::of(key).filter(|known| !OWN_LINE.has(known.key));
        let Some(known) = known.filter(|_| !value.is_null()) else {
            continue;
        };
        let why = no_effect(&skill.fields, key).map(|why| format!(", which {why}"));
        let shown = brief(&written(value), FIELD) + &why.unwrap_or_default();
        lines.add(known.key, Some(&shown));
        fields.insert(known.key.to_owned(), value.clone());
    }
    fields
}

/// The scripts, each with the program that runs it or why it cannot be run here.
fn of_scripts(
    facts: &Facts,
    skill: &Skill,
    listing: &[Resource],
    lines: &mut LabelledLines,
) -> Vec<Value> {
    let mut label = "scripts";
    let scripts = listing.iter().filter_map(|resource| {
        let path = resource.path.display().to_string();
        let file = skill.dir.join(&resource.path);
        let by = match program_of(&file, &skill.dir, &path, &facts.run.env)? {
            Ok(program) => Ok(program.display().to_string()),
            Err(error) => Err(error.to_string()),
        };
        let shown = match &by {
            Ok(program) => format!("{path}: run by {program}"),
            Err(problem) => format!("{path}: {problem}"),
        };
        lines.add(std::mem::take(&mut label), Some(&shown));
        Some(json!({"path": path, "interpreter": by.as_ref().ok(), "problem": by.as_ref().err()}))
    });
    scripts.collect()
}

fn of_restriction(report: &SkillReport, lines: &mut LabelledLines) {
    let shown = match &report.restriction {
        None if report.tokens.is_none() => "not known: the skill was not read",
        None if !report.offered => "none, but it is not offered",
        None => "none: every tool may be used while it is active",
        Some(restriction) if restriction.allowed.is_some() => {
            "while it is active, only what is listed here and what is always allowed"
        }
        Some(_) => "denials only",
    };
    lines.add("restriction", Some(shown));
    let Some(restriction) = &report.restriction else {
        return;
    };
    for rule in &restriction.rules {
        lines.add("", Some(rule));
    }
    for denial in &restriction.denials {
        lines.add("", Some(&format!("never {denial}")));
    }
}

fn source(report: &SkillReport) -> Option<String> {
    if let Some(to) = &report.linked_to {
        return Some(format!("linked to {to}"));
    }
    let commit = report.commit.as_ref();
    let at = commit.map(|commit| format!(" at {commit}"));
    Some(report.says().to_owned() + report.source.as_deref()? + &at.unwrap_or_default())
}

/// The signature of a skill. What cannot be checked counts as none.
fn signature_of(facts: &Facts, entry: &Entry, origins: &mut InstalledEntries) -> CheckedSignature {
    let checked = signature(facts, entry, origins);
    checked.unwrap_or_else(|error| CheckedSignature {
        signature: Signature::unchecked(format!("that cannot be checked: {error}")),
        unmet: None,
        since: None,
        is_first: false,
    })
}

fn callers(entry: &Entry) -> &'static str {
    match (entry.tool.is_some(), entry.callable().is_some()) {
        (true, true) => "the model and people",
        (true, false) => "the model",
        (false, true) => "people",
        (false, false) => "nobody",
    }
}

/// Maximum number of tags shown.
const SHOWN: usize = 20;

fn shown_history(history: &History) -> String {
    let state = |version: Option<&str>, commit: Option<&str>| match (version, commit) {
        (None, None) => "no version or commit is known".to_owned(),
        (Some(version), None) => format!("version {}", brief(version, 40)),
        (None, Some(commit)) => format!("at {}", short_commit(commit)),
        (Some(version), Some(commit)) => {
            format!("version {} at {}", brief(version, 40), short_commit(commit))
        }
    };
    let source = one_line(history.source.as_deref().unwrap_or("an unknown source"));
    let in_use = state(history.version.as_deref(), history.commit.as_deref());
    let name = one_line(&history.name);
    let mut text = format!("{name}, from {source}\nin use: {in_use}");
    if let Some(rev) = &history.rev {
        let _ = write!(text, ", asked for as {}", one_line(short_ref(rev)));
    }
    text.push('\n');
    if let Some(earlier) = &history.previous {
        let was = state(earlier.version.as_deref(), earlier.commit.as_deref());
        let _ = writeln!(text, "before: {was}");
    }
    // In most repositories the last tags are the newest.
    let tags = history.tags.iter().rev().take(SHOWN).map(shown_tag);
    let tags = tags.collect::<Vec<_>>().join(", ");
    if !tags.is_empty() {
        let _ = writeln!(text, "tags: {tags}");
    }
    for commit in &history.log {
        let mark = if commit.newer { "newer" } else { "     " };
        let (id, date) = (short_commit(&commit.commit), one_line(&commit.date));
        let subject = brief(&commit.subject, 100);
        let _ = writeln!(text, "{mark}  {id}  {date}  {subject}");
    }
    if let Some(why) = &history.unasked {
        let _ = writeln!(text, "its source was not queried: {}", one_line(why));
    }
    text
}

fn shown_tag(tag: &Tag) -> String {
    one_line(&tag.name) + if tag.in_use { " (in use)" } else { "" }
}
