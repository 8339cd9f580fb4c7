//! Commands: texts beside skills that an agent's tool for skills, or typing, runs as well. They are
//! no skills, so nothing can hold them to a list.

use std::path::{Component, Path, PathBuf};

use super::event::Caller;
use super::plugins::{in_plugins, plugin_dirs};
use crate::session::snapshot;
use crate::skill::{Skill, commands_run};
use crate::sys::text::quoted;
use crate::sys::{files, limits};

/// Why the command of this name may not run: it has a list of tools, hooks, or commands that run as it
/// is loaded, or it is somewhere in a plugin that is here. `None` if it has neither, or is none. Where it
/// `stands_in` for a skill of the administrator, it may not run in any case.
pub fn unheld(caller: Caller, written: &str, stands_in: bool) -> Option<String> {
    if caller.table.skills.commands.0.is_empty() || !is_below(written) {
        return None;
    }
    let asking = |file: &PathBuf| stands_in || asks_for_something(file);
    let why = |file: &Path| {
        if stands_in {
            let file = file.display();
            return format!(
                "{file} is a command that has the name of a skill of the administrator"
            );
        }
        let name = written.rsplit(':').next().unwrap_or(written);
        format!(
            "it is a command, not a skill, and its list or its own commands cannot be held to here: \
             make it a skill, `skills/{}/SKILL.md`, instead of {}",
            quoted(name),
            file.display()
        )
    };
    if let Some(file) = of_user(caller, written) {
        return asking(&file).then(|| why(&file));
    }
    let (plugin, name) = match written.split_once(':') {
        Some((plugin, name)) => (Some(plugin), name),
        None => (None, written),
    };
    let name = format!("{}.md", name.replace(':', "/"));
    let is_file = |file: &PathBuf| file.exists();
    let in_commands = |dir: &Path| Some(dir.join("commands").join(&name)).filter(is_file);
    let dirs = match plugin_dirs(caller) {
        Ok(dirs) => dirs,
        Err(why) => return Some(why.with_next_step()),
    };
    let in_all = |look: &dyn Fn(&Path) -> Option<PathBuf>| in_plugins(caller, &dirs, plugin, look);
    // A plugin's manifest may name other directories.
    let in_any = |dir: &Path| Some(dir.join(&name)).filter(is_file);
    let mut found = in_all(&in_commands);
    if found.is_empty() {
        found = in_all(&in_any);
    }
    if let Some(file) = found.iter().find(|file| asking(file)) {
        return Some(why(file));
    }
    let is_it = |dir: &&Path| plugin.is_some_and(|plugin| dir.ends_with(plugin));
    let is_there = |dir: &Path| Some(dir).filter(is_it).map(Path::to_owned);
    let is_unknown = found.is_empty() && !in_all(&is_there).is_empty();
    is_unknown.then(|| {
        format!(
            "its text was not found in the plugin `{}`, so it is not known what it may use: its \
             author has to keep it in the plugin's `commands` or `skills`",
            quoted(plugin.unwrap_or_default())
        )
    })
}

/// Whether a command's name leads to a file below the directory of commands.
fn is_below(written: &str) -> bool {
    let name = written.replace(':', "/");
    let mut parts = Path::new(&name).components();
    parts.all(|part| matches!(part, Component::Normal(_)))
}

/// The command's file in the project or the home; a `SKILL.md` there is one as well.
pub fn of_user(caller: Caller, written: &str) -> Option<PathBuf> {
    if !is_below(written) {
        return None;
    }
    let dirs = caller.table.skills.commands;
    let name = written.replace(':', "/");
    let names = [format!("{name}.md"), format!("{name}/SKILL.md")];
    let places = caller.in_project(dirs).chain(caller.in_home(dirs));
    let mut files = places.flat_map(|place| names.clone().map(|name| place.join(name)));
    files.find(|file| file.exists())
}

/// Whether a command's file has a list of tools, hooks, or commands that run as it is loaded. One
/// that cannot be read may have them.
fn asks_for_something(file: &Path) -> bool {
    let Ok(bytes) = files::read_capped(file, limits::SKILL_FILE) else {
        return true;
    };
    let dir = file.with_extension("");
    let Ok(skill) = Skill::parse(&dir, file.to_owned(), &bytes) else {
        return true;
    };
    let taken = snapshot(&skill, "");
    let has_hooks = skill.fields.value("hooks").is_some_and(|it| !it.is_null());
    taken.is_restricted() || has_hooks || !commands_run(&String::from_utf8_lossy(&bytes)).is_empty()
}
