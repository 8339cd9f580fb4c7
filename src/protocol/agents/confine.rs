//! Hands a granted command back to the agent in our confinement, where `sandbox` is on for the active
//! skill (docs/scripts.md#commands).

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::host::agent::table::{Does, Own, Table};
use crate::host::shell::Language;
use crate::permission::Confined;
use crate::protocol::ToolUse;
use crate::run_context::RunContext;
use crate::script::Mode;
use crate::session::Session;
use crate::sys::{EntryName, files, limits};

const CONFINED: EntryName = EntryName::from_static("confined");

/// The arguments of a permitted call with its command confined; `None` if it stays as it is: nothing
/// asks for it, the agent takes no arguments back, or a rule of the user's own would no longer match
/// the command.
pub fn confined(
    ctx: &RunContext,
    table: &Table,
    session: &Session,
    (used, begin): (&ToolUse, &Path),
) -> Option<Value> {
    let own = table.serves.rewrite?;
    let Some(Does::Shell(key, _)) = table.does(&used.tool) else {
        return None;
    };
    let command = used.arguments.get(key)?.as_str()?;
    let skill = session.latest()?;
    let settings = ctx.script_settings(&skill.name).ok()?;
    if settings.confinement.mode == Mode::Off || has_rules(ctx, own) {
        return None;
    }
    let shell = ctx.env.path("SHELL");
    let shell = shell.filter(|_| table.shell.language == Language::BashOrZsh);
    let confined = Confined {
        program: ctx.env.exe.as_deref()?.to_str()?,
        skill_dir: &skill.dir,
        project_dir: ctx.project_dir().to_str()?,
        shell: shell.as_deref().and_then(Path::to_str).unwrap_or("bash"),
    }
    .wrap(command)?;
    // Recorded first: another hook of this call gets the command as it is now.
    ctx.seen(CONFINED)
        .before(&recorded(ctx, session, begin, &confined));
    let mut arguments = used.arguments.clone();
    arguments[key] = Value::String(confined);
    Some(arguments)
}

/// Whether the call is one whose command was handed back, to the letter, to the same skills and in the
/// same directory.
pub fn is_confined(
    ctx: &RunContext,
    table: &Table,
    session: &Session,
    (used, begin): (&ToolUse, &Path),
) -> bool {
    let Some(Does::Shell(key, _)) = table.does(&used.tool) else {
        return false;
    };
    let command = used.arguments.get(key).and_then(Value::as_str);
    table.serves.rewrite.is_some()
        && command.is_some_and(|command| {
            let recorded = || recorded(ctx, session, begin, command);
            command.contains(" confine ") && ctx.seen(CONFINED).has(&recorded())
        })
}

/// A command with all that it was judged by.
fn recorded(ctx: &RunContext, session: &Session, begin: &Path, command: &str) -> String {
    format!(
        "{}\0{:?}\0{:?}\0{}\0{command}",
        ctx.session().as_str(),
        session.activated,
        session.began,
        begin.display()
    )
}

/// Whether the user has rules of the agent's own about commands, which look at the command's text.
fn has_rules(ctx: &RunContext, own: &Own) -> bool {
    let home = ctx.env.home().unwrap_or_default();
    let project = ctx.project_dir();
    let mut all: Vec<PathBuf> = own.user.iter().map(|file| home.join(file)).collect();
    all.extend(own.project.iter().map(|file| project.join(file)));
    all.extend(own.machine.iter().map(PathBuf::from));
    all.iter().any(|file| {
        let read = files::if_there(files::read_capped(file, limits::CONFIG_FILE));
        // What cannot be read may have such rules.
        read.map_or(true, |bytes| {
            let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
            own.marks.iter().any(|mark| text.contains(mark))
        })
    })
}
