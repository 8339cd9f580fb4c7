//! What a call of one of our tools means: its typed arguments with every name and path resolved as
//! the tool resolves them, for rules that compare arguments.

use std::path::Path;

use crate::catalog::Entry;
use crate::permission::{Call, Meant, Scope, compares_arguments};
use crate::protocol::called::{handed_on, skill_dir};
use crate::protocol::request::NAME;
use crate::protocol::tools::script_path;
use crate::protocol::{
    Activate, Called, Format, RunSkillScript, SkillSession, StartScript, ToolCall, ToolUse, WorkDir,
};
use crate::run_context::RunContext;
use crate::session::Session;
use crate::skill::{SkillName, SkillPath};

/// What the arguments of `call` mean; nothing if no rule asks.
pub fn meaning(
    ctx: &RunContext,
    scope: &Scope,
    session: &Session,
    (call, used, called): (&Call, &ToolUse, Option<&Called>),
) -> Vec<Meant> {
    let asks = |call: &Call| compares_arguments(scope, call);
    if !asks(call) && !asks(&handed_on(*call, used)) {
        return Vec::new();
    }
    let skill = |key, written: Option<&str>| skill(ctx, session, key, written);
    let text = |key, text: String| Meant::text(key, text);
    match ToolCall::parse(&used.tool, Ok(used.arguments.clone())) {
        Ok(ToolCall::Command(words)) => command(ctx, &words),
        Ok(ToolCall::Activate(wanted)) => activation(ctx, &wanted, called),
        Ok(ToolCall::ReadSkillFile(read)) => {
            let dir = skill_dir(ctx, read.skill.as_deref(), session);
            let file = dir.and_then(|dir| {
                let path = SkillPath::parse(&read.path, &dir).ok()?;
                Some(forms(&dir, &path.resolve(&dir).ok()?))
            });
            let number = |key, number: Option<u64>| Some(text(key, number?.to_string()));
            let path = Meant::any("path", file.unwrap_or_default());
            let numbers = [number("offset", read.offset), number("limit", read.limit)];
            let named = [skill("skill", read.skill.as_deref()), path];
            named
                .into_iter()
                .chain(numbers.into_iter().flatten())
                .collect()
        }
        Ok(ToolCall::RunSkillScript(RunSkillScript::Start(start))) => {
            let dir = skill_dir(ctx, start.skill.as_deref(), session);
            script(
                &start,
                dir.as_deref(),
                skill("skill", start.skill.as_deref()),
            )
        }
        Ok(ToolCall::RunSkillScript(RunSkillScript::Job(job))) => vec![text("job", job.job)],
        Ok(ToolCall::SkillSession(call)) => {
            let (action, names) = match call {
                SkillSession::Load { names, .. } => ("load", names),
                SkillSession::Unload(names) => ("unload", names.unwrap_or_default()),
                SkillSession::Status => ("status", Vec::new()),
            };
            let names = names.iter().map(|name| skill("names", Some(name)));
            names.chain([text("action", action.to_owned())]).collect()
        }
        Ok(ToolCall::ProposeSkillUpdate(call)) => {
            let mut meant = vec![
                skill("skill", Some(&call.skill)),
                text("diff", call.diff),
                text("justification", call.justification),
            ];
            meant.extend(call.evidence.map(|evidence| text("evidence", evidence)));
            meant
        }
        Ok(ToolCall::CreateSkill(call)) => {
            let name = SkillName::from_written(&call.name);
            let name = name.map_or(call.name, |name| name.to_string());
            vec![
                text("name", name),
                text("description", call.description),
                text("body", call.body),
            ]
        }
        // The tool reports the error, and does nothing.
        Err(_) => Vec::new(),
    }
}

/// The skill that is named, else the latest, in every form that finds it.
fn skill(ctx: &RunContext, session: &Session, key: &'static str, written: Option<&str>) -> Meant {
    let dir = skill_dir(ctx, written, session);
    match dir {
        Some(dir) => skill_in(ctx, key, &dir),
        None => Meant::any(key, Vec::new()),
    }
}

fn skill_in(ctx: &RunContext, key: &'static str, dir: &Path) -> Meant {
    let catalog = ctx.known_owners();
    let entry = catalog.entries().iter().find(|entry| entry.dir == dir);
    let directory = dir
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    Meant {
        maybe: directory,
        ..Meant::skill(key, entry.map(Entry::names).unwrap_or_default())
    }
}

fn activation(ctx: &RunContext, wanted: &Activate, called: Option<&Called>) -> Vec<Meant> {
    let skill = |key: &&'static str| Some(skill_in(ctx, key, &called?.skill.dir));
    let mut meant: Vec<Meant> = NAME.iter().filter_map(skill).collect();
    meant.push(Meant::text("action", "use"));
    let given = wanted.arguments.iter();
    let keys = ["arguments", "args", "query"];
    meant.extend(given.flat_map(|text| keys.map(|key| Meant::text(key, text))));
    meant
}

fn script(start: &StartScript, dir: Option<&Path>, skill: Meant) -> Vec<Meant> {
    let file = dir.and_then(|dir| {
        let path = script_path(dir, &start.script).ok()?;
        let mut forms = forms(dir, &path);
        // A file in `scripts/` is found without it, unless another has that name.
        let short = forms[0].strip_prefix("scripts/").map(str::to_owned);
        let means_it = |short: &String| script_path(dir, short).is_ok_and(|found| found == path);
        if let Some(short) = short.filter(means_it) {
            forms.extend([format!("./{short}"), short]);
        }
        Some(forms)
    });
    let file = file.unwrap_or_default();
    let workdir = match &start.workdir {
        WorkDir::Skill => "skill",
        WorkDir::Project => "project",
        WorkDir::Temp => "temp",
        WorkDir::Inside(path) => path,
    };
    let format = match start.format {
        Format::Text => "text",
        Format::Json => "json",
    };
    vec![
        skill,
        Meant::any("script", file.clone()),
        Meant::any("path", file),
        Meant::text("args", start.args.join(" ")),
        Meant::text("stdin", &start.stdin),
        Meant::text("workdir", workdir),
        Meant::text("format", format),
    ]
}

/// The ways to write a skill's file, that relative to the skill first.
fn forms(dir: &Path, file: &Path) -> Vec<String> {
    let root = dir.canonicalize().unwrap_or_default();
    let below = file.strip_prefix(root).unwrap_or(file).display();
    vec![
        below.to_string(),
        format!("./{below}"),
        file.display().to_string(),
    ]
}

/// What a command line of the marketplace means: its verb, and under both keys each operand.
fn command(ctx: &RunContext, words: &[String]) -> Vec<Meant> {
    let verb = words.iter().position(|word| !word.starts_with('-'));
    let Some((verb, operands)) = verb.and_then(|at| words[at..].split_first()) else {
        return Vec::new();
    };
    let names = [verb.replace('-', "_"), verb.replace('_', "-")];
    let mut meant = vec![Meant::any("action", names.to_vec())];
    let keys = ["skill_ref", "query"];
    let (options, operands) = match operands.iter().position(|word| word == "--") {
        Some(at) => (
            &operands[..at],
            [&operands[..at], &operands[at + 1..]].concat(),
        ),
        None => (operands, operands.to_vec()),
    };
    let is_installed = !["install", "search"].contains(&verb.as_str());
    for operand in operands {
        let catalog = is_installed.then(|| ctx.known_owners());
        let entry = catalog.as_ref().and_then(|it| it.by_name(&operand));
        meant.extend(keys.map(|key| {
            let skill = entry.map(|entry| skill_in(ctx, key, &entry.dir));
            let mut meant = skill.unwrap_or_else(|| Meant::any(key, Vec::new()));
            meant.forms.push(operand.clone());
            meant
        }));
    }
    // What an option means is not known here, so no rule about operands grants it.
    if options.iter().any(|word| word.starts_with('-')) {
        meant.extend(keys.map(|key| Meant::any(key, Vec::new())));
    }
    meant
}
