//! The directories of an agent's plugins.

use std::path::{Path, PathBuf};

use super::search::each_below;
use crate::catalog;
use crate::error::Result;
use crate::facts::Facts;
use crate::run_context::Calling;
use crate::sys::{files, limits};

/// The context of the same call in another directory, or with more directories of skills.
pub fn in_directory(
    facts: &Facts,
    calling: &Calling,
    cwd: &Path,
    plugins: Vec<PathBuf>,
) -> &'static Facts {
    let project = Some(facts.run.project_dir());
    let env = facts.run.env.clone().in_directory(cwd.to_owned(), project);
    let calling = Calling {
        plugins,
        ..calling.clone()
    };
    // The process ends with its answer.
    Box::leak(Box::new(Facts::of_agent(env, calling)))
}

/// What `look` finds in `dirs`, those of the agent's plugins: in those of `plugin` if anything is
/// found in a directory called so, else in all; of several releases, in the one that is installed.
pub fn in_plugins(
    facts: &Facts,
    calling: &Calling,
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
    let installed = installed(facts, calling);
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
pub fn plugin_dirs(facts: &Facts, calling: &Calling) -> Result<Vec<PathBuf>> {
    let skills = &calling.agent.table().skills;
    let home = calling.agent.settings().home;
    let roots = skills.plugins.iter();
    let mut roots: Vec<PathBuf> = roots
        .filter_map(|dir| home.place(&facts.run.env, dir))
        .collect();
    if !skills.plugin_mark.is_empty() {
        let here = in_directory(facts, calling, &facts.run.env.cwd, Vec::new());
        for root in catalog::roots(here) {
            let inside = files::entries(&root.dir).unwrap_or_default().into_iter();
            let inside = inside.map(|(name, _)| root.dir.join(name.as_os_str()));
            roots.extend(inside.filter(|dir| dir.join(skills.plugin_mark).exists()));
        }
    }
    // The agent's own list may name others.
    roots.extend(installed(facts, calling));
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
fn installed(facts: &Facts, calling: &Calling) -> Vec<PathBuf> {
    let home = calling.agent.settings().home;
    let roots = calling.agent.table().skills.plugins.iter();
    let lists = ["installed_plugins.json", "known_marketplaces.json"];
    let files = roots.filter_map(|dir| home.place(&facts.run.env, dir));
    let files = files.flat_map(|dir| lists.map(|list| dir.join(list)));
    let read = |file: PathBuf| {
        let bytes = files::read_capped(&file, limits::SKILL_FILE).ok()?;
        serde_json::from_slice::<serde_json::Value>(&bytes).ok()
    };
    let mut left: Vec<serde_json::Value> = files.filter_map(read).collect();
    let mut found = Vec::new();
    while let Some(value) = left.pop() {
        if let serde_json::Value::Object(map) = &value {
            found.extend(
                ["installPath", "installLocation"]
                    .iter()
                    .filter_map(|key| map.get(*key)?.as_str())
                    .map(PathBuf::from),
            );
        }
        match value {
            serde_json::Value::Object(map) => left.extend(map.into_iter().map(|(_, value)| value)),
            serde_json::Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    found
}
