//! Hands a permitted call back to the agent, where it takes arguments: a path as it was judged, and a
//! command in our confinement if `sandbox` is on for the active skill (docs/guide.md#confined-commands).

use super::event::AgentContext;
use crate::host::agent::table::CommandRuleFiles;
use crate::protocol::prelude::*;
use crate::script::SandboxMode;
use skill_permission::vocabulary::AgentTool;
use skill_permission::vocabulary::Capability;
use skill_permission::vocabulary::Language;

const CONFINED: EntryName = EntryName::from_static("confined");

/// How deep a directory of rules is looked through, and how many files one may have: beyond that,
/// there may be rules.
const RULES_DEPTH: usize = 3;
const RULES_FILES: usize = 64;

/// The arguments of a permitted call with its path absolute or its command confined; `None` if it
/// stays as it is. `begin` is where the call begins.
///
/// # Errors
/// Why it may not run: its command has to be confined, and cannot be.
pub fn rewritten_arguments(
    caller: AgentContext,
    session: &Session,
    (used, begin): (&ToolUse, &Path),
) -> Result<Option<Value>, String> {
    let Some(AgentTool { does, keys, .. }) = caller.table.tool(&used.tool) else {
        return Ok(None);
    };
    match does {
        Capability::Shell => confined(caller, session, (used, begin, keys[0])),
        Capability::ReadFile | Capability::WriteFile | Capability::EditFile => {
            let takes = caller.table.command_rules.is_some() && session.active().next().is_some();
            Ok(takes.then(|| absolute(used, begin, keys)).flatten())
        }
        _ => Ok(None),
    }
}

/// The arguments with the path as it was judged, if it was written otherwise.
fn absolute(used: &ToolUse, begin: &Path, keys: &[&'static str]) -> Option<Value> {
    let mut texts = keys.iter();
    let (key, written) = texts.find_map(|key| Some((*key, used.arguments.get(key)?.as_str()?)))?;
    let judged = begin.join(written);
    let judged = judged.to_str().filter(|judged| *judged != written)?;
    let mut arguments = used.arguments.clone();
    arguments[key] = judged.into();
    Some(arguments)
}

/// The arguments with the command confined; `None` if nothing asks for it, or, unless it has to be,
/// if the agent takes no arguments back or a rule of the user's own would no longer match it.
fn confined(
    caller: AgentContext,
    session: &Session,
    (used, begin, key): (&ToolUse, &Path, &str),
) -> Result<Option<Value>, String> {
    let facts = caller.facts;
    let Some(skill) = session.latest() else {
        return Ok(None);
    };
    let settings = facts.config().map(|config| config.script(&skill.name));
    let mode = settings.map_or(SandboxMode::Off, |settings| settings.confinement.mode);
    let stays = |why: &str| {
        if mode != SandboxMode::Require {
            return Ok(None);
        }
        let event = Event::new("tool").with("tool", used.tool.as_str());
        let event = event.with("skill", skill.name.as_str());
        facts.record(event.with("decision", "blocked").with("by", "sandbox"));
        Err(format!(
            "`{}` is not allowed: `sandbox` is `require` for the skill `{}`, but {why}. Tell the user.",
            used.tool, skill.name
        ))
    };
    if mode == SandboxMode::Off {
        return Ok(None);
    }
    let Some(own) = caller.table.command_rules else {
        return stays("this agent takes no confined command from a hook");
    };
    if has_rules(caller, own) {
        return stays("a rule of the agent's own about commands would not match a confined one");
    }
    let Some(confined) = wrapped(caller, skill, used.arguments.get(key)) else {
        return stays("this command cannot be confined");
    };
    // Recorded first: another hook of this call gets the command as it is now.
    let call = recorded(caller, session, begin, &confined);
    seen::before(facts.state(), &CONFINED, &call);
    let mut arguments = used.arguments.clone();
    arguments[key] = Value::String(confined);
    Ok(Some(arguments))
}

/// The command that runs `command` in the confinement of the skill.
fn wrapped(caller: AgentContext, skill: &ActiveSkill, command: Option<&Value>) -> Option<String> {
    let run = &caller.facts.run;
    let shell = run.env.path("SHELL");
    let shell = shell.filter(|_| caller.table.shell.language == Language::BashOrZsh);
    let project = run.project_dir();
    let words = [
        run.env.exe.as_deref()?.to_str()?,
        "confine",
        "--skill",
        &skill.dir,
        "--project",
        project.to_str()?,
        "--",
        shell.as_deref().and_then(Path::to_str).unwrap_or("bash"),
        "-c",
        command?.as_str()?,
    ];
    shlex::try_join(words).ok()
}

/// Whether the call is one whose command was handed back, to the letter, to the same skills and in the
/// same directory.
pub fn is_confined(
    caller: AgentContext,
    session: &Session,
    (used, begin): (&ToolUse, &Path),
) -> bool {
    let tool = caller.table.tool(&used.tool);
    let shell = tool.filter(|tool| tool.does == Capability::Shell);
    let command = shell.and_then(|shell| used.arguments.get(shell.keys[0])?.as_str());
    let is_recorded = |command: &str| {
        let call = recorded(caller, session, begin, command);
        seen::has(caller.facts.state(), &CONFINED, &call)
    };
    let command = command.filter(|command| command.contains(" confine "));
    caller.table.command_rules.is_some() && command.is_some_and(is_recorded)
}

/// A command with all that it was judged by.
fn recorded(caller: AgentContext, session: &Session, begin: &Path, command: &str) -> String {
    format!(
        "{}\0{:?}\0{}\0{command}",
        caller.facts.key().as_str(),
        session.activated,
        begin.display()
    )
}

/// Whether the user may have rules of the agent's own about commands, which look at the command's text.
fn has_rules(caller: AgentContext, own: &CommandRuleFiles) -> bool {
    let run = &caller.facts.run;
    let mut variables = own.variables.iter();
    if variables.any(|name| run.env.os(name).is_some()) {
        return true;
    }
    let mut holders = run.holders();
    holders.push(run.project_dir());
    let of_user = |path| Some((path, caller.table.home.place(&run.env, path)?));
    let user = own.user.iter().filter_map(of_user);
    let machine = own.machine.iter().map(|path| (path, PathBuf::from(path)));
    let project = holders.iter().flat_map(|holder| {
        let paths = own.project.iter();
        paths.map(move |path| (path, holder.join(path)))
    });
    let mut all = user.chain(machine).chain(project);
    all.any(|(written, path)| {
        let mut files = files_meant(own, written, path).into_iter();
        files.any(|file| may_have_rules(&file, own.marks, RULES_DEPTH))
    })
}

/// The files that one of these paths means.
fn files_meant(own: &CommandRuleFiles, written: &str, path: PathBuf) -> Vec<PathBuf> {
    if !written.ends_with('/') {
        return vec![path];
    }
    let dirs = match path.parent().filter(|_| path.ends_with("*")) {
        Some(above) => {
            let below = files::entries(above).unwrap_or_default().into_iter();
            below
                .map(|(name, _)| above.join(name.as_os_str()))
                .collect()
        }
        None => vec![path],
    };
    let files = |dir: PathBuf| own.files.iter().map(move |file| dir.join(file));
    dirs.into_iter().flat_map(files).collect()
}

/// Whether a file, or one in a directory, speaks of commands. What cannot be read may.
fn may_have_rules(path: &Path, marks: Words, depth: usize) -> bool {
    let is_dir = match files::if_there(path.metadata()) {
        Ok(Some(metadata)) => metadata.is_dir(),
        Ok(None) => return false,
        Err(_) => return true,
    };
    if !is_dir {
        return files::read_capped(path, limits::CONFIG_FILE).map_or(true, |bytes| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            marks.iter().any(|mark| text.contains(mark))
        });
    }
    match files::entries(path) {
        Ok(entries) if depth > 0 && entries.len() <= RULES_FILES => {
            let mut below = entries.iter();
            below.any(|(name, _)| may_have_rules(&path.join(name.as_os_str()), marks, depth - 1))
        }
        _ => true,
    }
}
