//! What a call of one of our tools means: its typed arguments with every name and path resolved as
//! the tool resolves them, for rules that compare arguments.

use serde::Serialize;

use crate::protocol::called_skill::skill_dir;
use crate::protocol::prelude::*;
use crate::protocol::request::NAME;
use crate::protocol::tools::script_path;

/// What the arguments of `call`, which is that of `request`, mean; nothing if no rule asks.
pub fn meaning(
    facts: &Facts,
    scope: &RestrictionInputs,
    session: &Session,
    request: &Request,
    call: &ToolCall,
) -> Vec<ArgumentValue> {
    let is_compared = |call: &ToolCall| compares_arguments(scope, call);
    let tool = request.tool.as_str();
    if !is_compared(call) && !is_compared(&ToolCall { tool, ..*call }) {
        return Vec::new();
    }
    let skill = |key, written: Option<&str>| skill(facts, session, key, written);
    let dir = |written: &Option<String>| skill_dir(facts, written.as_deref(), session);
    let call = match &request.kind {
        RequestKind::Activation(called) => return activation(facts, called),
        RequestKind::Ours(Ok(call)) => call,
        // Of an error the tool tells, and does nothing.
        _ => return Vec::new(),
    };
    match call {
        OwnToolCall::Command(words) => command(facts, words),
        // It is `RequestKind::Activation` or none.
        OwnToolCall::Activate(_) => Vec::new(),
        OwnToolCall::ReadSkillFile(read) => {
            let file = dir(&read.skill).and_then(|dir| {
                let path = SkillPath::parse(&read.path, &dir).ok()?;
                Some(forms(&dir, &path.resolve(&dir).ok()?))
            });
            let named = skill("skill", read.skill.as_deref());
            let file = ArgumentValue::any("path", file.unwrap_or_default());
            plain(tool, read, vec![named, file])
        }
        OwnToolCall::RunSkillScript(RunSkillScript::Start(start)) => {
            let file = dir(&start.skill).and_then(|dir| script(start, &dir));
            let file = file.unwrap_or_default();
            let named = skill("skill", start.skill.as_deref());
            let script = ArgumentValue::any("script", file.clone());
            // Its path can be written in many ways.
            let input = start.stdin_file.as_ref();
            let input = input.map(|_| ArgumentValue::doubtful("stdin_file"));
            let known = [named, script, ArgumentValue::any("path", file)];
            plain(tool, start, known.into_iter().chain(input).collect())
        }
        OwnToolCall::RunSkillScript(job) => plain(tool, job, Vec::new()),
        OwnToolCall::SkillSession(call) => {
            let skills = |written: &[String]| -> Vec<ArgumentValue> {
                let written = written.iter();
                written.map(|name| skill("names", Some(name))).collect()
            };
            let (action, all, mut meant) = match call {
                SkillSession::Load { names, adds } => {
                    let mode = if *adds { "add" } else { "replace" };
                    let mode = vec![ArgumentValue::text("mode", mode)];
                    ("load", "false", [skills(names), mode].concat())
                }
                SkillSession::Unload(Some(names)) => ("unload", "false", skills(names)),
                SkillSession::Unload(None) => {
                    ("unload", "true", vec![ArgumentValue::doubtful("names")])
                }
                SkillSession::Status => ("status", "false", Vec::new()),
            };
            meant.extend([
                ArgumentValue::text("action", action),
                ArgumentValue::text("all", all),
            ]);
            meant
        }
        OwnToolCall::ProposeSkillUpdate(proposed) => {
            plain(tool, proposed, vec![skill("skill", Some(&proposed.skill))])
        }
        OwnToolCall::CreateSkill(new) => {
            let name = SkillName::from_written(&new.name);
            let name = name.map_or_else(|| new.name.clone(), |name| name.to_string());
            plain(tool, new, vec![ArgumentValue::text("name", name)])
        }
    }
}

/// What a call means: what is `known` of some arguments, and each other one as it was read.
fn plain(tool: &str, call: &impl Serialize, mut known: Vec<ArgumentValue>) -> Vec<ArgumentValue> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        other => other.to_string(),
    };
    let call = json!(call);
    for key in schema::arguments(tool).unwrap_or_default() {
        let is_known = known.iter().any(|one| one.key == key);
        match call.get(key).filter(|_| !is_known) {
            None | Some(Value::Null) => {}
            Some(Value::Object(all)) => {
                let pair = |(name, value): (&String, _)| format!("{name}={}", text(value));
                known.extend(all.iter().map(|one| ArgumentValue::text(key, pair(one))));
            }
            Some(Value::Array(all)) => {
                let all: Vec<String> = all.iter().map(text).collect();
                known.push(ArgumentValue::text(key, all.join(" ")));
            }
            Some(other) => known.push(ArgumentValue::text(key, text(other))),
        }
    }
    known
}

/// The skill that is named, else the latest, in every form that finds it.
fn skill(
    facts: &Facts,
    session: &Session,
    key: &'static str,
    written: Option<&str>,
) -> ArgumentValue {
    let dir = skill_dir(facts, written, session);
    match dir {
        Some(dir) => skill_in(&Catalog::load_with_owners(facts), key, &dir),
        None => ArgumentValue::any(key, Vec::new()),
    }
}

fn skill_in(catalog: &Catalog, key: &'static str, dir: &Path) -> ArgumentValue {
    let entry = catalog.entries().iter().find(|entry| entry.dir == dir);
    let directory = dir.file_name();
    ArgumentValue {
        maybe: directory.map(|name| name.to_string_lossy().into_owned()),
        ..ArgumentValue::skill(key, entry.map(Entry::names).unwrap_or_default())
    }
}

fn activation(facts: &Facts, called: &CalledSkill) -> Vec<ArgumentValue> {
    let catalog = Catalog::load_with_owners(facts);
    let skill = |key: &&'static str| skill_in(&catalog, key, &called.skill.dir);
    let mut meant: Vec<ArgumentValue> = NAME.iter().map(skill).collect();
    meant.push(ArgumentValue::text("action", "use"));
    let given = called.arguments.iter();
    let keys = ["arguments", "args", "query"];
    meant.extend(given.flat_map(|text| keys.map(|key| ArgumentValue::text(key, text))));
    meant
}

/// The forms of a script's path.
fn script(start: &StartScript, dir: &Path) -> Option<Vec<String>> {
    let path = script_path(dir, &start.script).ok()?;
    let mut forms = forms(dir, &path);
    // A file in `scripts/` is found without it, unless another has that name.
    let short = forms[0].strip_prefix("scripts/").map(str::to_owned);
    let means_it = |short: &String| script_path(dir, short).is_ok_and(|found| found == path);
    if let Some(short) = short.filter(means_it) {
        forms.extend([format!("./{short}"), short]);
    }
    Some(forms)
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
fn command(facts: &Facts, words: &[String]) -> Vec<ArgumentValue> {
    let mut meant = vec![ArgumentValue::text("args", words.join(" "))];
    let verb = words.iter().position(|word| !word.starts_with('-'));
    let Some((verb, operands)) = verb.and_then(|at| words[at..].split_first()) else {
        return meant;
    };
    let names = [verb.replace('-', "_"), verb.replace('_', "-")];
    meant.push(ArgumentValue::any("action", names.to_vec()));
    let keys = ["skill_ref", "query"];
    // What is behind `--` is no option.
    let end = operands.iter().position(|word| word == "--");
    let (options, rest) = operands.split_at(end.unwrap_or(operands.len()));
    let operands = options.iter().chain(rest.iter().skip(1));
    let is_installed = !["install", "search"].contains(&verb.as_str());
    // What an option means is not known here, nor whether a word is its value.
    let has_options = options.iter().any(|word| word.starts_with('-'));
    let has_operands = operands.clone().next().is_some();
    if has_options || !has_operands && read_only_action(verb).is_none() {
        meant.extend(keys.map(ArgumentValue::doubtful));
    }
    let is_named = is_installed && has_operands;
    let catalog = is_named.then(|| Catalog::load_with_owners(facts));
    for operand in operands {
        let entry = catalog.as_ref().and_then(|it| it.by_name(operand));
        meant.extend(keys.map(|key| {
            let skill = entry.zip(catalog.as_ref());
            let skill = skill.map(|(entry, catalog)| skill_in(catalog, key, &entry.dir));
            let mut meant = skill.unwrap_or_else(|| ArgumentValue::any(key, Vec::new()));
            meant.forms.push(operand.clone());
            meant
        }));
    }
    meant
}
