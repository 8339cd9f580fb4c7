//! The directories in which agents look for skills, of one user or of one project.

use std::io;
use std::path::{Path, PathBuf};

use crate::catalog::base_at;
use crate::facts::Facts;
use crate::host::agent::Agent;
use crate::run_context::{RunContext, real};
use crate::sys::{Base, Dir, EntryName, files};

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
pub struct Place {
    /// The directory above it.
    base: Base,
    name: EntryName,
    path: PathBuf,
    /// The agents that look there.
    pub agents: Vec<Agent>,
}

impl Place {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The link of this name in it.
    pub fn link(&self, name: &EntryName) -> Link {
        Link {
            path: self.path.join(name.as_os_str()),
            agents: self.agents.clone(),
        }
    }

    /// Opens it; `None` if it does not exist.
    ///
    /// # Errors
    /// When it cannot be opened, or is a link in a project.
    pub fn open(&self) -> io::Result<Option<Dir>> {
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
    /// As [`Place::open`], and when it cannot be created.
    pub fn make(&self) -> io::Result<Dir> {
        if !self.base.is_shared() {
            return Dir::make_anchor(&self.path);
        }
        self.base
            .make()
            .map_err(io::Error::other)?
            .make_dir(&self.name)
    }

    /// Whether a link's target, as written in this directory, is an entry of `skills`; then its name.
    pub fn leads_into(&self, target: &Path, skills: &Path) -> Option<EntryName> {
        let name = EntryName::parse(target.file_name()?)?;
        let above = self.path.join(target.parent()?);
        (above == skills || real(&above) == real(skills)).then_some(name)
    }
}

/// Every directory in which an agent looks, for this user or in this project.
pub fn places(facts: &Facts, in_project: bool) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for agent in Agent::ALL {
        for path in paths(&facts.run, agent, in_project) {
            if let Some(known) = places.iter_mut().find(|place| place.path == path) {
                known.agents.push(agent);
                continue;
            }
            let name = path.file_name().and_then(EntryName::parse);
            if let Some((name, above)) = name.zip(path.parent()) {
                places.push(Place {
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
pub fn needed<'p>(places: &'p [Place], agents: &[Agent]) -> Vec<&'p Place> {
    let mut needed: Vec<&Place> = Vec::new();
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
    let home = agent.settings().home;
    let dirs = skills.personal.iter();
    dirs.filter_map(|dir| home.place(&run.env, dir)).collect()
}
