//! Where agents other than chibi find installed skills: by links from the directories in which they
//! look, of one user or of one project, to the one directory where each skill is installed. It knows no
//! marketplace and installs nothing; it neither follows nor replaces what it did not make.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::catalog::{Layer, base_at};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::host::agent::Agent;
use crate::run_context::{RunContext, real};
use crate::sys::{Base, Dir, EntryKind, EntryName, files};

/// The skills of one layer, and the directories in which agents look.
#[derive(Debug)]
pub struct SharedSkills<'a> {
    facts: &'a Facts,
    /// Where they are installed.
    skills: PathBuf,
    in_project: bool,
    places: Vec<SkillsDirectory>,
}

/// What became of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkOutcome {
    /// It was made, or would be.
    Made,
    /// It was there.
    There,
    /// Something else is there, and stays.
    Foreign,
}

impl<'a> SharedSkills<'a> {
    /// The skills of this layer; `None` for those of an administrator, which no user links.
    pub fn of(facts: &'a Facts, layer: Layer) -> Option<Self> {
        let in_project = layer == Layer::Project;
        (layer != Layer::Enterprise).then(|| Self {
            facts,
            skills: layer.dir(facts).join("skills"),
            in_project,
            places: places(facts, in_project),
        })
    }

    /// Has `agents` find the skill in the directory `skill`, as `name`: a link in each directory that
    /// they need. A dry run makes none.
    ///
    /// # Errors
    /// When a link cannot be made.
    pub fn share(
        &self,
        skill: &EntryName,
        name: &EntryName,
        agents: &[Agent],
        dry_run: bool,
    ) -> Result<Vec<(Link, LinkOutcome)>> {
        let mut done = Vec::new();
        for place in needed(&self.places, agents) {
            let mut link = place.link(name);
            link.agents.retain(|its| agents.contains(its));
            let outcome = self.link(place, skill, name, dry_run);
            let outcome = outcome.map_err(|error| Error::io("link", &link.path, &error))?;
            done.push((link, outcome));
        }
        Ok(done)
    }

    fn link(
        &self,
        place: &SkillsDirectory,
        skill: &EntryName,
        name: &EntryName,
        dry_run: bool,
    ) -> io::Result<LinkOutcome> {
        if let Some(dir) = place.open()?
            && let Some(kind) = dir.kind(name)?
        {
            let led_to = match kind {
                EntryKind::Link => place.leads_into(&dir.read_link(name)?, &self.skills),
                _ => None,
            };
            match led_to {
                Some(to) if to == *skill => return Ok(LinkOutcome::There),
                // The skill it led to is gone.
                Some(_) if !dir.path_of(name).exists() => {
                    if !dry_run {
                        dir.remove_file(name)?;
                    }
                }
                _ => return Ok(LinkOutcome::Foreign),
            }
        }
        if dry_run {
            return Ok(LinkOutcome::Made);
        }
        match place.make()?.link_to(&self.target(place, skill), name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(LinkOutcome::Foreign),
            made => made.map(|()| LinkOutcome::Made),
        }
    }

    /// What a link in `place` says: in a project relative, so that it holds in every copy of it.
    fn target(&self, place: &SkillsDirectory, skill: &EntryName) -> PathBuf {
        let target = self.skills.join(skill.as_os_str());
        let root = self.facts.run.project_dir();
        let below = |path: &Path| path.strip_prefix(&root).map(Path::to_owned).ok();
        match (self.in_project, below(&target), below(&place.path)) {
            (true, Some(target), Some(place)) => {
                let up: PathBuf = place.components().map(|_| "..").collect();
                up.join(target)
            }
            _ => target,
        }
    }

    /// Every link, with the directory of its skill.
    pub fn all(&self) -> impl Iterator<Item = (PathBuf, Link)> {
        let links = self.places.iter().flat_map(|place| self.links_in(place));
        links.map(|(place, name, skill)| (skill, place.link(&name)))
    }

    /// Our links in a directory, each with the directory of its skill; none in an unreadable one.
    fn links_in<'p>(
        &self,
        place: &'p SkillsDirectory,
    ) -> Vec<(&'p SkillsDirectory, EntryName, PathBuf)> {
        let Ok(Some(dir)) = place.open() else {
            return Vec::new();
        };
        let entries = dir.entries().unwrap_or_default().into_iter();
        let links = entries.filter(|(_, kind)| *kind == EntryKind::Link);
        let ours = links.filter_map(|(name, _)| {
            let skill = place.leads_into(&dir.read_link(&name).ok()?, &self.skills)?;
            Some((place, name, self.skills.join(skill.as_os_str())))
        });
        ours.collect()
    }

    /// Removes the links to the skill in the directory `skill`; returns which.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn withdraw(&self, skill: &EntryName, dry_run: bool) -> Result<Vec<Link>> {
        let dir = self.skills.join(skill.as_os_str());
        self.remove_those(|to, _| to == dir, dry_run)
    }

    /// Removes the links by which `agent` finds skills, but for those that one of the connected `others`
    /// needs, and those not `named` after their skill's directory, which are somebody's own; returns
    /// which.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn disconnect(
        &self,
        agent: Agent,
        others: &[Agent],
        named: fn(&str) -> String,
        dry_run: bool,
    ) -> Result<Vec<Link>> {
        let is_last = |link: &Link| {
            link.agents.contains(&agent) && !others.iter().any(|other| link.agents.contains(other))
        };
        let is_ours = |skill: &Path, link: &Link| {
            let directory = skill.file_name().unwrap_or_default().to_string_lossy();
            link.path.file_name() == Some(named(&directory).as_ref())
        };
        self.remove_those(|skill, link| is_last(link) && is_ours(skill, link), dry_run)
    }

    /// Removes the links to skills that are not there; returns which.
    ///
    /// # Errors
    /// When one cannot be removed.
    pub fn remove_dangling(&self, dry_run: bool) -> Result<Vec<Link>> {
        self.remove_those(|skill, _| !skill.exists(), dry_run)
    }

    /// Whether this skill is there.
    pub fn has(&self, skill: &EntryName) -> bool {
        self.skills.join(skill.as_os_str()).is_dir()
    }

    fn remove_those(
        &self,
        goes: impl Fn(&Path, &Link) -> bool,
        dry_run: bool,
    ) -> Result<Vec<Link>> {
        let mut removed = Vec::new();
        for (place, name, skill) in self.places.iter().flat_map(|place| self.links_in(place)) {
            let link = place.link(&name);
            if !goes(&skill, &link) {
                continue;
            }
            if !dry_run {
                let gone = place.open().and_then(|dir| match dir {
                    Some(dir) if dir.kind(&name)? == Some(EntryKind::Link) => {
                        dir.remove_file(&name)
                    }
                    _ => Ok(()),
                });
                gone.map_err(|error| Error::io("remove", &link.path, &error))?;
            }
            removed.push(link);
        }
        Ok(removed)
    }
}

/// The links to every installed skill of all layers, by its directory.
pub fn links(facts: &Facts) -> BTreeMap<PathBuf, Vec<Link>> {
    let mut all: BTreeMap<PathBuf, Vec<Link>> = BTreeMap::new();
    let layers = Layer::ALL.into_iter();
    for shared in layers.filter_map(|layer| SharedSkills::of(facts, layer)) {
        for (skill, link) in shared.all() {
            all.entry(skill).or_default().push(link);
        }
    }
    all
}

/// The directory that agents have in common.
const COMMON: &str = ".agents/skills";

/// A link to an installed skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its path.
    pub path: PathBuf,
    /// The agents that look there.
    pub agents: Vec<Agent>,
}

/// A directory of skills.
#[derive(Debug)]
struct SkillsDirectory {
    /// The directory above it.
    base: Base,
    name: EntryName,
    path: PathBuf,
    /// The agents that look there.
    agents: Vec<Agent>,
}

impl SkillsDirectory {
    /// The link of this name in it.
    fn link(&self, name: &EntryName) -> Link {
        Link {
            path: self.path.join(name.as_os_str()),
            agents: self.agents.clone(),
        }
    }

    /// Opens it; `None` if it does not exist.
    ///
    /// # Errors
    /// When it cannot be opened, or is a link in a project.
    fn open(&self) -> io::Result<Option<Dir>> {
        if !self.base.is_shared() {
            return files::if_there(Dir::anchor(&self.path));
        }
        let base = self.base.open().map_err(io::Error::other)?;
        match base {
            Some(base) => base.find_dir(&self.name),
            None => Ok(None),
        }
    }

    /// Opens it, creating it if it is missing.
    ///
    /// # Errors
    /// As [`SkillsDirectory::open`], and when it cannot be created.
    fn make(&self) -> io::Result<Dir> {
        if !self.base.is_shared() {
            return Dir::make_anchor(&self.path);
        }
        let base = self.base.make().map_err(io::Error::other)?;
        base.make_dir(&self.name)
    }

    /// Whether a link's target, as written in this directory, is an entry of `skills`; then its name.
    fn leads_into(&self, target: &Path, skills: &Path) -> Option<EntryName> {
        let name = EntryName::parse(target.file_name()?)?;
        let above = self.path.join(target.parent()?);
        (above == skills || real(&above) == real(skills)).then_some(name)
    }
}

/// Every directory in which an agent looks, for this user or in this project.
fn places(facts: &Facts, in_project: bool) -> Vec<SkillsDirectory> {
    let mut places: Vec<SkillsDirectory> = Vec::new();
    for agent in Agent::ALL {
        for path in paths(&facts.run, agent, in_project) {
            if let Some(known) = places.iter_mut().find(|place| place.path == path) {
                known.agents.push(agent);
                continue;
            }
            let name = path.file_name().and_then(EntryName::parse);
            if let Some((name, above)) = name.zip(path.parent()) {
                places.push(SkillsDirectory {
                    base: base_at(facts, above),
                    name,
                    agents: vec![agent],
                    path,
                });
            }
        }
    }
    places
}

/// Where each of the agents is to find a skill: in the directory that agents have in common, or
/// else in the first of its own.
fn needed<'p>(places: &'p [SkillsDirectory], agents: &[Agent]) -> Vec<&'p SkillsDirectory> {
    let mut needed: Vec<&SkillsDirectory> = Vec::new();
    for agent in agents {
        let its = || places.iter().filter(|place| place.agents.contains(agent));
        let common = its().find(|place| place.path.ends_with(COMMON));
        if let Some(place) = common.or_else(|| its().next())
            && !needed.iter().any(|known| known.path == place.path)
        {
            needed.push(place);
        }
    }
    needed
}

fn paths(run: &RunContext, agent: Agent, in_project: bool) -> Vec<PathBuf> {
    let skills = &agent.table().skills;
    if in_project {
        let root = run.project_dir();
        return skills.project.iter().map(|dir| root.join(dir)).collect();
    }
    let dirs = skills.personal.iter();
    dirs.filter_map(|dir| agent.table().home.place(&run.env, dir))
        .collect()
}
