//! The layers in which skills are found, their order of precedence, and the directories of each in this
//! run.

use std::path::{Path, PathBuf};

use crate::error::named;
use crate::facts::Facts;
use crate::run_context::{HOLDS, HOME_HOLDS, RunContext, real};
use crate::sys::{Base, EntryName};
use skill_text::Words;

/// To whom a skill belongs, highest precedence first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The administrator's, for all users of the machine.
    Enterprise,
    /// The user's own.
    Personal,
    /// A project's.
    Project,
    /// Those installed into the plugin directory.
    Plugin,
}

/// A directory of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Whose skills it holds.
    pub layer: Layer,
    /// The directory; every entry in it is a skill.
    pub dir: PathBuf,
}

/// Every existing directory of skills, without duplicates, in search order: those of the agent
/// that calls, else chibi's.
pub fn roots(facts: &Facts) -> Vec<Root> {
    let run = &facts.run;
    let agent = run.agent.as_ref().map(|calling| calling.agent);
    let skills = agent.map(|agent| &agent.table().skills);
    let mut roots: Vec<Root> = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut add = |layer, dir: PathBuf| {
        // `exists` is one system call, and most do not.
        if dir.exists()
            && let Ok(real) = dir.canonicalize()
            && !seen.contains(&real)
        {
            seen.push(real);
            roots.push(Root { layer, dir });
        }
    };
    for dir in facts.enterprise().dirs() {
        add(Layer::Enterprise, dir.join("skills"));
    }
    let enterprise = skills
        .into_iter()
        .flat_map(|skills| skills.enterprise.iter());
    enterprise.for_each(|dir| add(Layer::Enterprise, PathBuf::from(dir)));
    let in_home = skills.map_or(HOME_HOLDS, |skills| skills.personal);
    let in_home = in_home.iter().filter_map(|dir| match agent {
        Some(agent) => agent.table().home.place(&run.env, dir),
        None => Some(run.env.home()?.join(dir)),
    });
    let project = run.real_project_dir();
    for dir in in_home.filter(|dir| dir.exists()) {
        let is_projects = is_projects(run, &project, &dir);
        add(
            if is_projects {
                Layer::Project
            } else {
                Layer::Personal
            },
            dir,
        );
    }
    for holder in run.holders() {
        for dir in skills.map_or(HOLDS, |skills| skills.project).iter() {
            add(Layer::Project, holder.join(dir));
        }
    }
    match &run.agent {
        Some(calling) => {
            let place = |dir: &str| calling.agent.table().home.place(&run.env, dir);
            let skills = &calling.agent.table().skills;
            let is_below = |places: Words, dir: &Path| {
                let mut places = places.iter().filter_map(place);
                places.any(|place| dir.starts_with(place))
            };
            for dir in &calling.plugins {
                let is_projects = real(dir).starts_with(&project);
                let layer = if is_projects {
                    Layer::Project
                } else if is_below(skills.personal, dir) {
                    Layer::Personal
                } else if !is_below(skills.plugins, dir) && RunContext::place_of(dir).is_some() {
                    // Above the project, or in another checkout of it.
                    Layer::Project
                } else {
                    Layer::Plugin
                };
                add(layer, dir.clone());
            }
        }
        None => add(Layer::Plugin, run.dirs.skills()),
    }
    roots
}

/// Whether a directory of the home is the project's, whose files and links are not the user's. A
/// home inside the project can only be one that a variable sets; except if this program is
/// inside too.
fn is_projects(run: &RunContext, project: &Path, dir: &Path) -> bool {
    let is_inside = |path: &Path| real(path).starts_with(project);
    let home = run.env.home();
    !is_inside(&run.dirs.plugin) && (is_inside(dir) || home.is_some_and(|home| is_inside(&home)))
}

impl Layer {
    /// Every layer, in order of precedence.
    pub const ALL: [Self; 4] = [
        Self::Enterprise,
        Self::Personal,
        Self::Project,
        Self::Plugin,
    ];

    /// Its name in configuration, qualified names and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enterprise => "enterprise",
            Self::Personal => "personal",
            Self::Project => "project",
            Self::Plugin => "plugin",
        }
    }

    /// The directory where a layer's own skills are installed.
    pub fn dir(self, facts: &Facts) -> PathBuf {
        match self {
            Self::Enterprise => facts.enterprise().dirs()[0].to_owned(),
            Self::Personal => facts.run.env.home().unwrap_or_default().join(".chibi"),
            Self::Project => facts.run.project_dir().join(".chibi"),
            Self::Plugin => facts.run.dirs.plugin.clone(),
        }
    }

    /// That directory, see [`base_at`].
    pub fn base(self, facts: &Facts) -> Base {
        base_at(facts, &self.dir(facts))
    }
}

named!(Layer, "a layer");

/// The directory `path` that contains `skills/`: one that the user chose, or one that a project
/// may have provided.
pub fn base_at(facts: &Facts, path: &Path) -> Base {
    let run = &facts.run;
    let home = run.env.home();
    let is_users = *path == run.dirs.plugin
        || (home.is_some()
            && path.parent() == home.as_deref()
            && !is_projects(run, &run.real_project_dir(), path))
        || facts.enterprise().dirs().contains(&path);
    let shared = path.file_name().and_then(EntryName::parse);
    match (shared, path.parent()) {
        (Some(name), Some(root)) if !is_users => Base::shared(root.to_owned(), name),
        _ => Base::own(path.to_owned()),
    }
}
