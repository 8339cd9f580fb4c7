//! The skill that an agent means by a name, as its row in the table says: among those in the places
//! where that agent looks, which bear the name there, and which of these wins. Its plugins are searched
//! to the end, since what was not seen is not known to be absent. Commands, texts that its tool for
//! skills, or typing, runs as well, are no skills, so nothing can hold them to a list.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::rc::Rc;

use super::event::AgentContext;
use crate::catalog;
use crate::catalog::roots;
use crate::facts::once;
use crate::host::agent::table::{NameSource, PrecedenceOfDuplicates, SkillLocations};
use crate::protocol::prelude::*;

/// The context in which the skill was found, which may have more directories of skills, with its
/// catalog and its place in it.
pub struct FoundSkill {
    /// The context.
    pub facts: &'static Facts,
    /// Its skills.
    pub catalog: Catalog,
    /// Whether it is where the agent looks. One of the administrator's that it does not see counts
    /// only if it sees no other of the name.
    pub is_seen: bool,
    at: usize,
}

impl FoundSkill {
    /// The skill for which this holds.
    fn of(
        facts: &'static Facts,
        catalog: Catalog,
        is_seen: bool,
        is_meant: impl Fn(&Entry) -> bool,
    ) -> Option<Self> {
        let at = catalog.entries().iter().position(is_meant)?;
        Some(Self {
            facts,
            catalog,
            is_seen,
            at,
        })
    }

    /// The skill's entry.
    pub fn entry(&self) -> &Entry {
        &self.catalog.entries()[self.at]
    }
}

/// What is looked for, and where.
#[derive(Clone, Copy)]
struct SkillQuery<'a> {
    skills: &'static SkillLocations,
    name: &'a str,
    by: NameSource,
    /// Only skills directly in these directories.
    within: Option<&'a [PathBuf]>,
}

/// The skill that the agent means by `written`; `None` if it is none of those on disk, such as one
/// that the agent ships inside itself.
///
/// # Errors
/// If it is not known which of several the agent uses, or a place could not be searched to the end.
pub fn find(caller: AgentContext, written: &str) -> Result<Option<FoundSkill>> {
    if written.is_empty() {
        return Ok(None);
    }
    let skills = &caller.table.skills;
    let search = SkillSearch {
        caller,
        deeper: OnceCell::new(),
        plugins: OnceCell::new(),
    };
    let (owner, name) = match written.rsplit_once(':') {
        Some((owner, name)) => (Some(owner), name),
        None => (None, written),
    };
    let query = |name, by| SkillQuery {
        skills,
        name,
        by,
        within: None,
    };
    let here = caller.with_skills_in(search.around()?);
    let alias = (skills.name_source == NameSource::Directory).then_some(NameSource::Frontmatter);
    for by in [skills.name_source].into_iter().chain(alias) {
        let (sought, of_owner) = (query(written, by), query(name, by));
        let is_shipped = skills.shipped.has(written);
        if sought.is_alias() && (is_shipped || users_command(caller, written).is_some()) {
            break;
        }
        if let Some(found) = pick(here, sought, true)? {
            return Ok(Some(found));
        }
        search.unlisted(here, sought)?;
        if let Some(owner) = owner.filter(|_| skills.below)
            && let Some(found) = search.nested_in(owner, of_owner)?
        {
            return Ok(Some(found));
        }
        if let Some(found) = search.in_plugins(owner, of_owner)? {
            return Ok(Some(found));
        }
        if skills.below
            && !is_shipped
            && let Some(found) = search.nested(sought)?
        {
            return Ok(Some(found));
        }
    }
    let here = caller.with_skills_in(Vec::new());
    pick(here, query(name, NameSource::Unknown), false)
}

/// The name without that of a plugin or directory before it.
pub fn without_owner(written: &str) -> &str {
    written.rsplit_once(':').map_or(written, |(_, name)| name)
}

/// The skill in a directory, as the agent finds it there.
pub fn find_in(caller: AgentContext, dir: &Path) -> Option<FoundSkill> {
    let facts = caller.with_skills_in(dir.parent().map(Path::to_owned).into_iter().collect());
    let real = real(dir);
    FoundSkill::of(facts, Catalog::of(facts), true, |entry| {
        entry.dir == dir || self::real(&entry.dir) == real
    })
}

impl SkillQuery<'_> {
    /// Whether skills that are named by their directories are looked for by another name.
    fn is_alias(&self) -> bool {
        self.by != NameSource::Directory && self.skills.name_source == NameSource::Directory
    }

    /// Which of several counts.
    fn first(&self) -> PrecedenceOfDuplicates {
        match self.skills.precedence {
            PrecedenceOfDuplicates::None => PrecedenceOfDuplicates::None,
            _ if self.within.is_some() => PrecedenceOfDuplicates::Unknown,
            first => first,
        }
    }

    /// Whether a skill has the name.
    fn is(&self, dir: &Path, skill: Option<&Skill>) -> bool {
        let directory = || dir.file_name().and_then(|name| name.to_str());
        let is_directory = || directory().is_some_and(|name| self.is_name(name));
        if self.by == NameSource::Directory || self.by == NameSource::Unknown && is_directory() {
            return is_directory();
        }
        let own = own_names(dir, skill);
        let counts_directory = self.by == NameSource::FrontmatterOrDirectory && own.is_empty();
        own.iter().any(|own| self.is_own(own)) || counts_directory && is_directory()
    }

    fn is_name(&self, name: &str) -> bool {
        let folds_case = self.skills.folds_case;
        name == self.name || folds_case && name.to_lowercase() == self.name.to_lowercase()
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
    let loaded = skill.is_none().then(|| Skill::load(dir).ok()).flatten();
    if let Some(skill) = skill.or(loaded.as_ref()) {
        let name = skill.fields.text("name");
        return name.iter().map(|name| name.trim().to_owned()).collect();
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
fn pick(facts: &'static Facts, sought: SkillQuery, is_seen: bool) -> Result<Option<FoundSkill>> {
    let catalog = Catalog::of(facts);
    let entries = catalog.entries();
    let dirs = facts.enterprise().dirs();
    let is_unseen = |entry: &&Entry| {
        let mut dirs = dirs.iter();
        entry.layer == Layer::Enterprise && dirs.any(|dir| entry.dir.starts_with(dir))
    };
    let unseen = entries.iter().filter(is_unseen);
    let unseen: Vec<PathBuf> = unseen.map(|entry| real(&entry.dir)).collect();
    let is_administrators =
        |entry: &&Entry| is_unseen(entry) || is_seen && unseen.contains(&real(&entry.dir));
    let is_within = |entry: &Entry| {
        let parent = entry.dir.parent();
        let mut within = sought.within.iter().copied().flatten();
        sought.within.is_none() || within.any(|dir| Some(dir.as_path()) == parent)
    };
    let is_sought = |entry: &&Entry| {
        is_within(entry)
            && sought.is(&entry.dir, entry.disclosed())
            && is_administrators(entry) != is_seen
    };
    let mut found: Vec<&Entry> = entries.iter().filter(is_sought).collect();
    let roots = roots(facts);
    let place = |entry: &Entry| {
        let mut roots = roots.iter();
        let place = roots.position(|root| entry.dir.starts_with(&root.dir));
        let rank = match entry.layer {
            Layer::Enterprise => 0,
            Layer::Project
                if matches!(
                    sought.first(),
                    PrecedenceOfDuplicates::Project | PrecedenceOfDuplicates::ProjectAnyIn
                ) =>
            {
                1
            }
            Layer::Personal => 2,
            Layer::Project => 3,
            Layer::Plugin => 4,
        };
        (rank, place)
    };
    found.sort_by_key(|entry| (place(entry), &entry.dir));
    // The same directory by another path is no other skill.
    let mut known = HashSet::new();
    found.retain(|entry| known.insert(real(&entry.dir)));
    // Until the project is trusted, nothing of it was read: its copies are not known for copies.
    let mut untrusted = found
        .iter()
        .filter(|it| it.withheld() == Some(WithheldReason::Untrusted));
    if let Some(untrusted) = untrusted.next().copied()
        && found.len() > 1
        && are_alike(&found)
    {
        found = vec![untrusted];
    }
    // Of a name that the administrator reserves, one that is refused decides, whichever the agent
    // would take.
    let reserved = SkillQuery {
        by: NameSource::Unknown,
        ..sought
    };
    let policies = facts.policies();
    let is_reserved = policies.is_ok_and(|all| all.requires(sought.name).is_some())
        || (entries.iter().filter(is_unseen)).any(|it| reserved.is(&it.dir, it.disclosed()));
    let is_refused = |entry: &&&Entry| {
        let why = entry.withheld();
        why.is_some_and(|why| !matches!(why, WithheldReason::Shadowed | WithheldReason::ForPeople))
    };
    if let Some(refused) = found
        .iter()
        .find(is_refused)
        .copied()
        .filter(|_| is_reserved)
    {
        found = vec![refused];
    }
    let Some((first, rest)) = found.split_first() else {
        return Ok(None);
    };
    let is_any = |first: PrecedenceOfDuplicates| {
        first == PrecedenceOfDuplicates::ProjectAnyIn || sought.is_alias()
    };
    let is_rival = |other: &&&Entry| match sought.first() {
        PrecedenceOfDuplicates::Unknown | PrecedenceOfDuplicates::None => true,
        which => is_any(which) && place(other) == place(first),
    };
    if let Some(rival) = rest.iter().find(is_rival) {
        if sought.first() == PrecedenceOfDuplicates::None {
            return Ok(None);
        }
        if !restrict_alike(first, rest) {
            let text = format!(
                "several skills have the name `{}`, and the agent may use any of them: {} and {}",
                quoted(sought.name),
                first.dir.display(),
                rival.dir.display()
            );
            return Err(Error::new(text).hint("the user can rename or remove all but one"));
        }
    }
    let dir = first.dir.clone();
    Ok(FoundSkill::of(facts, catalog, is_seen, |it| it.dir == dir))
}

/// Whether these have the same text.
fn are_alike(found: &[&Entry]) -> bool {
    let text =
        |entry: &&Entry| files::read_capped(&entry.dir.join("SKILL.md"), limits::SKILL_FILE).ok();
    let mut texts = found.iter().map(text);
    let first = texts.next().flatten();
    first.is_some() && texts.all(|text| text == first)
}

/// Whether it does not matter which of these is used: each may be, and has the same list.
fn restrict_alike(first: &Entry, rest: &[&Entry]) -> bool {
    let lists = |entry: &Entry| {
        let taken = snapshot(entry.usable()?, "");
        Some((taken.allowed, taken.denied))
    };
    let own = lists(first);
    own.is_some() && rest.iter().all(|entry| lists(entry) == own)
}

/// Where an agent looks for skills.
struct SkillSearch<'a> {
    caller: AgentContext<'a>,
    /// The directories of skills deeper in the project.
    deeper: OnceCell<Rc<Vec<PathBuf>>>,
    /// The directories of the agent's plugins.
    plugins: OnceCell<Rc<Vec<PathBuf>>>,
}

impl SkillSearch<'_> {
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
    fn unlisted(&self, here: &Facts, sought: SkillQuery) -> Result<()> {
        let skills = &self.caller.table.skills;
        for root in roots(here) {
            let entries = files::entries(&root.dir).unwrap_or_default();
            if entries.len() > limits::CATALOG_ENTRIES {
                return Err(search_cut_short(&root.dir));
            }
            let inside = entries.into_iter();
            let inside = inside.filter(|(_, kind)| *kind != EntryKind::File);
            let inside = inside.map(|(name, _)| root.dir.join(name.as_os_str()));
            let hidden = inside.filter(|dir| skills.hidden && hides(dir));
            let mut all = hidden.chain(skills.itself.then(|| root.dir.clone()));
            let bears_name = |dir: &PathBuf| dir.join("SKILL.md").exists() && sought.is(dir, None);
            if let Some(dir) = all.find(bears_name) {
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
    fn nested_in(&self, owner: &str, sought: SkillQuery) -> Result<Option<FoundSkill>> {
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
    fn nested(&self, sought: SkillQuery) -> Result<Option<FoundSkill>> {
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
        self.pick_in(&deeper, sought)
    }

    /// The skill of a plugin.
    fn in_plugins(&self, owner: Option<&str>, sought: SkillQuery) -> Result<Option<FoundSkill>> {
        // By its directory, one is known with its plugin's name alone.
        if sought.by == NameSource::Directory && owner.is_none() {
            return Ok(None);
        }
        let is_skill = |dir: &Path| dir.join("SKILL.md").exists() && sought.is(dir, None);
        let dirs = once(&self.plugins, || plugin_dirs(self.caller))?;
        let found = in_plugins(self.caller, &dirs, owner, &|dir| {
            dir.parent().filter(|_| is_skill(dir)).map(Path::to_owned)
        });
        self.pick_in(&found, sought)
    }

    fn pick_in(&self, within: &[PathBuf], sought: SkillQuery) -> Result<Option<FoundSkill>> {
        if within.is_empty() {
            return Ok(None);
        }
        let sought = SkillQuery {
            within: Some(within),
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

/// What `look` finds in `dirs`, those of the agent's plugins: in those of `plugin` if anything is
/// found in a directory called so, else in all; of several releases, in the one that is installed.
pub fn in_plugins(
    caller: AgentContext,
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
pub fn plugin_dirs(caller: AgentContext) -> Result<Vec<PathBuf>> {
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
fn installed(caller: AgentContext) -> Vec<PathBuf> {
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
            left = left.checked_sub(1).ok_or_else(|| search_cut_short(root))?;
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
pub fn search_cut_short(root: &Path) -> Error {
    let text = format!(
        "{} has too many directories to search for it, so it is not known which skill this is",
        root.display()
    );
    Error::new(text).hint("start the agent in the directory that has the skill")
}

/// Why the command of this name may not run: it has a list of tools, hooks, or commands that run as it
/// is loaded, or it is somewhere in a plugin that is here. `None` if it has neither, or is none. Where it
/// `stands_in` for a skill of the administrator, it may not run in any case.
pub fn refuse_slash_command(
    caller: AgentContext,
    written: &str,
    stands_in: bool,
) -> Option<String> {
    if caller.table.skills.commands.0.is_empty() || !is_below(written) {
        return None;
    }
    let asking = |file: &PathBuf| stands_in || asks_for_something(file);
    let why = |file: &Path| {
        let (name, file) = (quoted(without_owner(written)), file.display());
        if stands_in {
            return format!(
                "{file} is a command with the same name as a skill of the administrator"
            );
        }
        format!(
            "it is a command, not a skill, so its list and its own commands cannot be checked here: \
             make it a skill, `skills/{name}/SKILL.md`, instead of {file}"
        )
    };
    if let Some(file) = users_command(caller, written) {
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
    let is_plugins = |dir: &&Path| plugin.is_some_and(|plugin| dir.ends_with(plugin));
    let is_there = |dir: &Path| Some(dir).filter(is_plugins).map(Path::to_owned);
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
pub fn users_command(caller: AgentContext, written: &str) -> Option<PathBuf> {
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
