//! The skill that an agent means by a name: among those in the directories where that agent looks,
//! which wins there.

use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, Entry, Layer, Withheld};
use crate::error::{Error, Result};
use crate::host::agent::table::{First, Skills};
use crate::run_context::{Calling, RunContext, real};
use crate::sys::text::quoted;
use crate::sys::{EntryKind, files, limits};

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
    /// Whether it is where the agent looks. One of the administrator's that it does not see counts
    /// only if it sees no other of the name.
    pub is_seen: bool,
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
///
/// # Errors
/// If it is not known which of several the agent uses.
pub fn find(ctx: &RunContext, calling: &Calling, written: &str) -> Result<Option<Found>> {
    let skills = &calling.agent.table().skills;
    let (owner, name) = match written.rsplit_once(':') {
        Some((owner, name)) => (Some(owner), name),
        None => (None, written),
    };
    let is_plain = |part: &str| !part.is_empty() && !Path::new(part).is_absolute();
    if !is_plain(name) || name.contains('/') {
        return Ok(None);
    }
    let here = &ctx.env.cwd;
    let with = |more| pick(in_directory(ctx, calling, here, more), skills, name, true);
    let below = |dir: &Path| {
        pick(
            in_directory(ctx, calling, dir, Vec::new()),
            skills,
            name,
            true,
        )
    };
    let unseen = || {
        let here = in_directory(ctx, calling, here, Vec::new());
        pick(here, skills, name, false)
    };
    if let Some(owner) = owner {
        let nested = ctx.project_dir().join(owner);
        if skills.nested && is_plain(owner) && nested.is_dir() {
            let found = below(&nested)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        let found = with(plugins_with(ctx, calling, Some(owner), name))?;
        return found.map_or_else(unseen, |found| Ok(Some(found)));
    }
    if let Some(found) = with(Vec::new())? {
        return Ok(Some(found));
    }
    if skills.grouped
        && let Some(found) = with(groups_with(ctx, calling, name))?
    {
        return Ok(Some(found));
    }
    if skills.nested
        && let Some(deeper) = nested_with(ctx, skills, name)
        && let Some(found) = below(&deeper)?
    {
        return Ok(Some(found));
    }
    let found = with(plugins_with(ctx, calling, None, name))?;
    found.map_or_else(unseen, |found| Ok(Some(found)))
}

/// The name without that of a plugin or directory before it.
pub fn plain_part(written: &str) -> &str {
    written.rsplit_once(':').map_or(written, |(_, name)| name)
}

/// The skill in a directory, as the agent finds it there.
pub fn find_in(ctx: &RunContext, calling: &Calling, dir: &Path) -> Option<Found> {
    let around = dir.parent().map(Path::to_owned).into_iter().collect();
    let ctx = in_directory(ctx, calling, &ctx.env.cwd, around);
    let catalog = ctx.catalog();
    let real = real(dir);
    let is_it = |entry: &Entry| entry.dir == dir || self::real(&entry.dir) == real;
    let at = catalog.entries().iter().position(is_it)?;
    Some(Found {
        ctx,
        catalog,
        is_seen: true,
        at,
    })
}

/// The context of the same call in another directory, or with more directories of skills.
fn in_directory(
    ctx: &RunContext,
    calling: &Calling,
    cwd: &Path,
    plugins: Vec<PathBuf>,
) -> &'static RunContext {
    let project = Some(ctx.project_dir());
    let env = ctx.env.clone().in_directory(cwd.to_owned(), project);
    let calling = Calling {
        plugins,
        ..calling.clone()
    };
    // The process ends with its answer.
    Box::leak(Box::new(RunContext::of_agent(env, calling)))
}

/// The skill that the agent uses of those of this name which it sees, or else of the administrator's
/// that it does not see. A link to one of these from where it looks is the administrator's, too.
fn pick(
    ctx: &'static RunContext,
    skills: &Skills,
    name: &str,
    is_seen: bool,
) -> Result<Option<Found>> {
    let catalog = ctx.catalog();
    let enterprise = ctx.enterprise();
    let dirs = enterprise.dirs();
    let is_unseen = |entry: &Entry| {
        let mut dirs = dirs.iter();
        entry.layer == Layer::Enterprise && dirs.any(|dir| entry.dir.starts_with(dir))
    };
    let has_it = |entry: &Entry| {
        entry.dir.file_name().is_some_and(|dir| dir == name)
            || entry
                .disclosed()
                .is_some_and(|skill| skill.name.as_str() == name)
    };
    let rank = |entry: &Entry| match entry.layer {
        Layer::Enterprise => 0,
        Layer::Project if skills.first == First::Project => 1,
        Layer::Personal => 2,
        Layer::Project => 3,
        Layer::Plugin => 4,
    };
    let each = || catalog.entries().iter().enumerate();
    let unseen: Vec<PathBuf> = each()
        .filter(|(_, entry)| is_unseen(entry))
        .map(|(_, entry)| real(&entry.dir))
        .collect();
    let is_administrators =
        |entry: &Entry| is_unseen(entry) || is_seen && unseen.contains(&real(&entry.dir));
    let entries = || each().filter(|(_, entry)| is_administrators(entry) != is_seen);
    let mut found: Vec<(usize, &Entry)> = entries().filter(|(_, entry)| has_it(entry)).collect();
    if found.is_empty() {
        // Some agents do not tell the case.
        let is_alike = |entry: &Entry| {
            let dir = entry.dir.file_name().and_then(|dir| dir.to_str());
            let own = entry.disclosed().map(|skill| skill.name.as_str());
            let mut names = dir.into_iter().chain(own);
            names.any(|own| own.to_lowercase() == name.to_lowercase())
        };
        found = entries().filter(|(_, entry)| is_alike(entry)).collect();
    }
    found.sort_by_key(|(at, entry)| (rank(entry), *at));
    // Until the project is trusted, nothing of it was read: its copies are not known for copies.
    let is_untrusted =
        |(_, entry): &&(usize, &Entry)| entry.withheld() == Some(Withheld::Untrusted);
    let untrusted = found.iter().find(is_untrusted).copied();
    if let Some(untrusted) = untrusted.filter(|_| found.len() > 1 && are_alike(&found)) {
        found = vec![untrusted];
    }
    // Of a name that the administrator reserves, one that is refused decides, whichever the agent
    // would take.
    let is_reserved = ctx.policies().is_ok_and(|all| all.requires(name).is_some())
        || each().any(|(_, entry)| is_unseen(entry) && has_it(entry));
    let is_refused = |(_, entry): &&(usize, &Entry)| {
        let why = entry.withheld();
        why.is_some_and(|why| !matches!(why, Withheld::Shadowed | Withheld::ForPeople))
    };
    let refused = found.iter().find(is_refused).copied();
    if let Some(refused) = refused.filter(|_| is_reserved) {
        found = vec![refused];
    }
    if skills.first == First::Unknown
        && let [(_, first), (_, second), ..] = found[..]
    {
        let text = format!(
            "several skills have the name `{}`, and the agent may use any of them: {} and {}",
            quoted(name),
            first.dir.display(),
            second.dir.display()
        );
        return Err(Error::new(text).hint("the user can rename or remove all but one"));
    }
    let at = found.first().map(|(at, _)| *at);
    Ok(at.map(|at| Found {
        ctx,
        catalog,
        is_seen,
        at,
    }))
}

/// Whether these have the same text.
fn are_alike(found: &[(usize, &Entry)]) -> bool {
    let text = |(_, entry): &(usize, &Entry)| {
        files::read_capped(&entry.dir.join("SKILL.md"), limits::SKILL_FILE).ok()
    };
    let mut texts = found.iter().map(text);
    let first = texts.next().flatten();
    first.is_some() && texts.all(|text| text == first)
}

/// The directories, deeper in those of skills, that have one of this name.
fn groups_with(ctx: &RunContext, calling: &Calling, name: &str) -> Vec<PathBuf> {
    let config = ctx.config().unwrap_or_default();
    let mut all = Vec::new();
    for root in in_directory(ctx, calling, &ctx.env.cwd, Vec::new()).roots(&config) {
        let _ = walk::<()>(&root.dir, &[".git", "node_modules"], &mut |dir| {
            if dir != root.dir && dir.join(name).join("SKILL.md").exists() {
                all.push(dir.to_owned());
            }
            None
        });
    }
    all
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

/// The directories of skills of the plugins that have one of this name.
fn plugins_with(
    ctx: &RunContext,
    calling: &Calling,
    plugin: Option<&str>,
    name: &str,
) -> Vec<PathBuf> {
    let has_it = |dir: &PathBuf| dir.join(name).join("SKILL.md").exists();
    let usual = in_plugins(ctx, calling, plugin, &|dir| {
        Some(dir.join("skills")).filter(has_it)
    });
    if !usual.is_empty() {
        return usual;
    }
    // A plugin's manifest may name other directories.
    in_plugins(ctx, calling, plugin, &|dir| {
        Some(dir.to_owned()).filter(has_it)
    })
}

/// What `look` finds in the directories of the agent's plugins: in those of `plugin` if anything is
/// found in a directory called so, else in all.
pub fn in_plugins(
    ctx: &RunContext,
    calling: &Calling,
    plugin: Option<&str>,
    look: &dyn Fn(&Path) -> Option<PathBuf>,
) -> Vec<PathBuf> {
    let home = calling.agent.settings().home;
    let mut all: Vec<PathBuf> = Vec::new();
    for root in calling.agent.table().skills.plugins {
        let Some(root) = home.place(&ctx.env, root) else {
            continue;
        };
        let _ = walk::<()>(&root, &[".git", "node_modules"], &mut |dir| {
            all.extend(look(dir));
            None
        });
    }
    let named = |path: &PathBuf| {
        let mut parts = path.components();
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
