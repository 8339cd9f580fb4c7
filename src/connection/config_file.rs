//! Where an agent's configuration files are, and reading and replacing one of them. A file of the
//! user's may be a link of theirs, which is written through; one in a project is reached without
//! following any.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, past};
use crate::host::agent::table::Home;
use crate::host::agent::{Agent, Scope};
use crate::run_context::RunContext;
use crate::sys::{Base, Dir, Durable, EntryName, EntryPath, Env, files, limits};

/// What connects agents: from where the places of every scope are found.
#[derive(Debug)]
pub struct Connector {
    pub(super) env: Env,
    pub(super) project: PathBuf,
    /// The directory that the machine's own places are below: `/`, except in tests.
    machine: PathBuf,
    /// The directory that its records are below.
    pub(super) data: PathBuf,
}

/// One configuration file.
#[derive(Debug, Clone)]
pub struct ConfigFile {
    /// Whose it is.
    pub agent: Agent,
    /// For whom.
    pub scope: Scope,
    /// What of its path the user or the system chose.
    root: PathBuf,
    below: EntryPath,
    /// Its path.
    pub path: PathBuf,
}

impl Connector {
    /// What connects to the agents of this run.
    pub fn of(run: &RunContext) -> Self {
        Self {
            env: run.env.clone(),
            project: run.project_dir(),
            machine: PathBuf::from("/"),
            data: run.dirs.plugin.clone(),
        }
    }

    /// The same with everything below `root`.
    #[cfg(test)]
    pub(super) fn below(env: Env, root: &Path) -> Self {
        Self {
            env,
            project: root.join("project"),
            machine: root.to_owned(),
            data: root.join("data"),
        }
    }

    /// Where a file below the home may be: there, and where a variable moves it.
    pub(super) fn of_user(&self, home: Home, file: &str) -> impl Iterator<Item = PathBuf> {
        let is_below_home = !file.starts_with('$');
        let usual = self.env.home().filter(|_| is_below_home);
        let own = home.variable.and_then(|name| self.env.path(name));
        let own =
            own.filter(|own| is_below_home && home.in_variable.is_empty() && own.is_absolute());
        let beside = usual.into_iter().chain(own).map(move |dir| dir.join(file));
        beside.chain(home.place(&self.env, file))
    }

    pub(super) fn machine(&self, absolute: &str) -> PathBuf {
        self.machine.join(absolute.trim_start_matches('/'))
    }

    /// The file that entries of this scope are in.
    ///
    /// # Errors
    /// When the agent has no such file, or there is no home directory.
    pub(super) fn place(&self, agent: Agent, scope: Scope) -> Result<ConfigFile> {
        let table = agent.table();
        let (root, below) = match scope {
            Scope::User => {
                let root = table.home.directory(&self.env);
                let root = root
                    .ok_or_else(|| Error::new("there is no home directory").hint("set `HOME`"))?;
                (root, table.user)
            }
            Scope::Project => (self.project.clone(), table.project),
            Scope::Managed => {
                let path = table.managed.ok_or_else(|| {
                    let text = format!("{agent} has no managed settings that are known here");
                    Error::new(text).hint("connect it with `--scope user` or `--scope project`")
                })?;
                (self.machine.clone(), path.trim_start_matches('/'))
            }
        };
        let path = root.join(below);
        let below = EntryPath::parse(below);
        let below = below.ok_or_else(|| Error::new(format!("`{}`", path.display())))?;
        Ok(ConfigFile {
            agent,
            scope,
            root,
            below,
            path,
        })
    }
}

/// What stands in a file, and whose it is.
#[derive(Debug)]
pub struct Content {
    /// Its text.
    pub text: String,
    metadata: Metadata,
}

impl ConfigFile {
    fn is_project(&self) -> bool {
        self.scope == Scope::Project
    }

    /// What stands there; `None` if nothing does.
    ///
    /// # Errors
    /// When it cannot be read, is not UTF-8, or, in a project, is reached by a link.
    pub fn read(&self) -> Result<Option<Content>> {
        let read = if self.is_project() {
            let opened = Dir::anchor(&self.root).and_then(|dir| dir.open_below(&self.below));
            files::if_there(opened)
        } else {
            files::unless_missing(&self.path, files::open_with_metadata)
        };
        let read = read.and_then(|opened| {
            let Some((file, metadata)) = opened else {
                return Ok(None);
            };
            let bytes = files::read_all_capped(&file, limits::CONFIG_FILE)?;
            Ok(Some((bytes, metadata)))
        });
        let read = read.map_err(|error| Error::io("read", &self.path, &error))?;
        read.map(|(bytes, metadata)| {
            let text = String::from_utf8(bytes).map_err(|_| {
                Error::new(format!("`{}` is not UTF-8", self.path.display()))
                    .hint(past(&self.path, "then the agent has no settings there"))
            })?;
            Ok(Content { text, metadata })
        })
        .transpose()
    }

    /// Replaces it as a whole. Owner and permissions of `before` stay; a file of an administrator's
    /// can be read by everybody.
    ///
    /// # Errors
    /// When it cannot be written, or its owner cannot be kept; nothing has changed then.
    pub fn write(&self, text: &str, before: Option<&Content>) -> Result<()> {
        let (dir, name) = self.open()?;
        let written = match before {
            Some(before) => dir.replace_as(&name, text.as_bytes(), &before.metadata),
            None => dir.replace(&name, text.as_bytes(), 0o644, Durable::Yes),
        };
        let written = written.and_then(|()| match self.scope {
            Scope::Managed if before.is_none() => dir.publish(&name),
            _ => Ok(()),
        });
        written.map_err(|error| dir.error("write", &name, &error))
    }

    /// Removes it, and of these directories, in the order in which they were created, those that are
    /// empty now.
    ///
    /// # Errors
    /// When the file cannot be removed. A directory that stays is none.
    pub fn remove(&self, directories: &[PathBuf]) -> Result<()> {
        let (dir, name) = self.open()?;
        files::if_there(dir.remove_file(&name))
            .map_err(|error| dir.error("remove", &name, &error))?;
        for made in directories.iter().rev() {
            if self.path.starts_with(made)
                && let Some(parent) = made.parent()
                && let Some(name) = made.file_name().and_then(EntryName::parse)
                && let Ok(dir) = self.enter(parent)
            {
                let _ = dir.remove_empty(&name);
            }
        }
        Ok(())
    }

    /// The directories on the way to it that do not exist, the outermost first.
    pub fn missing(&self) -> Vec<PathBuf> {
        let above = self.path.ancestors().skip(1);
        let missing = above.take_while(|dir| dir.symlink_metadata().is_err());
        let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        missing.reverse();
        missing
    }

    /// A directory on the way to it.
    fn enter(&self, dir: &Path) -> std::io::Result<Dir> {
        match dir.strip_prefix(&self.root) {
            Ok(below) if self.is_project() => Dir::anchor(&self.root)?.open_dir_below(below),
            _ => Dir::anchor(dir),
        }
    }

    /// Its directory, created if necessary, and its name there.
    fn open(&self) -> Result<(Dir, EntryName)> {
        let unusable = || Error::new(format!("`{}` names no file", self.path.display()));
        let name = self.path.file_name().and_then(EntryName::parse);
        let name = name.ok_or_else(unusable)?;
        let parent = self.path.parent().ok_or_else(unusable)?;
        if !self.is_project() {
            let missing = self.missing();
            let file = Base::own(parent.to_owned()).file(&name)?;
            if self.scope == Scope::Managed {
                for made in missing {
                    let opened = Dir::anchor(&made).and_then(|dir| dir.publish_itself());
                    opened.map_err(|error| Error::io("open", &made, &error))?;
                }
            }
            return Ok((file.dir, file.name));
        }
        let below = parent.strip_prefix(&self.root).ok();
        let below = below.and_then(EntryPath::parse);
        let root = Dir::anchor(&self.root);
        let dir = root.and_then(|root| match &below {
            Some(below) => root.make_below(below),
            None => Ok(root),
        });
        let dir = dir.map_err(|error| Error::io("make directory", parent, &error))?;
        Ok((dir, name))
    }
}
