//! What an install or an update would do, in enough detail to decide.

use std::fmt::Write as _;

use crate::marketplace::{Difference, Finding, Plan, Planned, Provenance, Reach};
use crate::skill::{brief, one_line, visible};

/// Maximum number of findings shown per skill.
pub const SHOWN: usize = 20;

/// Describes the plan in enough detail to decide.
pub fn describe(plan: &Plan) -> String {
    let at = |commit: &String| format!(" at {}", one_line(commit));
    let commit = plan.commit.as_ref().map(at).unwrap_or_default();
    let mut text = format!("From {}{commit}:\n", one_line(&plan.source));
    let mut told: Vec<&Provenance> = Vec::new();
    for from in plan
        .skills
        .iter()
        .filter_map(|skill| skill.provenance.as_ref())
    {
        if !told.contains(&from) {
            told.push(from);
            describe_origin(&mut text, plan, from);
        }
    }
    for skill in &plan.skills {
        describe_skill(&mut text, skill);
    }
    text
}

/// Adds what the first line does not say about a skill's origin.
fn describe_origin(text: &mut String, plan: &Plan, from: &Provenance) {
    let source = one_line(&from.source);
    if from.source != plan.source {
        let at = |commit: &String| format!(" at {}", one_line(commit));
        let commit = from.commit.as_ref().map(at).unwrap_or_default();
        let _ = writeln!(text, "  {source}{commit}");
    }
    if let Some(address) = &from.address {
        let address = one_line(address);
        let _ = writeln!(text, "  ATTENTION: git went to {address} for {source}");
    }
    if let Some(doubt) = from.reach.as_ref().and_then(Reach::doubt) {
        let commit = one_line(from.commit.as_deref().unwrap_or("it"));
        let _ = writeln!(text, "  ATTENTION: {commit} of {source} is {doubt}");
    }
}

fn describe_skill(text: &mut String, skill: &Planned) {
    let description = brief(
        skill.description.as_deref().unwrap_or("no description"),
        200,
    );
    let _ = writeln!(text, "  {}: {description}", skill.name);
    let files = list(&skill.paths);
    let _ = writeln!(
        text,
        "    {} files, {} bytes: {files}",
        skill.files, skill.bytes
    );
    if !skill.scripts.is_empty() {
        let _ = writeln!(text, "    scripts: {}", list(&skill.scripts));
    }
    let tools = match &skill.allowed_tools {
        None => "every tool, as it has no allowed-tools".to_owned(),
        Some(tools) => list(tools),
    };
    let _ = writeln!(text, "    may use: {tools}");
    for remark in skill.dropped.iter().chain(&skill.warnings) {
        let _ = writeln!(text, "    note: {}", one_line(remark));
    }
    describe_findings(text, &skill.findings);
}

fn describe_findings(text: &mut String, findings: &[Finding]) {
    for finding in findings.iter().take(SHOWN) {
        let _ = writeln!(text, "    {}", finding.summary());
    }
    if let Some(more) = findings.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(
            text,
            "    and {more} more findings: `agent-skills scan` shows all"
        );
    }
}

/// Both commits of a change, abbreviated; `None` if neither is known, as for a local directory.
pub fn from_to(from: Option<&str>, to: Option<&str>) -> Option<String> {
    let short = |commit: Option<&str>| {
        commit.map_or("an unknown state".to_owned(), |commit| {
            commit.get(..12).unwrap_or(commit).to_owned()
        })
    };
    from.or(to)?;
    Some(format!("{} to {}", short(from), short(to)))
}

/// What an update would change.
pub fn describe_difference(difference: &Difference) -> String {
    let commits = from_to(difference.from.as_deref(), difference.to.as_deref());
    let mut text = match commits {
        Some(commits) => format!("{}: {commits}\n", difference.name),
        None => format!("{}:\n", difference.name),
    };
    for (label, items) in [
        ("new files", &difference.added),
        ("changed", &difference.changed),
        ("gone", &difference.removed),
        ("new scripts", &difference.new_scripts),
        ("newly asks for", &difference.new_tools),
    ] {
        if !items.is_empty() {
            let _ = writeln!(text, "    {label}: {}", list(items));
        }
    }
    if let Some(doubt) = difference.regress() {
        let _ = writeln!(text, "    warning: {doubt}");
    }
    if difference.edited {
        text.push_str("    it was changed after it was installed\n");
    }
    describe_findings(&mut text, &difference.new_findings);
    if let Some(diff) = &difference.text {
        text.push_str(&printable(diff));
    }
    text
}

/// Untrusted text with its line breaks; control and invisible characters are shown as their
/// numbers.
pub fn printable(text: &str) -> String {
    text.lines().map(|line| visible(line) + "\n").collect()
}

pub fn list(items: &[String]) -> String {
    brief(&items.join(", "), 300)
}
