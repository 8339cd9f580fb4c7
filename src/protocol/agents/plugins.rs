//! What an agent has beside skills: the directories of its plugins, searched to the end, since what was
//! not seen is not known to be absent; and commands, texts that its tool for skills, or typing, runs as
//! well. These are no skills, so nothing can hold them to a list.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::event::Caller;
use crate::catalog;
use crate::error::{Error, Result};
use crate::run_context::real;
use crate::session::snapshot;
use crate::skill::{Skill, commands_run};
use crate::sys::text::quoted;
use crate::sys::{EntryKind, files, limits};

/// What `look` finds in `dirs`, those of the agent's plugins: in those of `plugin` if anything is
/// found in a directory called so, else in all; of several releases, in the one that is installed.
pub fn in_plugins(
    caller: Caller,
    dirs: &[PathBuf],
    plugin: Option<&str>,
    look: &dyn Fn(&Path) -> Option<PathBuf>,
) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = dirs.iter().filter_map(|dir| look(dir)).collect();
    all.dedup();
    let named = |path: &PathBuf| {
        let mut parts = path.components();
        plugin.is_some_and(|plugin| parts.any(|part| part.as_os_str() == plugin))
    };
    if all.iter().any(named) {
        all.retain(named);
    }
    let installed = installed(caller);
    let is_installed = |path: &PathBuf| installed.iter().any(|dir| path.starts_with(dir));
    if all.iter().any(is_installed) {
        all.retain(is_installed);
    }
    all
}

/// All directories of the agent's plugins.
///
/// # Errors
/// If they could not be searched to the end.
pub fn plugin_dirs(caller: Caller) -> Result<Vec<PathBuf>> {
    let skills = &caller.table.skills;
    let mut roots: Vec<PathBuf> = caller.in_home(skills.plugins).collect();
    if !skills.plugin_mark.is_empty() {
        for root in catalog::roots(caller.with_skills_in(Vec::new())) {
            let inside = files::entries(&root.dir).unwrap_or_default().into_iter();
            let inside = inside.map(|(name, _)| root.dir.join(name.as_os_str()));
            roots.extend(inside.filter(|dir| dir.join(skills.plugin_mark).exists()));
        }
    }
    // The agent's own list may name others.
    roots.extend(installed(caller));
    let mut all = Vec::new();
    for root in roots {
        each_below(&root, &mut |dir, _| {
            all.push(dir.to_owned());
            true
        })?;
    }
    Ok(all)
}

/// Where the plugins are that the agent's own list names.
fn installed(caller: Caller) -> Vec<PathBuf> {
    let lists = ["installed_plugins.json", "known_marketplaces.json"];
    let roots = caller.in_home(caller.table.skills.plugins);
    let files = roots.flat_map(|dir| lists.map(|list| dir.join(list)));
    let read = |file: PathBuf| {
        let bytes = files::read_capped(&file, limits::SKILL_FILE).ok()?;
        serde_json::from_slice::<Value>(&bytes).ok()
    };
    let mut left: Vec<Value> = files.filter_map(read).collect();
    let mut found = Vec::new();
    while let Some(value) = left.pop() {
        match value {
            Value::Object(map) => {
                let paths = ["installPath", "installLocation"];
                let paths = paths.iter().filter_map(|key| map.get(*key)?.as_str());
                found.extend(paths.map(PathBuf::from));
                left.extend(map.into_values());
            }
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    found
}

/// The most directories that one search looks at.
const MOST: usize = 300_000;

/// Calls `visit` for each directory at or below `root`, nearest first, with how deep it is; where that
/// answers `false`, nothing below is looked at. A link is followed, once for each place.
///
/// # Errors
/// If there are too many.
pub fn each_below(root: &Path, visit: &mut dyn FnMut(&Path, usize) -> bool) -> Result<()> {
    at_most(MOST, root, visit)
}

fn at_most(
    mut left: usize,
    root: &Path,
    visit: &mut dyn FnMut(&Path, usize) -> bool,
) -> Result<()> {
    let mut linked: HashSet<PathBuf> = HashSet::from([real(root)]);
    let mut level = vec![root.to_owned()];
    for depth in 0.. {
        let mut next = Vec::new();
        for dir in level {
            left = left.checked_sub(1).ok_or_else(|| unended(root))?;
            if !visit(&dir, depth) {
                continue;
            }
            // What cannot be listed is not found by the agent either.
            let mut entries = files::entries(&dir).unwrap_or_default();
            entries.sort_unstable_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
            for (name, kind) in entries {
                let path = dir.join(name.as_os_str());
                let is_dir = match kind {
                    EntryKind::Dir => true,
                    EntryKind::Link => path.is_dir() && linked.insert(real(&path)),
                    _ => false,
                };
                if is_dir {
                    next.push(path);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    Ok(())
}

/// That a place was not searched to the end.
pub fn unended(root: &Path) -> Error {
    let text = format!(
        "{} has too many directories to search for it, so it is not known which skill this is",
        root.display()
    );
    Error::new(text).hint("start the agent in the directory that has the skill")
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_search_ends_at_its_end_or_says_so() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("node_modules/a/.b/c/d/e/f/g/h/i/target");
        fs::create_dir_all(&deep).unwrap();
        // Links that lead back end, and others are followed.
        symlink(root.path(), deep.join("back")).unwrap();
        let other = tempfile::tempdir().unwrap();
        fs::create_dir_all(other.path().join("inside")).unwrap();
        symlink(other.path(), root.path().join("link")).unwrap();
        let seen = |most: usize| {
            let mut seen = Vec::new();
            let ended = at_most(most, root.path(), &mut |dir, depth| {
                seen.push((dir.to_owned(), depth));
                true
            });
            (ended.is_ok(), seen)
        };
        let (ended, all) = seen(100);
        assert!(ended);
        assert!(all.contains(&(deep, 11)), "{all:?}");
        assert!(all.contains(&(root.path().join("link/inside"), 2)));
        assert_eq!(all.len(), 14);
        assert!(seen(14).0 && !seen(13).0);
    }
}
