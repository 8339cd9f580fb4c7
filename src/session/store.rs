//! The state: its model, why it may be unknown, and the one file on disk, read without a lock, changed
//! under a lock and replaced as a whole.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::active::{
    ActiveSkill, Conversations, EndReason, EndedActivation, LoadMode, OF_CONTEXT, Session,
    SessionChange, in_session, is_other,
};
use super::key::{self, SessionKey, has_expired, now};
use crate::error::{Error, Result};
use crate::sys::process::{ProcessId, effective_user};
use crate::sys::{Dir, Directories, Durable, EntryName, Env, files, limits};

const LOCK: EntryName = EntryName::from_static("state.lock");

/// The whole file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    /// The version of the format. A file with another version counts as unreadable.
    pub version: u32,
    /// By session key.
    pub sessions: BTreeMap<String, Session>,
    /// What is kept for conversations (`scope = "context"`).
    #[serde(default, skip_serializing_if = "Conversations::is_empty")]
    pub contexts: Conversations,
    /// Whether an unreadable file was discarded. Which sessions it restricted is unknown, so the calls
    /// of each session without an entry are refused until its own next prompt, or until the user
    /// says that nothing is active.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
}

impl State {
    /// The format this program reads and writes.
    pub const VERSION: u32 = 1;

    /// The session with this key, if it is known and of the realm of this process.
    ///
    /// # Errors
    /// If it is not, and may have been in a file that was discarded.
    pub fn session(&self, key: &SessionKey) -> Result<Option<&Session>, StateUnreadable> {
        let session = self.sessions.get(key.as_str());
        match session.filter(|session| key.is_here(&session.realm)) {
            None if self.reset => Err(StateUnreadable::ThrownAway),
            known => Ok(known),
        }
    }

    /// Forgets the sessions that cannot come back. Returns the activations that ended.
    pub fn forget_ended(&mut self, realm: &str) -> Vec<EndedActivation> {
        let mut ended = Vec::new();
        self.sessions.retain(|key, session| {
            let is_over = is_over(key, session, realm);
            if is_over {
                ended.extend(session.ended(key, EndReason::HostGone));
            }
            !is_over
        });
        ended
    }
}

/// Whether a session cannot come back. Without a process to check, as in another realm, its age
/// decides.
fn is_over(key: &str, session: &Session, realm: &str) -> bool {
    if SessionKey::name(key).is_none() && session.realm == realm {
        SessionKey::has_ended(key)
    } else {
        has_expired(session.changed)
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: Self::VERSION,
            sessions: BTreeMap::new(),
            contexts: Conversations::default(),
            reset: false,
        }
    }
}

/// Why the state is unknown. Whatever was restricted has to be treated as still restricted
/// (docs/spec/restriction.md#fail-closed). The text is a fragment for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateUnreadable {
    /// The discarded file may have contained this session.
    #[error("it was damaged, and another session's prompt has begun a new one")]
    ThrownAway,
    /// The session's conversation is not known, and it may be a restricted one.
    #[error("which conversation this is could not be recorded")]
    NotEntered,
    /// The file cannot be read, or not trusted.
    #[error("{0}")]
    File(String),
}

impl From<StateUnreadable> for Error {
    fn from(why: StateUnreadable) -> Self {
        Self::caused("the record of active skills cannot be read", why)
            .hint("the next prompt resets it; so does `agent-skills deactivate`")
    }
}

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
    pub(super) fn read(&self) -> Result<Rc<State>, StateUnreadable> {
        let seen = self.seen.borrow().clone();
        seen.map_or_else(|| self.read_anew(), Ok)
    }

    /// As [`Store::read`], from disk.
    fn read_anew(&self) -> Result<Rc<State>, StateUnreadable> {
        let unreadable =
            |why: &dyn Display| StateUnreadable::File(format!("`{}`: {why}", self.path.display()));
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
    /// [`StateUnreadable`], also if a discarded file may have contained this session.
    pub fn session(&self, key: &SessionKey) -> Result<Session, StateUnreadable> {
        let state = self.read()?;
        let session = state.session(key)?.cloned().unwrap_or_default();
        let mut kept = state.contexts.known.values();
        if session.context.is_none() && !key.is_agents && kept.any(Session::is_restricted) {
            // The call belongs to a conversation, which may be one of these, but the host named none.
            return Err(StateUnreadable::NotEntered);
        }
        Ok(session)
    }

    /// Checks that the record can be read; returns the number of sessions in it.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn health(&self) -> Result<usize, StateUnreadable> {
        Ok(self.read()?.sessions.len())
    }

    /// Begins a session: forgets what was active in it, as a later host may have its name again, and
    /// sessions that have ended. An unreadable file is discarded; the calls of other sessions that
    /// may have been in it are then refused until they begin. Returns the activations that ended.
    ///
    /// # Errors
    /// When the state has to change and cannot be written.
    pub fn begin(&self, key: &SessionKey) -> Result<Vec<EndedActivation>> {
        // This needs no lock: only this session's own, later calls can add to it.
        let is_new = |state: Rc<State>| state.sessions.is_empty() && !state.reset;
        if self.read().is_ok_and(is_new) {
            return Ok(Vec::new());
        }
        let realm = key::pid_namespace_id();
        self.change_any(|state, unreadable| {
            state.reset |= unreadable.is_some();
            let own = state.sessions.remove(key.as_str());
            let mut ended = own.map_or_else(Vec::new, |session| {
                session.ended(key.as_str(), EndReason::NextStart)
            });
            ended.extend(state.forget_ended(&realm));
            let restricted = ended.iter().filter(|end| end.restricted);
            let over = restricted.filter_map(|end| Some((end.context.clone()?, end.skill.clone())));
            let over: Vec<_> = over.collect();
            if state.reset || !over.is_empty() {
                let session = Session {
                    realm: realm.clone(),
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
    /// need it (docs/hosts.md#hooks). With `keep`, what is kept for that conversation is
    /// restored, and what becomes active is kept for it; otherwise nothing is kept for any
    /// conversation. Returns the activations that ended. If the session's restrictions are unknown,
    /// nothing changes.
    ///
    /// # Errors
    /// When the state cannot be locked in time or written.
    pub fn enter(
        &self,
        key: &SessionKey,
        context: &str,
        keep: bool,
    ) -> Result<Vec<EndedActivation>> {
        let is_unknown = |state: Rc<State>| state.session(key).is_err();
        if self.read().map_or(true, is_unknown) {
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
        let is_named =
            |state: Rc<State>| Ok(state.session(key)?.is_some_and(|it| it.context.is_some()));
        self.read().and_then(is_named) == Ok(false)
    }

    /// The conversations that sessions are in or for which something is kept.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn contexts(&self) -> Result<BTreeSet<String>> {
        let state = self.read()?;
        let sessions = state.sessions.values();
        let of_sessions = sessions.filter_map(|session| session.context.as_ref());
        Ok(of_sessions
            .chain(state.contexts.known.keys())
            .cloned()
            .collect())
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
    ) -> Result<Vec<EndedActivation>> {
        if dry_run && (context.is_none() || self.read().is_ok()) {
            let known = self.read().unwrap_or_default();
            return Ok(forget(&mut State::clone(&known), context, stay));
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
        skills: &[ActiveSkill],
        loading: LoadMode,
        most: usize,
    ) -> Result<SessionChange> {
        self.change(key, |session| {
            let changed = session.load(skills.to_vec(), loading, most)?;
            let ended = in_session(key, changed.ended);
            Ok(SessionChange { ended, ..changed })
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
        ends_restricted: bool,
    ) -> Result<Vec<EndedActivation>> {
        self.change(key, |session| {
            let meant = |skill: &ActiveSkill| {
                dirs.is_none_or(|dirs| dirs.iter().any(|dir| dir == Path::new(&skill.dir)))
            };
            Ok(in_session(key, session.unload(meant, ends_restricted)?))
        })
    }

    /// Whether the skill in `dir` is certainly no longer active for this owner, see
    /// [`Session::owner`].
    pub fn is_over(&self, owner: &str, dir: &Path) -> bool {
        let Ok(state) = self.read() else {
            return false;
        };
        let (session, may_be_lost) = match owner.strip_prefix(OF_CONTEXT) {
            Some(context) => (state.contexts.known.get(context), false),
            // In the discarded state it may have been active.
            None => (state.sessions.get(owner), state.reset),
        };
        match session {
            Some(session) => session.active_in(dir).is_none(),
            None => !may_be_lost || SessionKey::has_ended(owner),
        }
    }

    /// The first of these processes that is the host of a live session of chibi. `None` also while the
    /// record cannot be read: then only the names of programs tell.
    pub fn host_among(&self, processes: &[ProcessId]) -> Option<ProcessId> {
        let state = self.read().ok()?;
        let is_host = |process: &ProcessId| {
            let session = state.session(&SessionKey::of_process(*process));
            let session = session.ok().flatten();
            session.is_some_and(|it| it.context.is_some() || !it.activated.is_empty())
        };
        processes.iter().copied().find(is_host)
    }

    /// Makes `wanted` always on in this session, besides what was so before, and records that this
    /// was done; `None` ends all, or says that it is not known yet which. One that is active already
    /// keeps its position. Returns what began, and what was always on before and no longer is.
    ///
    /// # Errors
    /// When something has to change and the state cannot be read, locked in time or written.
    /// Nothing has changed then.
    pub fn keep_always_on(
        &self,
        key: &SessionKey,
        wanted: Option<&[ActiveSkill]>,
    ) -> Result<SessionChange> {
        // What an unknown state has active stays active.
        if self.session(key).is_err() && wanted.is_none_or(<[_]>::is_empty) {
            return Ok(SessionChange::default());
        }
        self.change(key, |session| {
            let after = session.with_always_on(wanted);
            let gone = session.activated.iter();
            let gone = gone.filter(|skill| is_other(skill, &after.activated));
            let ended = gone.map(|skill| session.end(skill, EndReason::ContextLeft));
            let ended = in_session(key, ended.collect());
            let is_new = |skill: &&ActiveSkill| !session.active().any(|it| it.is_same_as(skill));
            let new = after.active().filter(is_new);
            let began: Vec<String> = new.map(|skill| skill.dir.clone()).collect();
            *session = after;
            Ok(SessionChange { began, ended })
        })
    }

    /// Ends what the session has active if it began at another prompt than `prompt`, or at any if
    /// that is `None`, and sessions that have ended. Asks under the lock, so that several hooks of
    /// one prompt may call it, in any order with its activations.
    ///
    /// # Errors
    /// When the state cannot be read, locked in time or written; everything stays active then.
    pub fn enter_prompt(
        &self,
        key: &SessionKey,
        prompt: Option<&str>,
    ) -> Result<Vec<EndedActivation>> {
        self.change_known(|state| {
            let mut ended = Vec::new();
            // A session without anything needs no record.
            let begins = prompt.is_some() && state.session(key).is_ok();
            let known = state.sessions.contains_key(key.as_str());
            if known || begins {
                let session = state.sessions.entry(key.as_str().to_owned()).or_default();
                if !known || prompt.is_none() || session.prompt.as_deref() != prompt {
                    ended = session.ended(key.as_str(), EndReason::NextPrompt);
                    *session = Session {
                        changed: now(),
                        prompt: prompt.map(str::to_owned),
                        ..Session::default()
                    };
                }
            }
            ended.extend(state.forget_ended(&key::pid_namespace_id()));
            Ok(ended)
        })
    }

    /// Records that the session `key` is a subagent's of the session named `main`, where its skills
    /// are: of itself nothing can have been lost.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn belongs_to(&self, key: &SessionKey, main: &str) -> Result<()> {
        self.change_known(|state| {
            let session = state.sessions.entry(key.as_str().to_owned()).or_default();
            (session.changed, session.main) = (now(), Some(main.to_owned()));
            Ok(())
        })
    }

    /// Records another identity of the prompt at which the session's skills became active.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn name_prompt(&self, key: &SessionKey, prompt: &str) -> Result<()> {
        self.change(key, |session| {
            session.prompt = Some(prompt.to_owned());
            Ok(())
        })
    }

    /// Records that an agent itself has made the skill in `dir` active.
    ///
    /// # Errors
    /// As [`Store::load`]; the skill then grants nothing.
    pub fn confirm(&self, key: &SessionKey, dir: &Path) -> Result<()> {
        self.change(key, |session| {
            if session.active_in(dir).is_some() {
                session.confirmed.insert(dir.display().to_string());
            }
            Ok(())
        })
    }

    /// Changes what is known of this session.
    ///
    /// # Errors
    /// As [`Store::load`], and what `edit` fails with.
    pub fn change<T>(
        &self,
        key: &SessionKey,
        edit: impl Fn(&mut Session) -> Result<T>,
    ) -> Result<T> {
        self.change_session(key, |session, _| edit(session))
    }

    fn change_session<T>(
        &self,
        key: &SessionKey,
        edit: impl Fn(&mut Session, &mut Conversations) -> Result<T>,
    ) -> Result<T> {
        self.change_known(|state| {
            let known = state.session(key)?.cloned();
            let before = known.unwrap_or_else(|| Session {
                realm: key::pid_namespace_id(),
                ..Session::default()
            });
            let mut session = before.clone();
            let result = edit(&mut session, &mut state.contexts)?;
            // An entry means that the session's activations are known.
            if session != before {
                session.changed = now();
                state.contexts.keep(&session, &before.activated)?;
                state.sessions.insert(key.as_str().to_owned(), session);
            }
            Ok(result)
        })
    }

    /// Changes the state under the lock, if it can be read.
    fn change_known<T>(&self, edit: impl Fn(&mut State) -> Result<T>) -> Result<T> {
        self.change_any(|state, unreadable| match unreadable {
            Some(unreadable) => Err(unreadable.into()),
            None => edit(state),
        })
    }

    /// Changes the state under the lock, for which `edit` may run twice: what would change nothing takes
    /// no lock. If the state cannot be read, `edit` gets the error and an empty one.
    fn change_any<T>(
        &self,
        edit: impl Fn(&mut State, Option<StateUnreadable>) -> Result<T>,
    ) -> Result<T> {
        if let Ok(known) = self.read() {
            let mut state = State::clone(&known);
            let result = edit(&mut state, None)?;
            if state == *known {
                return Ok(result);
            }
        }
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
fn forget(state: &mut State, context: Option<&str>, stay: &[&str]) -> Vec<EndedActivation> {
    let mut ended = Vec::new();
    // The user says that nothing is active, in sessions that a discarded file may have had either.
    state.reset &= context.is_some();
    for (key, session) in &mut state.sessions {
        if context.is_none() || session.context.as_deref() == context {
            let always = std::mem::take(&mut session.always);
            let stays = |skill: &ActiveSkill| {
                always.contains(&skill.dir) && stay.contains(&skill.name.as_str())
            };
            let activated = std::mem::take(&mut session.activated).into_iter();
            let (stay, ends) = activated.partition(stays);
            session.activated = ends;
            ended.extend(session.ended(key, EndReason::Deactivated));
            session.activated = stay;
            let dirs = session.activated.iter().map(|skill| skill.dir.clone());
            session.always = dirs.collect();
        }
    }
    ended.extend(state.contexts.forget(context));
    ended
}

#[cfg(test)]
mod tests;
