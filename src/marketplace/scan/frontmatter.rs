//! Scans what a skill's frontmatter requests and how it describes the skill. Pure.

use super::Severity::{self, Block, High, Note, Warn};
use super::{Finding, hidden, text};
use crate::skill::{Skill, ToolList};

/// The findings in the frontmatter. A model reads the description before anyone has chosen the
/// skill, so what is high elsewhere blocks here.
pub fn inspect(skill: &Skill, file: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut say = |severity: Severity, code, message, text: &str| {
        found.push(Finding::new((severity, code, message), file, 0, text));
    };
    if let Some(name) = skill.fields.text("name")
        && name
            .split(|c: char| !c.is_alphabetic())
            .any(hidden::is_mixed)
    {
        say(
            Block,
            "mixed-scripts-name",
            "has a name of look-alike letters",
            &name,
        );
    }
    if skill.fields.value("hooks").is_some() {
        say(
            Warn,
            "hooks",
            "has hooks, which some clients run at every tool call",
            "",
        );
    }
    let openclaw = skill
        .fields
        .value("metadata")
        .and_then(|metadata| metadata.get("openclaw"));
    if openclaw
        .and_then(|openclaw| openclaw.get("install"))
        .is_some()
    {
        say(
            Warn,
            "install-steps",
            "has install steps, which some clients run",
            "",
        );
    }
    if let ToolList::Listed(entries) = skill.fields.allowed_tools()
        && entries
            .iter()
            .any(|entry| entry.contains("Bash(*)") || entry.split([' ', ',']).any(|w| w == "Bash"))
    {
        say(
            Note,
            "every-command",
            "gives itself every shell command",
            "",
        );
    }
    let description = skill.description.as_deref().unwrap_or_default();
    for mut finding in text::inspect(file, description, false) {
        if finding.severity >= High || finding.code == "program-url" {
            finding.severity = Block;
            finding.message = "lures in the description, which a model reads unasked";
            finding.line = 0;
            found.push(finding);
        }
    }
    found
}
