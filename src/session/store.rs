//! The state file on disk: read without a lock, changed under one, replaced whole.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::key::{self, SessionKey};
use super::state::{ActiveSkill, Ended, Reset, Session, State};
use crate::error::{Error, Result};
use crate::sys::process::{ProcessId, effective_user};
use crate::sys::{Directories, Env, FileLock, Moment, files, limits};

/// The state file and its lock.
#[derive(Debug, Clone)]
pub struct Store {
    file: PathBuf,
    lock: PathBuf,
    /// Where the state would be if the plugin directory's being writable had not changed: what
    /// stands there is in force too.
    other: Option<PathBuf>,
}

/// Why the state cannot be known. Whatever was restricted must be taken to be still (law 2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// For a person, a fragment.
    pub reason: String,
}

impl Store {
    /// The store of this installation.
    pub fn of(dirs: &Directories, env: &Env) -> Self {
        let here = dirs.state(env);
        let mut places = dirs.state_places(env).into_iter();
        let other = places.find(|place| *place != here);
        Self {
            other: other.map(|place| place.join("state.json")),
            ..Self::at(&here)
        }
    }

    /// The store in `dir`.
    pub fn at(dir: &Path) -> Self {
        Self {
            file: dir.join("state.json"),
            lock: dir.join("state.lock"),
            other: None,
        }
    }

    /// The directory it lies in.
    pub fn dir(&self) -> &Path {
        self.file.parent().unwrap_or(&self.file)
    }

    /// What is known of this session; nothing, if it is new. Takes no lock: the file is always
    /// whole.
    ///
    /// # Errors
    /// [`Unreadable`], also when the file was thrown away while this session may have been in it.
    pub fn session(&self, key: &SessionKey) -> Result<Session, Unreadable> {
        let here = Self::session_in(&self.file, key)?;
        if let Some(other) = self.other.as_deref().filter(|_| here.activated.is_empty()) {
            let there = Self::session_in(other, key)?;
            if !there.activated.is_empty() {
                return Ok(there);
            }
        }
        Ok(here)
    }

    /// Whether the record can be read, in each place where one is looked for: how many sessions it
    /// knows.
    ///
    /// # Errors
    /// The file, and why it cannot be.
    pub fn health(&self) -> Result<usize, (PathBuf, Unreadable)> {
        let places = [Some(&self.file), self.other.as_ref()];
        places.into_iter().flatten().try_fold(0, |known, file| {
            let state = Self::read(file).map_err(|why| (file.clone(), why))?;
            Ok(known + state.map_or(0, |state| state.sessions.len()))
        })
    }

    fn session_in(file: &Path, key: &SessionKey) -> Result<Session, Unreadable> {
        let Some(mut state) = Self::read(file)? else {
            return Ok(Session::default());
        };
        match (state.sessions.remove(key.as_str()), state.reset) {
            (Some(session), _) if key.is_here(&session.realm) => Ok(session),
            (_, Some(reset)) if reset.realm == key::realm() && key.is_older_than(reset.ticks) => {
                Err(Unreadable::thrown_away())
            }
            _ => Ok(Session::default()),
        }
    }

    /// Begins a session: whatever it had active is forgotten, as are sessions that ended. An
    /// unreadable file is thrown away, which closes the other sessions that may have been in it.
    /// Answers which activations are over.
    ///
    /// # Errors
    /// When there is something to change and it cannot be changed.
    pub fn begin(&self, key: &SessionKey) -> Result<Vec<Ended>> {
        // Without a lock: only this session's own calls, which follow this one, can add to it.
        let nothing_to_do = match Self::read(&self.file) {
            Ok(None) => true,
            Ok(Some(state)) => state.sessions.is_empty() && state.reset.is_none(),
            Err(_) => false,
        };
        if nothing_to_do {
            return Ok(Vec::new());
        }
        let realm = key::realm();
        let mut ended = Vec::new();
        self.change(|state, unreadable| {
            if unreadable.is_some() {
                let ticks = ProcessId::current().start;
                *state = State {
                    reset: Some(Reset {
                        realm: realm.clone(),
                        ticks,
                    }),
                    ..State::default()
                };
            }
            if let Some(session) = state.sessions.remove(key.as_str()) {
                ended.extend(session.ended(key.as_str(), false));
            }
            state.sessions.retain(|key, session| {
                let over = is_over(key, session, &realm);
                if over {
                    ended.extend(session.ended(key, true));
                }
                !over
            });
            state.reset.take_if(|reset| reset.realm != realm);
            if state
                .reset
                .as_ref()
                .is_some_and(|reset| key.is_older_than(reset.ticks))
            {
                let session = Session {
                    realm: realm.clone(),
                    changed: now(),
                    ..Session::default()
                };
                state.sessions.insert(key.as_str().to_owned(), session);
            }
            Ok(())
        })?;
        Ok(ended)
    }

    /// Forgets what is active: in the sessions of one conversation, or in all. A person's word;
    /// answers what ended.
    ///
    /// # Errors
    /// When the state cannot be read, locked in time or written: then nothing changed.
    pub fn deactivate(&self, context: Option<&str>) -> Result<Vec<Ended>> {
        let mut ended = Vec::new();
        self.change(|state, unreadable| {
            if let Some(unreadable) = unreadable {
                return Err(unreadable.error());
            }
            for (key, session) in &mut state.sessions {
                if context.is_none() || session.context.as_deref() == context {
                    ended.extend(session.clone().ended(key, false));
                    session.activated.clear();
                }
            }
            Ok(())
        })?;
        Ok(ended)
    }

    /// Puts `skill` in force. Answers whether it was not the one in force already, in this form.
    ///
    /// # Errors
    /// When the state cannot be read, locked in time or written, or the session has activated too
    /// many skills: then nothing changed.
    pub fn activate(&self, key: &SessionKey, skill: ActiveSkill) -> Result<bool> {
        let mut is_new = false;
        self.change_session(key, |session| {
            is_new = session.activated.last() != Some(&skill);
            session
                .activated
                .retain(|earlier| earlier.name != skill.name);
            if session.activated.len() >= limits::SESSION_SKILLS {
                let text = format!("{} skills were activated already", limits::SESSION_SKILLS);
                return Err(Error::new(text).hint("the next prompt begins anew"));
            }
            if is_new {
                session.began.insert(skill.name.clone(), Moment::now().0);
            }
            session.activated.push(skill);
            Ok(())
        })?;
        Ok(is_new)
    }

    /// Remembers which tools the host says belong to MCP servers.
    ///
    /// # Errors
    /// As [`Store::activate`].
    pub fn remember_mcp_tools(&self, key: &SessionKey, tools: BTreeSet<String>) -> Result<()> {
        self.change_session(key, |session| {
            session.mcp_tools = tools;
            Ok(())
        })
    }

    fn change_session(
        &self,
        key: &SessionKey,
        edit: impl FnOnce(&mut Session) -> Result<()>,
    ) -> Result<()> {
        let realm = key::realm();
        self.change(|state, unreadable| {
            if let Some(unreadable) = unreadable {
                return Err(unreadable.error());
            }
            let known = state.sessions.contains_key(key.as_str());
            let doubted = |reset: &Reset| reset.realm == realm && key.is_older_than(reset.ticks);
            // An entry would say that the session's activations are known (see `session`).
            if !known && state.reset.as_ref().is_some_and(doubted) {
                return Err(Unreadable::thrown_away().error());
            }
            let session = state.sessions.entry(key.as_str().to_owned()).or_default();
            if !key.is_here(&session.realm) {
                *session = Session {
                    realm,
                    ..Session::default()
                };
            }
            session.changed = now();
            edit(session)
        })
    }

    /// Notes down which conversation the session is in: the host tells that to one hook, and what
    /// is started later needs it (HOST.md §6). Where it is not known whether the session is
    /// restricted, nothing changes.
    ///
    /// # Errors
    /// When the state cannot be locked in time or written.
    pub fn enter_context(&self, key: &SessionKey, context: &str) -> Result<()> {
        match self.session(key) {
            Ok(session) if session.context.as_deref() != Some(context) => {}
            _ => return Ok(()),
        }
        self.change_session(key, |session| {
            session.context = Some(context.to_owned());
            Ok(())
        })
    }

    /// The conversation the session is in, as far as is known.
    pub fn context(&self, key: &SessionKey) -> Option<String> {
        self.session(key).ok()?.context
    }

    /// Changes the state under the lock. `edit` is told when the file on disk is unreadable, and
    /// then gets an empty state.
    fn change(
        &self,
        edit: impl FnOnce(&mut State, Option<Unreadable>) -> Result<()>,
    ) -> Result<()> {
        if let Some(dir) = self.file.parent() {
            fs::create_dir_all(dir).map_err(|source| Error::io("create", dir, &source))?;
        }
        let _lock = FileLock::exclusive(&self.lock, limits::HOOK_LOCK)?;
        let (before, unreadable) = match Self::read(&self.file) {
            Ok(state) => (state.unwrap_or_default(), None),
            Err(unreadable) => (State::default(), Some(unreadable)),
        };
        let mut state = before.clone();
        let reset = unreadable.is_some();
        edit(&mut state, unreadable)?;
        if state == before && !reset {
            return Ok(());
        }
        let json = serde_json::to_vec(&state).map_err(|error| Error::new(error.to_string()))?;
        files::replace_scratch_file(&self.file, &json, 0o600)
    }

    /// The state, or `None` when there is no file yet.
    fn read(path: &Path) -> Result<Option<State>, Unreadable> {
        let unreadable = |reason: String| Unreadable { reason };
        let file = match files::open_regular(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        let metadata = file
            .metadata()
            .map_err(|error| unreadable(error.to_string()))?;
        if metadata.mode() & 0o022 != 0 || ![effective_user(), 0].contains(&metadata.uid()) {
            return Err(unreadable("another user could have written it".to_owned()));
        }
        let bytes = files::read_all_capped(file, limits::STATE_FILE);
        let bytes = bytes.map_err(|error| unreadable(error.to_string()))?;
        let state: State =
            serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
        if state.version != State::VERSION {
            return Err(unreadable(format!(
                "its version {} is not known",
                state.version
            )));
        }
        Ok(Some(state))
    }
}

impl Unreadable {
    fn thrown_away() -> Self {
        Self {
            reason: "it was corrupt and had to be thrown away".to_owned(),
        }
    }

    fn error(&self) -> Error {
        Error::new(format!(
            "the record of active skills cannot be read: {}",
            self.reason
        ))
        .hint("the next prompt resets it")
    }
}

/// Whether a session cannot come back. One of another realm, and a named one, has no process we
/// could look for, so its age decides.
fn is_over(key: &str, session: &Session, realm: &str) -> bool {
    if SessionKey::is_of_process(key) && session.realm == realm {
        return SessionKey::has_ended(key);
    }
    session.changed + limits::NAMED_SESSION_AGE.as_secs() < now()
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests;
