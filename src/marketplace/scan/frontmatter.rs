//! Scans what a skill's frontmatter requests and how it describes the skill. Pure.

use super::Severity::{Block, High, Note, Warn};
use super::finding::{Finding, Kind};
use super::text::{self, has_mixed_word};
use crate::skill::Skill;

const NAME: Kind = (
    Block,
    "mixed-scripts-name",
    "has a name of look-alike letters",
);
const HOOKS: Kind = (
    Warn,
    "hooks",
    "has hooks, which some clients run at every tool call",
);
const INSTALL: Kind = (
    Warn,
    "install-steps",
    "has install steps, which some clients run",
);
const SHELL: Kind = (Note, "every-command", "may run every shell command");

/// The findings in the frontmatter. A model reads the description before anyone has chosen the
/// skill, so what is high elsewhere blocks here.
pub fn inspect(skill: &Skill, file: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut say = |kind: Kind, text: &str, judged: &str| {
        let mut finding = Finding::new(kind, file, 0, text);
        finding.covers(judged);
        found.push(finding);
    };
    let fields = &skill.fields;
    if let Some(name) = fields.text("name").filter(|name| has_mixed_word(name)) {
        say(NAME, &name, &name);
    }
    if let Some(hooks) = fields.value("hooks") {
        say(HOOKS, "", &hooks.to_string());
    }
    let openclaw = fields.value("metadata").and_then(|all| all.get("openclaw"));
    if let Some(steps) = openclaw.and_then(|openclaw| openclaw.get("install")) {
        say(INSTALL, "", &steps.to_string());
    }
    let is_shell = |entry: &String| {
        entry.contains("Bash(*)") || entry.split([' ', ',']).any(|word| word == "Bash")
    };
    if let Some(entries) = fields.allowed_tools()
        && entries.iter().any(is_shell)
    {
        say(SHELL, "", "");
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
