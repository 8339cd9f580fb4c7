//! The skill that an agent means by a name, as its row in the table says: among those in the places
//! where that agent looks, which bear the name there, and which of these wins.

use std::cell::OnceCell;
use std::path::{Component, Path, PathBuf};

use super::event::Caller;
use super::plugins::{each_below, in_plugins, of_user, plugin_dirs, unended};
use crate::catalog::{Catalog, Entry, Layer, Withheld, roots};
use crate::error::{Error, Result};
use crate::facts::{Facts, once};
use crate::host::agent::table::{First, Named};
use crate::run_context::real;
use crate::session::snapshot;
use crate::skill::Skill;
use crate::sys::text::quoted;
use crate::sys::{EntryKind, files, limits};

/// The context in which the skill was found, which may have more directories of skills, with its
/// catalog and its place in it.
pub struct Found {
    /// The context.
    pub facts: &'static Facts,
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

/// What is looked for, and where.
#[derive(Clone, Copy)]
struct Sought<'a> {
    name: &'a str,
    by: Named,
    folds_case: bool,
    first: First,
    /// Whether it is not known which of several in one directory of skills it uses.
    any_in: bool,
    /// Only skills directly in these directories.
    within: Option<&'a [PathBuf]>,
}

/// The skill that the agent means by `written`; `None` if it is none of those on disk, such as one
/// that the agent ships inside itself.
///
/// # Errors
/// If it is not known which of several the agent uses, or a place could not be searched to the end.
pub fn find(caller: Caller, written: &str) -> Result<Option<Found>> {
    let skills = &caller.table.skills;
    let look = Look {
        caller,
        deeper: OnceCell::new(),
        plugins: OnceCell::new(),
    };
    let (owner, name) = match written.rsplit_once(':') {
        Some((owner, name)) => (Some(owner), name),
        None => (None, written),
    };
    if written.is_empty() {
        return Ok(None);
    }
    let here = caller.with_skills_in(look.around()?);
    let is_by_directory = skills.named == Named::Directory;
    let sought = |by| Sought {
        name: written,
        by,
        folds_case: skills.folds_case,
        first: skills.first,
        any_in: skills.first == First::ProjectAnyIn || by != Named::Directory && is_by_directory,
        within: None,
    };
    let alias = is_by_directory.then_some(Named::Frontmatter);
    for by in [skills.named].into_iter().chain(alias) {
        let is_alias = is_by_directory && by == Named::Frontmatter;
        if is_alias && (skills.shipped.has(written) || of_user(caller, written).is_some()) {
            break;
        }
        let sought = sought(by);
        if let Some(found) = pick(here, sought, true)? {
            return Ok(Some(found));
        }
        look.unlisted(here, sought)?;
        let of_owner = Sought { name, ..sought };
        let below = match owner {
            Some(owner) if skills.below => look.nested_in(owner, of_owner)?,
            _ => None,
        };
        let found = match below {
            None => look.in_plugins(owner, of_owner)?,
            below => below,
        };
        if found.is_some() {
            return Ok(found);
        }
        if skills.below
            && !skills.shipped.has(written)
            && let Some(found) = look.nested(sought)?
        {
            return Ok(Some(found));
        }
    }
    let here = caller.with_skills_in(Vec::new());
    let unseen = Sought {
        name,
        ..sought(Named::Unknown)
    };
    pick(here, unseen, false)
}

/// The name without that of a plugin or directory before it.
pub fn plain_part(written: &str) -> &str {
    written.rsplit_once(':').map_or(written, |(_, name)| name)
}

/// The skill in a directory, as the agent finds it there.
pub fn find_in(caller: Caller, dir: &Path) -> Option<Found> {
    let around = dir.parent().map(Path::to_owned).into_iter().collect();
    let facts = caller.with_skills_in(around);
    let catalog = Catalog::of(facts);
    let real = real(dir);
    let is_it = |entry: &Entry| entry.dir == dir || self::real(&entry.dir) == real;
    let at = catalog.entries().iter().position(is_it)?;
    Some(Found {
        facts,
        catalog,
        is_seen: true,
        at,
    })
}

impl Sought<'_> {
    /// Whether a skill has the name.
    fn is(&self, dir: &Path, skill: Option<&Skill>) -> bool {
        let directory = || dir.file_name().and_then(|name| name.to_str());
        let is_directory = || directory().is_some_and(|name| self.is_name(name));
        let own = || own_names(dir, skill);
        match self.by {
            Named::Directory => is_directory(),
            Named::Frontmatter => own().iter().any(|own| self.is_own(own)),
            Named::Unknown => is_directory() || own().iter().any(|own| self.is_own(own)),
            Named::FrontmatterOrDirectory => {
                let own = own();
                own.iter().any(|own| self.is_own(own)) || own.is_empty() && is_directory()
            }
        }
    }

    fn is_name(&self, name: &str) -> bool {
        name == self.name || self.folds_case && name.to_lowercase() == self.name.to_lowercase()
    }

    /// Some agents put hyphens for what cannot be in a file's name.
    fn is_own(&self, own: &str) -> bool {
        let hyphens = || own.replace([':', '\\', '/', '<', '>', '*', '?', '"', '|'], "-");
        self.is_name(own) || self.is_name(&hyphens())
    }
}

/// What a skill's frontmatter calls it. Where that cannot be read here, the agent may read it: then
/// each line that could be the name.
fn own_names(dir: &Path, skill: Option<&Skill>) -> Vec<String> {
    let of = |skill: &Skill| skill.fields.text("name").map(|name| name.trim().to_owned());
    if let Some(skill) = skill {
        return of(skill).into_iter().collect();
    }
    if let Ok(skill) = Skill::load(dir) {
        return of(&skill).into_iter().collect();
    }
    let text = files::read_capped(&dir.join("SKILL.md"), limits::SKILL_FILE).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let value = |line: &str| {
        let (key, value) = line.split_once(':')?;
        let plain = |c: char| c.is_whitespace() || c == '"' || c == '\'';
        let value = value.split(" #").next().unwrap_or_default();
        (key.trim_matches(plain) == "name").then(|| value.trim_matches(plain).to_owned())
    };
    text.lines().filter_map(value).collect()
}

/// The skill that the agent uses of those of this name which it sees, or else of the administrator's
/// that it does not see. A link to one of these from where it looks is the administrator's, too.
fn pick(facts: &'static Facts, sought: Sought, is_seen: bool) -> Result<Option<Found>> {
    let catalog = Catalog::of(facts);
    let enterprise = facts.enterprise();
    let dirs = enterprise.dirs();
    let is_unseen = |entry: &Entry| {
        let mut dirs = dirs.iter();
        entry.layer == Layer::Enterprise && dirs.any(|dir| entry.dir.starts_with(dir))
    };
    let each = || catalog.entries().iter().enumerate();
    let unseen = each().filter(|(_, entry)| is_unseen(entry));
    let unseen: Vec<PathBuf> = unseen.map(|(_, entry)| real(&entry.dir)).collect();
    let is_administrators =
        |entry: &Entry| is_unseen(entry) || is_seen && unseen.contains(&real(&entry.dir));
    let is_within = |entry: &Entry| {
        let parent = entry.dir.parent();
        let mut within = sought.within.iter().copied().flatten();
        sought.within.is_none() || within.any(|dir| Some(dir.as_path()) == parent)
    };
    let has_it = |entry: &Entry| sought.is(&entry.dir, entry.disclosed());
    let is_sought =
        |entry: &Entry| is_administrators(entry) != is_seen && is_within(entry) && has_it(entry);
    let mut found: Vec<(usize, &Entry)> = each().filter(|(_, entry)| is_sought(entry)).collect();
    let roots = roots(facts);
    let place = |entry: &Entry| {
        let mut roots = roots.iter();
        let place = roots.position(|root| entry.dir.starts_with(&root.dir));
        let rank = match entry.layer {
            Layer::Enterprise => 0,
            Layer::Project if matches!(sought.first, First::Project | First::ProjectAnyIn) => 1,
            Layer::Personal => 2,
            Layer::Project => 3,
            Layer::Plugin => 4,
        };
        (rank, place)
    };
    found.sort_by_key(|(_, entry)| (place(entry), &entry.dir));
    // The same directory by another path is no other skill.
    let mut once: Vec<PathBuf> = Vec::new();
    found.retain(|(_, entry)| {
        let dir = real(&entry.dir);
        let is_new = !once.contains(&dir);
        once.push(dir);
        is_new
    });
    // Until the project is trusted, nothing of it was read: its copies are not known for copies.
    let is_untrusted =
        |(_, entry): &&(usize, &Entry)| entry.withheld() == Some(Withheld::Untrusted);
    let untrusted = found.iter().find(is_untrusted).copied();
    if let Some(untrusted) = untrusted.filter(|_| found.len() > 1 && are_alike(&found)) {
        found = vec![untrusted];
    }
    // Of a name that the administrator reserves, one that is refused decides, whichever the agent
    // would take.
    let reserved = Sought {
        by: Named::Unknown,
        ..sought
    };
    let policies = facts.policies();
    let is_reserved = policies.is_ok_and(|all| all.requires(sought.name).is_some())
        || each().any(|(_, entry)| is_unseen(entry) && reserved.is(&entry.dir, entry.disclosed()));
    let is_refused = |(_, entry): &&(usize, &Entry)| {
        let why = entry.withheld();
        why.is_some_and(|why| !matches!(why, Withheld::Shadowed | Withheld::ForPeople))
    };
    let refused = found.iter().find(is_refused).copied();
    if let Some(refused) = refused.filter(|_| is_reserved) {
        found = vec![refused];
    }
    if let [(_, first), rest @ ..] = &found[..] {
        let is_rival = |other: &Entry| match sought.first {
            First::Unknown | First::None => true,
            _ => sought.any_in && place(other) == place(first),
        };
        let rival = rest.iter().find(|(_, other)| is_rival(other));
        if rival.is_some() && sought.first == First::None {
            return Ok(None);
        }
        if let Some((_, second)) = rival
            && !restrict_alike(first, rest)
        {
            let text = format!(
                "several skills have the name `{}`, and the agent may use any of them: {} and {}",
                quoted(sought.name),
                first.dir.display(),
                second.dir.display()
            );
            return Err(Error::new(text).hint("the user can rename or remove all but one"));
        }
    }
    let at = found.first().map(|(at, _)| *at);
    Ok(at.map(|at| Found {
        facts,
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

/// Whether it does not matter which of these is used: each may be, and has the same list.
fn restrict_alike(first: &Entry, rest: &[(usize, &Entry)]) -> bool {
    let lists = |entry: &Entry| {
        let taken = snapshot(entry.usable()?, "");
        Some((taken.allowed, taken.denied))
    };
    let own = lists(first);
    own.is_some() && rest.iter().all(|(_, entry)| lists(entry) == own)
}

/// Where an agent looks for skills.
struct Look<'a> {
    caller: Caller<'a>,
    /// The directories of skills deeper in the project.
    deeper: OnceCell<Vec<PathBuf>>,
    /// The directories of the agent's plugins.
    plugins: OnceCell<Vec<PathBuf>>,
}

impl Look<'_> {
    /// What the agent finds deeper in its directories of skills, and above the project.
    fn around(&self) -> Result<Vec<PathBuf>> {
        let skills = &self.caller.table.skills;
        let mut all = Vec::new();
        let project = self.caller.facts.run.real_project_dir();
        if skills.above {
            let above = above(self.caller.facts, &project);
            all.extend(above.iter().flat_map(|dir| self.places_in(dir)));
        }
        if skills.below && self.places_in(&project).is_empty() {
            let main = main_checkout(&project);
            all.extend(main.iter().flat_map(|dir| self.places_in(dir)));
        }
        if skills.levels == 1 {
            return Ok(all);
        }
        for root in roots(self.caller.with_skills_in(all.clone())) {
            each_below(&root.dir, &mut |dir, depth| {
                let is_hidden = hides(dir) && depth > 0;
                if depth > skills.levels || is_hidden && !skills.hidden {
                    return false;
                }
                let is_skill = depth > 0 && dir.join("SKILL.md").exists();
                let parent = dir.parent().filter(|_| is_skill && depth > 1);
                if let Some(parent) = parent.filter(|parent| !all.iter().any(|one| one == parent)) {
                    all.push(parent.to_owned());
                }
                skills.in_skills || !is_skill
            })?;
        }
        Ok(all)
    }

    /// The directories of skills in one of a project.
    fn places_in(&self, dir: &Path) -> Vec<PathBuf> {
        let places = self.caller.table.skills.project.iter();
        let places = places.map(|place| dir.join(place));
        places.filter(|place| place.is_dir()).collect()
    }

    /// Looks for the name among what is a skill for the agent and none here.
    fn unlisted(&self, here: &Facts, sought: Sought) -> Result<()> {
        let skills = &self.caller.table.skills;
        for root in roots(here) {
            let entries = files::entries(&root.dir).unwrap_or_default();
            if entries.len() > limits::CATALOG_ENTRIES {
                return Err(unended(&root.dir));
            }
            let inside = entries.into_iter();
            let inside = inside.filter(|(_, kind)| *kind != EntryKind::File);
            let inside = inside.map(|(name, _)| root.dir.join(name.as_os_str()));
            let hidden = inside.filter(|dir| skills.hidden && hides(dir));
            let itself = skills.itself.then(|| root.dir.clone());
            let mut all = hidden.chain(itself);
            let is_it = |dir: &PathBuf| dir.join("SKILL.md").exists() && sought.is(dir, None);
            if let Some(dir) = all.find(is_it) {
                let text = format!(
                    "{} is not in a directory of its own whose name begins with no dot",
                    dir.join("SKILL.md").display()
                );
                return Err(Error::new(text).hint("the user can move it to one"));
            }
        }
        Ok(())
    }

    /// The skill of a directory deeper in the project that `owner` names.
    fn nested_in(&self, owner: &str, sought: Sought) -> Result<Option<Found>> {
        let mut parts = Path::new(owner).components();
        if !parts.all(|part| matches!(part, Component::Normal(_))) {
            return Ok(None);
        }
        let holders = self.caller.facts.run.holders().into_iter();
        let mut all = holders.map(|holder| self.places_in(&holder.join(owner)));
        let within = all.find(|places| !places.is_empty()).unwrap_or_default();
        self.pick_in(&within, sought)
    }

    /// The skill of any directory deeper in the project.
    fn nested(&self, sought: Sought) -> Result<Option<Found>> {
        let deeper = once(&self.deeper, || {
            let mut deeper = Vec::new();
            let is_holder = |dir: &Path| {
                let mut places = self.caller.table.skills.project.iter();
                places.any(|place| Path::new(place).parent() == dir.file_name().map(Path::new))
            };
            each_below(&self.caller.facts.run.project_dir(), &mut |dir, _| {
                if let Some(holder) = dir.parent().filter(|_| is_holder(dir)) {
                    deeper.extend(self.places_in(holder));
                }
                true
            })?;
            Ok(deeper)
        })?;
        self.pick_in(deeper, sought)
    }

    /// The skill of a plugin.
    fn in_plugins(&self, owner: Option<&str>, sought: Sought) -> Result<Option<Found>> {
        // By its directory, one is known with its plugin's name alone.
        if sought.by == Named::Directory && owner.is_none() {
            return Ok(None);
        }
        let is_skill = |dir: &Path| dir.join("SKILL.md").exists() && sought.is(dir, None);
        let dirs = once(&self.plugins, || plugin_dirs(self.caller))?;
        let found = in_plugins(self.caller, dirs, owner, &|dir| {
            dir.parent().filter(|_| is_skill(dir)).map(Path::to_owned)
        });
        self.pick_in(&found, sought)
    }

    fn pick_in(&self, within: &[PathBuf], sought: Sought) -> Result<Option<Found>> {
        if within.is_empty() {
            return Ok(None);
        }
        let sought = Sought {
            within: Some(within),
            first: match sought.first {
                First::None => First::None,
                _ => First::Unknown,
            },
            ..sought
        };
        pick(self.caller.with_skills_in(within.to_vec()), sought, true)
    }
}

fn hides(dir: &Path) -> bool {
    let name = dir.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b".")
}

/// The directories above a project that is in no repository, below the home.
fn above(facts: &Facts, project: &Path) -> Vec<PathBuf> {
    let marks = [".git", ".hg", ".jj"];
    let is_repository = marks.iter().any(|mark| project.join(mark).exists());
    let home = facts.run.env.home().map(|home| real(&home));
    let dirs = project.ancestors().skip(1);
    let dirs = dirs.take_while(|dir| !is_repository && home.as_deref() != Some(*dir));
    dirs.map(Path::to_owned).collect()
}

/// The checkout that a linked one belongs to.
fn main_checkout(project: &Path) -> Option<PathBuf> {
    let text = files::read_capped(&project.join(".git"), limits::SKILL_FILE).ok()?;
    let text = String::from_utf8_lossy(&text);
    let dir = Path::new(text.strip_prefix("gitdir:")?.trim());
    let git = dir.ancestors().find(|dir| dir.ends_with(".git"))?;
    Some(project.join(git.parent()?))
}
