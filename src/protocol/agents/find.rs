//! The skill that an agent means by a name: among those in the directories where that agent looks,
//! which wins there.

use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, Entry, Layer};
use crate::host::agent::table::Skills;
use crate::run_context::{Calling, RunContext};
use crate::sys::{EntryKind, Env, files, limits};

/// Directories visited in search of nested skills and of plugins.
const VISITED: usize = 20_000;
/// How deep they may be.
const DEEPEST: usize = 8;

/// The context in which the skill was found, which may have more directories of skills, with its
/// catalog and its place in it.
pub struct Found {
    /// The context.
    pub ctx: &'static RunContext,
    /// Its skills.
    pub catalog: Catalog,
    at: usize,
}

impl Found {
    /// The skill's entry.
    pub fn entry(&self) -> &Entry {
        &self.catalog.entries()[self.at]
    }
}

/// The skill that the agent means by `written`; `None` if it is none of those on disk, such as one
/// that the agent ships inside itself.
pub fn find(ctx: &RunContext, calling: &Calling, written: &str) -> Option<Found> {
    let skills = &calling.agent.table().skills;
    let (owner, name) = match written.rsplit_once(':') {
        Some((owner, name)) => (Some(owner), name),
        None => (None, written),
    };
    let is_plain = |part: &str| !part.is_empty() && !Path::new(part).is_absolute();
    if !is_plain(name) || name.contains('/') {
        return None;
    }
    let holder = |dir: PathBuf| in_directory(ctx, calling, dir, Vec::new());
    if let Some(owner) = owner {
        let nested = ctx.project_dir().join(owner);
        if skills.nested && is_plain(owner) && nested.is_dir() {
            let found = pick(holder(nested), skills, name);
            if found.is_some() {
                return found;
            }
        }
        let plugins = plugins_with(ctx, skills, Some(owner), name);
        return pick(
            in_directory(ctx, calling, ctx.env.cwd.clone(), plugins),
            skills,
            name,
        );
    }
    let here = in_directory(ctx, calling, ctx.env.cwd.clone(), Vec::new());
    pick(here, skills, name)
        .or_else(|| {
            let deeper = skills
                .nested
                .then(|| nested_with(ctx, skills, name))
                .flatten();
            pick(holder(deeper?), skills, name)
        })
        .or_else(|| {
            let plugins = plugins_with(ctx, skills, None, name);
            let is_any = !plugins.is_empty();
            is_any
                .then(|| in_directory(ctx, calling, ctx.env.cwd.clone(), plugins))
                .and_then(|found| pick(found, skills, name))
        })
}

/// The context of the same call in another directory, or with more directories of skills.
fn in_directory(
    ctx: &RunContext,
    calling: &Calling,
    cwd: PathBuf,
    plugins: Vec<PathBuf>,
) -> &'static RunContext {
    let env: Env = ctx.env.clone().in_directory(cwd, Some(ctx.project_dir()));
    let calling = Calling {
        plugins,
        ..calling.clone()
    };
    // The process ends with its answer.
    Box::leak(Box::new(RunContext::of_agent(env, calling)))
}

fn pick(ctx: &'static RunContext, skills: &Skills, name: &str) -> Option<Found> {
    let catalog = ctx.catalog();
    let has_it = |entry: &Entry| {
        entry.dir.file_name().is_some_and(|dir| dir == name)
            || entry
                .disclosed()
                .is_some_and(|skill| skill.name.as_str() == name)
    };
    let rank = |entry: &Entry| match entry.layer {
        Layer::Enterprise => 0,
        Layer::Project if skills.project_first => 1,
        Layer::Personal => 2,
        Layer::Project => 3,
        Layer::Plugin => 4,
    };
    let entries = catalog.entries().iter().enumerate();
    let found = entries
        .filter(|(_, entry)| has_it(entry))
        .min_by_key(|(at, entry)| (rank(entry), *at));
    let at = found.map(|(at, _)| at)?;
    Some(Found { ctx, catalog, at })
}

/// The directory below the project whose skills include one of this name.
fn nested_with(ctx: &RunContext, skills: &Skills, name: &str) -> Option<PathBuf> {
    const SKIPPED: [&str; 3] = [".git", "node_modules", "target"];
    let project = ctx.project_dir();
    let has_it = |dir: &Path| {
        let mut roots = skills.project.iter();
        roots.any(|root| dir.join(root).join(name).join("SKILL.md").exists())
    };
    walk(&project, &SKIPPED, &mut |dir| {
        has_it(dir).then(|| dir.to_owned())
    })
}

/// The directories of skills of the plugins that have one of this name; those of `plugin` if any is
/// called so, else all.
fn plugins_with(
    ctx: &RunContext,
    skills: &Skills,
    plugin: Option<&str>,
    name: &str,
) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    for root in skills.plugins {
        let root = ctx.env.home().unwrap_or_default().join(root);
        let _ = walk::<()>(&root, &[".git", "node_modules"], &mut |dir| {
            let skills = dir.join("skills");
            if skills.join(name).join("SKILL.md").exists() {
                all.push(skills);
            }
            None
        });
    }
    let named = |dir: &PathBuf| {
        let mut parts = dir.components();
        plugin.is_some_and(|plugin| parts.any(|part| part.as_os_str() == plugin))
    };
    if all.iter().any(named) {
        all.retain(named);
    }
    all
}

/// The first answer of `look` for a directory at or below `root`, nearest first. No link is followed.
fn walk<T>(root: &Path, skipped: &[&str], look: &mut dyn FnMut(&Path) -> Option<T>) -> Option<T> {
    let mut level = vec![root.to_owned()];
    let mut visited = 0;
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for dir in level {
            visited += 1;
            if visited > VISITED {
                return None;
            }
            if let Some(found) = look(&dir) {
                return Some(found);
            }
            let entries = files::entries(&dir).unwrap_or_default();
            let below = entries.into_iter().filter(|(name, kind)| {
                let is_skipped = skipped.iter().any(|one| name.as_os_str() == *one);
                *kind == EntryKind::Dir && !is_skipped
            });
            next.extend(below.map(|(name, _)| dir.join(name.as_os_str())));
        }
        level = next;
        level.truncate(limits::CATALOG_ENTRIES);
    }
    None
}
