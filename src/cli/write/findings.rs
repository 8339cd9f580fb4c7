//! All findings about one skill: those of the author room, and those of the rooms that run,
//! restrict, scan and install skills.

use std::path::Path;

use serde_json::json;

use crate::activation::{Enforcement, unmet_but};
use crate::author::{self, Finding, Source, similarity};
use crate::catalog::Catalog;
use crate::host::alias::Capability;
use crate::host::{mentions, tools};
use crate::marketplace::{Severity, scan_directory};
use crate::permission::{Call, Part, Restriction, Rule, decide};
use crate::policy::{Config, OnDisk, Policies};
use crate::run_context::RunContext;
use crate::script;
use crate::session::{Session, snapshot};
use crate::skill::{Diagnostic, Level, SkillName, brief};

/// Descriptions more similar than this are too hard to tell apart for a model. The two most similar
/// ones in the corpus for different tasks have 0.65.
const OVERLAP: f64 = 0.75;
/// Maximum number of findings of one kind about a skill's commands; more would add nothing.
const COMMANDS: usize = 3;

/// The findings about the skill in `dir`, sorted by file and place.
pub fn of_skill(ctx: &RunContext, dir: &Path, installed: &Catalog) -> Vec<Finding> {
    let (mut found, source) = author::lint(dir);
    if let Some(source) = &source {
        found.extend(tools_of(ctx, source));
        found.extend(overlaps(source, installed));
        found.extend(scripts(dir));
        found.extend(requirements(ctx, source, installed));
    }
    found.extend(scanned(dir));
    found.sort_by(|a, b| {
        (&a.file, a.line, a.column, &a.code).cmp(&(&b.file, b.line, b.column, &b.code))
    });
    found
}

/// Requirements that neither the installed skills nor those next to it meet.
fn requirements(ctx: &RunContext, source: &Source, installed: &Catalog) -> Vec<Finding> {
    let dir = source.skill.dir.canonicalize().unwrap_or_default();
    let is_beside = |written: &str| {
        // The owner of neighbouring skills is not checked; it depends on their author.
        let (name, _owner) = written.rsplit_once('@').unwrap_or((written, ""));
        let name = SkillName::from_written(name);
        let beside = name.map(|name| dir.with_file_name(name.as_str()).join("SKILL.md"));
        beside.is_some_and(|file| file.exists())
    };
    let unmet = unmet_but(ctx, installed, &source.skill, &is_beside);
    let place = source.key("requires");
    let finding = |d: Diagnostic| Finding::new(&d.code, source.file(), place, &d.message);
    unmet.into_iter().map(finding).collect()
}

/// Entries of the tool lists that are not understood, and tools that the body needs beyond them.
fn tools_of(ctx: &RunContext, source: &Source) -> Vec<Finding> {
    let kept = snapshot(&source.skill, "");
    let root = ctx.env.project_root();
    let restriction = Restriction::parse(
        &kept.name,
        kept.allowed.as_deref(),
        &kept.denied,
        &source.skill.dir,
        &root,
    );
    let mut found = Vec::new();
    for note in restriction.notes() {
        let place = source.words("allowed-tools", &note.entry);
        found.push(Finding::new(note.code, source.file(), place, &note.message));
    }
    let body = source.body_text();
    for (name, offset) in mentions::named(body) {
        if is_negated(&body[..offset]) {
            continue;
        }
        let here = Capability::of(name)
            .map(Capability::tools)
            .unwrap_or_default();
        // A rule names the newer host's tools; the older host's plugins follow from them.
        let here: Vec<&str> = here
            .iter()
            .copied()
            .filter(|tool| !tools::is_plugin_of_older_host(tool))
            .collect();
        if !here.is_empty() && !here.iter().any(|tool| is_allowed(&restriction, tool)) {
            let place = source.place(source.body + offset);
            let message =
                format!("the body speaks of `{name}`, which the skill's own list of tools forbids");
            found.push(Finding::new(
                "tool-not-allowed",
                source.file(),
                place,
                &message,
            ));
        }
    }
    found.extend(commands(ctx, source, &restriction));
    found
}

fn is_allowed(restriction: &Restriction, tool: &str) -> bool {
    let speaks = |rule: &Rule| {
        let mut names = rule.host_names().into_iter();
        names.any(|name| match name.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => name.split('(').next() == Some(tool),
        })
    };
    let whole = |rule: &Rule| rule.host_names().iter().any(|name| name == tool);
    let harmless = tools::find(tool).is_some_and(|tool| tool.effect == tools::Effect::Harmless);
    let granted = restriction
        .allowed()
        .is_none_or(|rules| rules.iter().any(speaks));
    (granted || harmless) && !restriction.denied().iter().any(whole)
}

/// Whether a sentence ends in a negation of its next word.
fn is_negated(before: &str) -> bool {
    let sentence = before
        .rsplit(['.', '\n', ';'])
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let mut last = sentence
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .rev()
        .filter(|word| !word.is_empty())
        .take(6);
    last.any(|word| ["not", "never", "no", "don't", "avoid", "without", "instead"].contains(&word))
}

/// Commands in the body's code blocks that would be refused, by the same decision as for the host.
fn commands(ctx: &RunContext, source: &Source, restriction: &Restriction) -> Vec<Finding> {
    // The skill's own scripts are run by a separate tool.
    let mut given = author::commands(source);
    given.retain(|(_, command)| !command.contains("scripts/"));
    if !is_allowed(restriction, "shell_exec") {
        let message =
            "the body gives shell commands, and the skill's own list of tools forbids a shell";
        let first = given.first().map(|(place, _)| *place);
        let finding = |place| Finding::new("command-not-allowed", source.file(), place, message);
        return first.map(finding).into_iter().collect();
    }
    if !restriction.is_restricted() {
        return Vec::new();
    }
    let session = Session {
        activated: vec![snapshot(&source.skill, "")],
        ..Session::default()
    };
    let Ok(enforcement) = Enforcement::of(ctx, &Config::default(), &Policies::default(), &session)
    else {
        return Vec::new();
    };
    let mut found: Vec<Finding> = Vec::new();
    for (place, command) in given {
        let arguments = json!({"command": command});
        let call = Call {
            tool: "shell_exec",
            arguments: &arguments,
            ours: None,
        };
        let decision = decide(&enforcement.scope(), &call, &OnDisk);
        let is_program = |part: &&Part| {
            part.text
                .starts_with(|c: char| c.is_alphanumeric() || "./~".contains(c))
        };
        let mut refused = decision.parts.iter().filter(|part| part.outcome.is_err());
        let Some(part) = refused.find(|part| part.kind == "subcommand" && is_program(part)) else {
            continue;
        };
        let message = format!(
            "the command `{}` in the body is refused by the skill's own list of tools",
            brief(&part.text, 80)
        );
        if found.len() < COMMANDS && found.iter().all(|other| other.message != message) {
            found.push(Finding::new(
                "command-not-allowed",
                source.file(),
                place,
                &message,
            ));
        }
    }
    found
}

/// Installed skills that the model could confuse with this one.
fn overlaps(source: &Source, installed: &Catalog) -> Vec<Finding> {
    let skill = &source.skill;
    let Some(description) = &skill.description else {
        return Vec::new();
    };
    let own = skill.dir.canonicalize().unwrap_or_default();
    let mut found = Vec::new();
    for other in installed.offered() {
        let same = other.skill.name == skill.name
            || other.skill.dir.canonicalize().is_ok_and(|dir| dir == own);
        let alike = similarity(description, other.description);
        if !same && alike >= OVERLAP {
            let message = format!(
                "the description is nearly that of the installed skill `{}` (likeness {alike:.2}), so the model may take the wrong one",
                other.skill.name
            );
            found.push(Finding::new(
                "description-overlap",
                source.file(),
                source.key("description"),
                &message,
            ));
        }
    }
    found
}

/// Programs without a known interpreter.
fn scripts(dir: &Path) -> Vec<Finding> {
    let programs = author::programs(dir).into_iter();
    let unknown = programs.filter(|path| !script::says_how_to_run(&dir.join(path)));
    let finding = |path: std::path::PathBuf| {
        let message = format!(
            "nothing says how to run `{}`: neither its first line nor its extension",
            path.display()
        );
        Finding::new(
            "script-no-interpreter",
            dir.join(path).display().to_string(),
            (1, 1),
            &message,
        )
    };
    unknown.map(finding).collect()
}

/// The scan's findings that its author can fix: secrets and hidden characters, and whatever would
/// prevent an install.
fn scanned(dir: &Path) -> Vec<Finding> {
    let ours = ["secret", "zero-width", "mixed-scripts"];
    let found = scan_directory(dir).into_iter();
    // A secret whose line says that it is an example is not real.
    let example = |found: &&crate::marketplace::Finding| {
        found.code == "secret" && found.excerpt.contains("EXAMPLE")
    };
    let told = found.filter(|found| {
        (found.severity >= Severity::High || ours.contains(&found.code)) && !example(&found)
    });
    told.map(|found| {
        let level = match found.severity {
            Severity::Block => Level::Error,
            _ => Level::Warning,
        };
        let stops = if found.severity >= Severity::High {
            "; an install stops at it"
        } else {
            ""
        };
        let message = format!("{}{stops}", found.message);
        let file = dir.join(&found.file).display().to_string();
        Finding::new(found.code, file, (found.line.max(1), 1), &message).level(level)
    })
    .collect()
}
