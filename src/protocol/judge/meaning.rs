//! What a call of one of our tools means: its typed arguments with every name and path resolved as
//! the tool resolves them, for rules that compare arguments.

use std::path::Path;

use super::request::{Asks, Request};
use crate::catalog::{Catalog, Entry};
use crate::facts::Facts;
use crate::permission::{Call, Meant, Scope, compares_arguments, looking};
use crate::protocol::called::{Called, skill_dir};
use crate::protocol::request::NAME;
use crate::protocol::tools::script_path;
use crate::protocol::{
    CreateSkill, Format, ProposeSkillUpdate, ReadSkillFile, RunSkillScript, SkillSession,
    StartScript, ToolCall, WorkDir,
};
use crate::session::Session;
use crate::skill::{SkillName, SkillPath};

/// What the arguments of `call`, which is that of `request`, mean; nothing if no rule asks. Each typed
/// call is taken apart completely, so that no argument of it is forgotten.
pub fn meaning(
    facts: &Facts,
    scope: &Scope,
    session: &Session,
    request: &Request,
    call: &Call,
) -> Vec<Meant> {
    let asks = |call: &Call| compares_arguments(scope, call);
    if !asks(call) && !asks(&request.forwarded(*call)) {
        return Vec::new();
    }
    let skill = |key, written: Option<&str>| skill(facts, session, key, written);
    let dir = |written: &Option<String>| skill_dir(facts, written.as_deref(), session);
    let call = match &request.asks {
        Asks::Activation(to) => {
            let called = to.called.as_ref();
            return called.map_or_else(Vec::new, |called| activation(facts, called));
        }
        Asks::Ours(Ok(call)) => call,
        // The tool reports the error, and does nothing.
        Asks::Ours(Err(_)) | Asks::NoSkill(_) | Asks::Other => return Vec::new(),
    };
    match call {
        ToolCall::Command(words) => command(facts, words),
        // It is `Asks::Activation` or none.
        ToolCall::Activate(_) => Vec::new(),
        ToolCall::ReadSkillFile(read) => {
            let named = skill("skill", read.skill.as_deref());
            reading(read, dir(&read.skill).as_deref(), named)
        }
        ToolCall::RunSkillScript(RunSkillScript::Start(start)) => {
            let named = skill("skill", start.skill.as_deref());
            let mut meant = script(start, dir(&start.skill).as_deref(), named);
            // Its path can be written in many ways.
            let input = start.stdin_file.as_ref();
            meant.extend(input.map(|_| Meant::doubtful("stdin_file")));
            meant
        }
        ToolCall::RunSkillScript(RunSkillScript::Job { job, stop, format }) => vec![
            Meant::text("job", job),
            Meant::text("stop", stop.to_string()),
            output(*format),
        ],
        ToolCall::SkillSession(call) => {
            let skills = |written: &[String]| -> Vec<Meant> {
                let written = written.iter();
                written.map(|name| skill("names", Some(name))).collect()
            };
            let (action, all, mut meant) = match call {
                SkillSession::Load { names, adds } => {
                    let mode = if *adds { "add" } else { "replace" };
                    let mode = vec![Meant::text("mode", mode)];
                    ("load", "false", [skills(names), mode].concat())
                }
                SkillSession::Unload(Some(names)) => ("unload", "false", skills(names)),
                SkillSession::Unload(None) => ("unload", "true", vec![Meant::doubtful("names")]),
                SkillSession::Status => ("status", "false", Vec::new()),
            };
            meant.extend([Meant::text("action", action), Meant::text("all", all)]);
            meant
        }
        ToolCall::ProposeSkillUpdate(ProposeSkillUpdate {
            skill: named,
            diff,
            justification,
            evidence,
        }) => {
            let mut meant = vec![
                skill("skill", Some(named)),
                Meant::text("diff", diff),
                Meant::text("justification", justification),
            ];
            let evidence = evidence.iter();
            meant.extend(evidence.map(|evidence| Meant::text("evidence", evidence)));
            meant
        }
        ToolCall::CreateSkill(new) => new_skill(new),
    }
}

/// The skill that is named, else the latest, in every form that finds it.
fn skill(facts: &Facts, session: &Session, key: &'static str, written: Option<&str>) -> Meant {
    let dir = skill_dir(facts, written, session);
    match dir {
        Some(dir) => skill_in(&Catalog::with_owners(facts), key, &dir),
        None => Meant::any(key, Vec::new()),
    }
}

fn skill_in(catalog: &Catalog, key: &'static str, dir: &Path) -> Meant {
    let entry = catalog.entries().iter().find(|entry| entry.dir == dir);
    let directory = dir
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    Meant {
        maybe: directory,
        ..Meant::skill(key, entry.map(Entry::names).unwrap_or_default())
    }
}

fn activation(facts: &Facts, called: &Called) -> Vec<Meant> {
    let catalog = Catalog::with_owners(facts);
    let skill = |key: &&'static str| skill_in(&catalog, key, &called.skill.dir);
    let mut meant: Vec<Meant> = NAME.iter().map(skill).collect();
    meant.push(Meant::text("action", "use"));
    let given = called.arguments.iter();
    let keys = ["arguments", "args", "query"];
    meant.extend(given.flat_map(|text| keys.map(|key| Meant::text(key, text))));
    meant
}

fn reading(read: &ReadSkillFile, dir: Option<&Path>, named: Meant) -> Vec<Meant> {
    let ReadSkillFile {
        skill: _,
        path,
        offset,
        limit,
        pattern,
    } = read;
    let file = dir.and_then(|dir| {
        let path = SkillPath::parse(path, dir).ok()?;
        Some(forms(dir, &path.resolve(dir).ok()?))
    });
    let mut meant = vec![named, Meant::any("path", file.unwrap_or_default())];
    for (key, number) in [("offset", offset), ("limit", limit)] {
        meant.extend(number.map(|number| Meant::text(key, number.to_string())));
    }
    meant.extend(pattern.iter().map(|text| Meant::text("pattern", text)));
    meant
}

fn new_skill(new: &CreateSkill) -> Vec<Meant> {
    let CreateSkill {
        name,
        description,
        body,
        allowed_tools,
    } = new;
    let key = SkillName::from_written(name);
    let mut meant = vec![
        Meant::text(
            "name",
            key.map_or_else(|| name.clone(), |key| key.to_string()),
        ),
        Meant::text("description", description),
        Meant::text("body", body),
    ];
    let allowed_tools = allowed_tools.iter();
    meant.extend(allowed_tools.map(|list| Meant::text("allowed_tools", list.join(" "))));
    meant
}

fn output(format: Format) -> Meant {
    let format = match format {
        Format::Text => "text",
        Format::Json => "json",
    };
    Meant::text("format", format)
}

fn script(start: &StartScript, dir: Option<&Path>, named: Meant) -> Vec<Meant> {
    let StartScript {
        skill: _,
        script,
        args,
        stdin,
        stdin_file: _,
        workdir,
        env,
        timeout_secs,
        background,
        format,
    } = start;
    let file = dir.and_then(|dir| {
        let path = script_path(dir, script).ok()?;
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
    let workdir = match workdir {
        WorkDir::Skill => "skill",
        WorkDir::Project => "project",
        WorkDir::Temp => "temp",
        WorkDir::Inside(path) => path,
    };
    let mut meant = vec![
        named,
        Meant::any("script", file.clone()),
        Meant::any("path", file),
        Meant::text("args", args.join(" ")),
        Meant::text("stdin", stdin),
        Meant::text("workdir", workdir),
        Meant::text("background", background.to_string()),
        output(*format),
    ];
    let variables = env.iter();
    meant.extend(variables.map(|(name, value)| Meant::text("env", format!("{name}={value}"))));
    meant.extend(timeout_secs.map(|seconds| Meant::text("timeout_secs", seconds.to_string())));
    meant
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

/// What a command line of the marketplace means: its verb, and under both keys each operand. What
/// changes skills and names none may mean all of them.
fn command(facts: &Facts, words: &[String]) -> Vec<Meant> {
    let mut meant = vec![Meant::text("args", words.join(" "))];
    let verb = words.iter().position(|word| !word.starts_with('-'));
    let Some((verb, operands)) = verb.and_then(|at| words[at..].split_first()) else {
        return meant;
    };
    let names = [verb.replace('-', "_"), verb.replace('_', "-")];
    meant.push(Meant::any("action", names.to_vec()));
    let keys = ["skill_ref", "query"];
    let (options, operands) = match operands.iter().position(|word| word == "--") {
        Some(at) => (
            &operands[..at],
            [&operands[..at], &operands[at + 1..]].concat(),
        ),
        None => (operands, operands.to_vec()),
    };
    let is_installed = !["install", "search"].contains(&verb.as_str());
    // What an option means is not known here, nor whether a word is its value.
    let has_options = options.iter().any(|word| word.starts_with('-'));
    if has_options || operands.is_empty() && looking(verb).is_none() {
        meant.extend(keys.map(Meant::doubtful));
    }
    let is_named = is_installed && !operands.is_empty();
    let catalog = is_named.then(|| Catalog::with_owners(facts));
    for operand in operands {
        let entry = catalog.as_ref().and_then(|it| it.by_name(&operand));
        meant.extend(keys.map(|key| {
            let skill = entry.zip(catalog.as_ref());
            let skill = skill.map(|(entry, catalog)| skill_in(catalog, key, &entry.dir));
            let mut meant = skill.unwrap_or_else(|| Meant::any(key, Vec::new()));
            meant.forms.push(operand.clone());
            meant
        }));
    }
    meant
}
