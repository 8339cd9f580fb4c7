//! Where an agent's configuration files are; reading and replacing one of them; and its text with our
//! entries, without them, and which it has. A file of the user's may be a link of theirs, which is
//! written through; one in a project is reached without following any.

use std::path::{Path, PathBuf};

use super::entry::{self, HookFile, Invocation, ours_of, set_entry};
use super::json::JsonHooks;
use super::toml::TomlHooks;
use crate::error::{Error, Result, past};
use crate::host::agent::table::AgentHome;
use crate::host::agent::{Agent, ConnectionScope};
use crate::run_context::RunContext;
use crate::sys::{Base, Dir, Durable, EntryName, EntryPath, Env, files, limits};

/// What connects agents: from where the places of every scope are found.
#[derive(Debug)]
pub struct Connections {
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
    pub scope: ConnectionScope,
    /// What of its path the user or the system chose.
    root: PathBuf,
    below: EntryPath,
    /// Its path.
    pub path: PathBuf,
}

impl Connections {
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
    pub(super) fn of_user(&self, home: AgentHome, file: &str) -> impl Iterator<Item = PathBuf> {
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
    pub(super) fn file(&self, agent: Agent, scope: ConnectionScope) -> Result<ConfigFile> {
        let table = agent.table();
        let (root, below) = match scope {
            ConnectionScope::User => {
                let root = table.home.directory(&self.env);
                let root = root
                    .ok_or_else(|| Error::new("there is no home directory").hint("set `HOME`"))?;
                (root, table.user)
            }
            ConnectionScope::Project => (self.project.clone(), table.project),
            ConnectionScope::Managed => {
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

/// One entry of ours.
#[derive(Debug)]
pub struct HookEntry {
    /// Its event.
    pub event: String,
    /// What it runs.
    pub ours: Invocation,
    /// The program and its words that the agent runs by it.
    pub command: Vec<String>,
}

/// A file after our entries were taken out.
#[derive(Debug, PartialEq, Eq)]
pub struct TextWithoutOurs {
    /// Its text.
    pub text: String,
    /// Whether nothing is left that anybody would miss.
    pub is_empty: bool,
}

impl ConfigFile {
    fn is_project(&self) -> bool {
        self.scope == ConnectionScope::Project
    }

    /// What stands there; `None` if nothing does.
    ///
    /// # Errors
    /// When it cannot be read, is not UTF-8, or, in a project, is reached by a link.
    pub fn read(&self) -> Result<Option<String>> {
        let most = limits::CONFIG_FILE;
        let read = if self.is_project() {
            let root = Dir::anchor(&self.root);
            files::if_there(root.and_then(|root| root.read_below(&self.below, most)))
        } else {
            files::unless_missing(&self.path, |path| files::read_capped(path, most))
        };
        let bytes = read.map_err(|error| Error::io("read", &self.path, &error))?;
        bytes.map(String::from_utf8).transpose().map_err(|_| {
            Error::new(format!("`{}` is not UTF-8", self.path.display()))
                .hint(past(&self.path, "then the agent has no settings there"))
        })
    }

    /// Replaces it as a whole. Its owner and permissions stay; a new file of an administrator's can
    /// be read by everybody.
    ///
    /// # Errors
    /// When it cannot be written, or its owner cannot be kept; nothing has changed then.
    pub fn write(&self, text: &str) -> Result<()> {
        let (dir, name) = self.open()?;
        let write = || {
            if let Some((_, before)) = files::if_there(dir.open_file(&name))? {
                return dir.replace_as(&name, text.as_bytes(), &before);
            }
            dir.replace(&name, text.as_bytes(), 0o644, Durable::Yes)?;
            match self.scope {
                ConnectionScope::Managed => dir.publish(&name),
                ConnectionScope::User | ConnectionScope::Project => Ok(()),
            }
        };
        write().map_err(|error| dir.error("write", &name, &error))
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
            if self.scope == ConnectionScope::Managed {
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

    fn parse(&self, text: &str) -> Result<Box<dyn HookFile>> {
        let is_toml = self.path.extension().is_some_and(|end| end == "toml");
        Ok(if is_toml {
            Box::new(TomlHooks::parse(text)?)
        } else {
            Box::new(JsonHooks::parse(text)?)
        })
    }

    /// The text with our entries for this, and no others of ours.
    ///
    /// # Errors
    /// When the file is not in its agent's format, or a plugin of our file's name is somebody else's.
    pub fn with_entries(&self, before: Option<&str>, wanted: &Invocation) -> Result<String> {
        let table = self.agent.table();
        if table.is_plugin {
            if before.is_some_and(|text| entry::invocation(text).is_none()) {
                return Err(Error::new("it belongs to another plugin").hint("rename it"));
            }
            return Ok(entry::script(wanted));
        }
        let mut content = self.parse(before.unwrap_or_default())?;
        let is_versioned = table.versioned.contains(&self.scope);
        content.complete(is_versioned, Path::new(&wanted.program));
        let registered: Vec<_> = self.agent.registered().collect();
        for event in content.events() {
            if !registered.iter().any(|(name, _)| *name == event) {
                set_entry(&mut *content, self.agent, &event, None);
            }
        }
        for (event, matcher) in registered {
            let item = wanted.item(self.agent, matcher);
            set_entry(&mut *content, self.agent, event, Some(&item));
        }
        Ok(content.text())
    }

    /// The text without any entry of ours; `None` if it has none.
    ///
    /// # Errors
    /// When the file is not in its agent's format.
    pub fn without_entries(&self, before: &str) -> Result<Option<TextWithoutOurs>> {
        if self.agent.table().is_plugin {
            let (text, is_empty) = (String::new(), true);
            return Ok(entry::invocation(before).map(|_| TextWithoutOurs { text, is_empty }));
        }
        let mut content = self.parse(before)?;
        let mut had_any = false;
        for event in content.events() {
            had_any |= set_entry(&mut *content, self.agent, &event, None);
        }
        let (text, is_empty) = (content.text(), content.is_empty());
        Ok(had_any.then_some(TextWithoutOurs { text, is_empty }))
    }

    /// What of ours the text has, and whether it is not as we write it.
    ///
    /// # Errors
    /// When the file is not in its agent's format.
    pub fn entries(&self, text: &str) -> Result<(Vec<HookEntry>, bool)> {
        let agent = self.agent;
        if agent.table().is_plugin {
            let ours = entry::invocation(text).map(|ours| HookEntry {
                event: "plugin".to_owned(),
                command: ours.words(agent),
                ours,
            });
            let all: Vec<HookEntry> = ours.into_iter().collect();
            let is_changed = all.iter().any(|entry| entry::script(&entry.ours) != text);
            return Ok((all, is_changed));
        }
        let content = self.parse(text)?;
        let mut all = Vec::new();
        for event in content.events() {
            for (entry, ours) in ours_of(agent, &content.items(&event)) {
                let line = entry.get("command").or_else(|| entry.get("bash"));
                let command = match line.and_then(serde_json::Value::as_str) {
                    Some(line) if entry.get("args").is_none() => {
                        ["/bin/sh", "-c", line].map(str::to_owned).to_vec()
                    }
                    _ => ours.words(agent),
                };
                let event = event.clone();
                all.push(HookEntry {
                    event,
                    ours,
                    command,
                });
            }
        }
        // What writes them anew would change nothing.
        let again = |first: &HookEntry| self.with_entries(Some(text), &first.ours);
        let is_changed = all
            .first()
            .map(again)
            .transpose()?
            .is_some_and(|it| it != text);
        Ok((all, is_changed))
    }
}
