//! The state on disk: one file, read without a lock, changed under a lock and replaced as a whole.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::active::{ActiveSkill, End, Ended, OF_CONTEXT, Session};
use super::contexts::Contexts;
use super::key::{self, SessionKey, now};
use super::loading::{Changed, Loading, in_session};
use super::state::{State, Unreadable};
use crate::error::{Error, Result};
use crate::sys::process::{ProcessId, effective_user};
use crate::sys::{Dir, Directories, Durable, EntryName, Env, files, limits};

const LOCK: EntryName = EntryName::from_static("state.lock");

/// The store of the state.
#[derive(Debug, Clone)]
pub struct Store {
    path: PathBuf,
    /// The state as this call has read it, or changed it since.
    seen: Rc<RefCell<Option<Rc<State>>>>,
}

impl Store {
    /// The store of this installation.
    pub fn from_env(dirs: &Directories, env: &Env) -> Self {
        // What this user has recorded beside the program counts, though that directory may have
        // become read-only since.
        let beside = Self::at(&dirs.plugin);
        let found = fs::metadata(&beside.path);
        if found.is_ok_and(|found| found.uid() == effective_user()) {
            return beside;
        }
        Self::at(&dirs.state(env))
    }

    /// The store in `dir`.
    pub(super) fn at(dir: &Path) -> Self {
        Self {
            path: dir.join("state.json"),
            seen: Rc::default(),
        }
    }

    /// The directory of the state.
    pub fn dir(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// The file of the state.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole state, empty if there is no file yet. Takes no lock: the file is always complete.
    pub(super) fn read(&self) -> Result<Rc<State>, Unreadable> {
        let seen = self.seen.borrow().clone();
        seen.map_or_else(|| self.read_anew(), Ok)
    }

    /// As [`Store::read`], from disk.
    fn read_anew(&self) -> Result<Rc<State>, Unreadable> {
        let unreadable =
            |why: &dyn Display| Unreadable::File(format!("`{}`: {why}", self.path.display()));
        let opened = files::unless_missing(&self.path, files::open_with_metadata);
        let state = match opened.map_err(|error| unreadable(&error))? {
            None => State::default(),
            Some((_, found)) if found.mode() & 0o022 != 0 => {
                return Err(unreadable(&"others may write it"));
            }
            Some((_, found)) if ![effective_user(), 0].contains(&found.uid()) => {
                return Err(unreadable(&"it belongs to another user"));
            }
            Some((file, found)) => {
                let bytes = files::read_file_capped(&file, found.len(), limits::STATE_FILE);
                let bytes = bytes.map_err(|error| unreadable(&error))?;
                serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))?
            }
        };
        if state.version != State::VERSION {
            return Err(unreadable(&format!(
                "its version {} is not known",
                state.version
            )));
        }
        let state = Rc::new(state);
        *self.seen.borrow_mut() = Some(state.clone());
        Ok(state)
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// When it would be too large to be read again, or cannot be written.
    fn write(&self, state: State) -> Result<()> {
        let json = serde_json::to_vec(&state).map_err(|error| {
            Error::caused("the record of active skills cannot be written", error)
        })?;
        if json.len() as u64 > limits::STATE_FILE {
            let text = "the record of active skills would be too large to be read again";
            return Err(Error::new(text).hint("the user can run `agent-skills deactivate`"));
        }
        self.seen.take();
        files::replace(&self.path, &json, 0o600, Durable::No).map_err(|error| {
            let dir = self.dir().display();
            error.hint(format!(
                "the user can make room on the disk, and `{dir}` writable"
            ))
        })?;
        *self.seen.borrow_mut() = Some(Rc::new(state));
        Ok(())
    }

    /// The state of this session; empty if it is new.
    ///
    /// # Errors
    /// [`Unreadable`], also if a discarded file may have contained this session.
    pub fn session(&self, key: &SessionKey) -> Result<Session, Unreadable> {
        let state = self.read()?;
        let session = state.session(key)?.cloned().unwrap_or_default();
        if session.context.is_none() && !key.is_agents && state.contexts.restrict() {
            // The call belongs to a conversation, but the host named none.
            return Err(Unreadable::NotEntered);
        }
        Ok(session)
    }

    /// Checks that the record can be read; returns the number of sessions in it.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn health(&self) -> Result<usize, Unreadable> {
        Ok(self.read()?.sessions.len())
    }

    /// Begins a session: forgets what was active in it, as a later host may have its name again, and
    /// sessions that have ended. An unreadable file is discarded; the calls of other sessions that
    /// may have been in it are then refused until they begin. Returns the activations that ended.
    ///
    /// # Errors
    /// When the state has to change and cannot be written.
    pub fn begin(&self, key: &SessionKey) -> Result<Vec<Ended>> {
        // This needs no lock: only this session's own, later calls can add to it.
        let is_new = |state: Rc<State>| state.sessions.is_empty() && !state.reset;
        if self.read().is_ok_and(is_new) {
            return Ok(Vec::new());
        }
        let realm = key::realm();
        self.change_any(|state, unreadable| {
            state.reset |= unreadable.is_some();
            let own = state.sessions.remove(key.as_str());
            let mut ended = own.map_or_else(Vec::new, |session| {
                session.ended(key.as_str(), End::NextStart)
            });
            ended.extend(state.forget_ended(&realm));
            let restricted = ended.iter().filter(|end| end.restricted);
            let over = restricted.filter_map(|end| Some((end.context.clone()?, end.skill.clone())));
            let over: Vec<_> = over.collect();
            if state.reset || !over.is_empty() {
                let session = Session {
                    realm,
                    changed: now(),
                    over,
                    ..Session::default()
                };
                state.sessions.insert(key.as_str().to_owned(), session);
            }
            Ok(ended)
        })
    }

    /// Records which conversation the session is in. The host tells only one hook, and later calls
    /// need it (docs/spec/hosts.md#hooks). With `keep`, what is kept for that conversation is
    /// restored, and what becomes active is kept for it; otherwise nothing is kept for any
    /// conversation. Returns the activations that ended. If the session's restrictions are unknown,
    /// nothing changes.
    ///
    /// # Errors
    /// When the state cannot be locked in time or written.
    pub fn enter(&self, key: &SessionKey, context: &str, keep: bool) -> Result<Vec<Ended>> {
        let is_settled = |state: Rc<State>| match state.session(key) {
            Ok(Some(session)) => {
                session.context.as_deref() == Some(context)
                    && session.kept == keep
                    && (keep || state.contexts.is_empty())
            }
            Ok(None) => false,
            Err(_) => true,
        };
        if self.read().map_or(true, is_settled) {
            return Ok(Vec::new());
        }
        self.change_session(key, |session, contexts| {
            contexts.enter(session, context, keep);
            Ok(if keep {
                Vec::new()
            } else {
                contexts.forget(None)
            })
        })
    }

    /// Whether the host has certainly named no conversation in this session yet.
    pub fn is_before_first_prompt(&self, key: &SessionKey) -> bool {
        self.read().is_ok_and(|state| {
            let session = state.session(key);
            session.is_ok_and(|session| session.is_none_or(|session| session.context.is_none()))
        })
    }

    /// The conversations that sessions are in or for which something is kept.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn contexts(&self) -> Result<BTreeSet<String>> {
        let state = self.read()?;
        let sessions = state.sessions.values();
        let of_sessions = sessions.filter_map(|session| session.context.as_ref());
        Ok(of_sessions.chain(state.contexts.names()).cloned().collect())
    }

    /// The conversation the session is in, if known.
    pub fn context(&self, key: &SessionKey) -> Option<String> {
        self.session(key).ok()?.context
    }

    /// Forgets what is active in one conversation, or in all, whether or not a host serves it, except
    /// always-on skills of the names in `stay`. Only at the user's request. For all, an unreadable
    /// file is replaced: nothing of what it may have contained is active any longer. Returns the
    /// activations that ended, or would in a dry run.
    ///
    /// # Errors
    /// When the state cannot be read, locked in time or written. Nothing has changed then.
    pub fn deactivate(
        &self,
        context: Option<&str>,
        dry_run: bool,
        stay: &[&str],
    ) -> Result<Vec<Ended>> {
        match self.read() {
            Ok(known) => {
                let mut after = State::clone(&known);
                let ended = forget(&mut after, context, stay);
                if dry_run || after == *known {
                    return Ok(ended);
                }
            }
            Err(_) if dry_run && context.is_none() => return Ok(Vec::new()),
            Err(_) => {}
        }
        self.change_any(|state, unreadable| match unreadable {
            Some(why) if context.is_some() => Err(why.into()),
            _ => Ok(forget(state, context, stay)),
        })
    }

    /// Makes `skills` active, all of them or none; see [`Session::load`].
    ///
    /// # Errors
    /// When the state cannot be read, locked in time or written, or not all of them may become
    /// active. Nothing has changed then.
    pub fn load(
        &self,
        key: &SessionKey,
        skills: Vec<ActiveSkill>,
        loading: Loading,
        most: usize,
    ) -> Result<Changed> {
        self.change(key, |session| {
            let changed = session.load(skills, loading, most)?;
            let ended = in_session(key, changed.ended);
            Ok(Changed { ended, ..changed })
        })
    }

    /// Makes the skills in `dirs`, or all active ones, inactive; see [`Session::unload`].
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn unload(
        &self,
        key: &SessionKey,
        dirs: Option<&[PathBuf]>,
        restricted_too: bool,
    ) -> Result<Vec<Ended>> {
        self.change(key, |session| {
            let meant = |skill: &ActiveSkill| {
                dirs.is_none_or(|dirs| dirs.iter().any(|dir| dir == Path::new(&skill.dir)))
            };
            let ended = session.unload(meant, restricted_too)?;
            Ok(in_session(key, ended))
        })
    }

    /// Whether the skill in `dir` is certainly no longer active for this owner, see
    /// [`Session::owner`].
    pub fn is_over(&self, owner: &str, dir: &Path) -> bool {
        let Ok(state) = self.read() else {
            return false;
        };
        if let Some(context) = owner.strip_prefix(OF_CONTEXT) {
            return state.contexts.is_over(context, &dir.to_string_lossy());
        }
        match state.sessions.get(owner) {
            Some(session) => session.active_in(dir).is_none(),
            // In the discarded state it may have been active.
            None => !state.reset || SessionKey::has_ended(owner),
        }
    }

    /// The first of these processes that is the host of a live session of chibi. `None` also while the
    /// record cannot be read: then only the names of programs tell.
    pub fn host_among(&self, processes: &[ProcessId]) -> Option<ProcessId> {
        let state = self.read().ok()?;
        let is_host = |process: &ProcessId| {
            let session = state.session(&SessionKey::of_process(*process));
            session.is_ok_and(|session| session.is_some_and(Session::is_live))
        };
        processes.iter().copied().find(is_host)
    }

    /// Changes what is known of this session.
    ///
    /// # Errors
    /// As [`Store::load`], and what `edit` fails with.
    pub fn change<T>(
        &self,
        key: &SessionKey,
        edit: impl FnOnce(&mut Session) -> Result<T>,
    ) -> Result<T> {
        self.change_session(key, |session, _| edit(session))
    }

    pub(super) fn change_session<T>(
        &self,
        key: &SessionKey,
        edit: impl FnOnce(&mut Session, &mut Contexts) -> Result<T>,
    ) -> Result<T> {
        self.change_known(|state| {
            // An entry would mean that the session's activations are known.
            let is_new = state.session(key)?.is_none();
            let session = state.sessions.entry(key.as_str().to_owned()).or_default();
            if is_new {
                *session = Session {
                    realm: key::realm(),
                    ..Session::default()
                };
            }
            let before = session.clone();
            let result = edit(session, &mut state.contexts)?;
            if is_new || *session != before {
                session.changed = now();
                state.contexts.keep(session, &before.activated)?;
            }
            Ok(result)
        })
    }

    /// Changes the state under the lock, if it can be read.
    pub(super) fn change_known<T>(&self, edit: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        self.change_any(|state, unreadable| match unreadable {
            Some(unreadable) => Err(unreadable.into()),
            None => edit(state),
        })
    }

    /// Changes the state under the lock. If it cannot be read, `edit` gets the error and an empty
    /// state.
    fn change_any<T>(
        &self,
        edit: impl FnOnce(&mut State, Option<Unreadable>) -> Result<T>,
    ) -> Result<T> {
        let dir = self.dir();
        let made = Dir::make_anchor(dir).map_err(|source| Error::io("create", dir, &source))?;
        let _lock = made.lock(&LOCK, limits::HOOK_LOCK)?;
        let (before, unreadable) = match self.read_anew() {
            Ok(state) => (state, None),
            Err(unreadable) => (Rc::default(), Some(unreadable)),
        };
        let mut state = State::clone(&before);
        let is_reset = unreadable.is_some();
        let result = edit(&mut state, unreadable)?;
        if state != *before || is_reset {
            self.write(state)?;
        }
        Ok(result)
    }
}

/// Ends what is active in one conversation, or in all. Always-on skills of the names in `stay` do.
fn forget(state: &mut State, context: Option<&str>, stay: &[&str]) -> Vec<Ended> {
    let mut ended = Vec::new();
    // The user says that nothing is active, in sessions that a discarded file may have had either.
    state.reset &= context.is_some();
    for (key, session) in &mut state.sessions {
        if context.is_none() || session.context.as_deref() == context {
            let always = std::mem::take(&mut session.always);
            let stays = |skill: &ActiveSkill| {
                always.contains(&skill.dir) && stay.contains(&skill.name.as_str())
            };
            let (stay, ends) = std::mem::take(&mut session.activated)
                .into_iter()
                .partition(stays);
            session.activated = ends;
            ended.extend(session.ended(key, End::Deactivated));
            session.activated = stay;
            let dirs = session.activated.iter().map(|skill| skill.dir.clone());
            session.always = dirs.collect();
            session.began.retain(|dir, _| session.always.contains(dir));
        }
    }
    ended.extend(state.contexts.forget(context));
    ended
}

#[cfg(test)]
mod tests;
