//! The directories of an agent's plugins.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::origin::leaked;
use super::search::each_below;
use crate::catalog;
use crate::error::Result;
use crate::facts::Facts;
use crate::run_context::Calling;
use crate::sys::{files, limits};

/// The context of the same call with more directories of skills.
pub fn with_skills_in(facts: &Facts, calling: &Calling, plugins: Vec<PathBuf>) -> &'static Facts {
    let env = &facts.run.env;
    let env = env
        .clone()
        .in_directory(env.cwd.clone(), Some(facts.run.project_dir()));
    let calling = calling.clone();
    leaked(env, Calling { plugins, ..calling })
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
    let home = calling.agent.table().home;
    let roots = skills.plugins.iter();
    let mut roots: Vec<PathBuf> = roots
        .filter_map(|dir| home.place(&facts.run.env, dir))
        .collect();
    if !skills.plugin_mark.is_empty() {
        let here = with_skills_in(facts, calling, Vec::new());
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
    let home = calling.agent.table().home;
    let roots = calling.agent.table().skills.plugins.iter();
    let lists = ["installed_plugins.json", "known_marketplaces.json"];
    let files = roots.filter_map(|dir| home.place(&facts.run.env, dir));
    let files = files.flat_map(|dir| lists.map(|list| dir.join(list)));
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
