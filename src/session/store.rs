//! The state on disk: read without a lock, changed under a lock, replaced as a whole.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::active::{ActiveSkill, End, Ended, OF_CONTEXT, Session};
use super::contexts::{Contexts, Entering};
use super::key::{self, SessionKey, has_expired, now};
use super::loading::{Changed, Loading, in_session};
use super::record::Record;
use super::state::{Reset, State, Unreadable};
use crate::error::{Error, Result};
use crate::skill::Skill;
use crate::sys::process::ProcessId;
use crate::sys::{Dir, Directories, EntryName, Env, files, limits};

const LOCK: EntryName = EntryName::from_static("state.lock");

/// The store of the state.
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) record: Record,
}

impl Store {
    /// The store of this installation.
    pub fn from_env(dirs: &Directories, env: &Env) -> Self {
        Self {
            record: Record::from_env(dirs, env),
        }
    }

    /// The store in `dir`, without a second copy.
    #[cfg(test)]
    pub(super) fn at(dir: &Path) -> Self {
        Self {
            record: Record::at(dir),
        }
    }

    /// The directory of the state.
    pub fn dir(&self) -> &Path {
        let path = self.record.path();
        path.parent().unwrap_or(path)
    }

    /// The state of this session; empty if it is new. Takes no lock: the file is always complete.
    ///
    /// # Errors
    /// [`Unreadable`], also if a discarded file may have contained this session.
    pub fn session(&self, key: &SessionKey) -> Result<Session, Unreadable> {
        // Before the state: whoever records what it says removes it afterwards.
        let entering = self.entering(key)?;
        let state = self.record.read()?.unwrap_or_default();
        let mut session = match state.session(key) {
            Some(session) => session.clone(),
            None if state.may_have_lost(key) => return Err(Unreadable::ThrownAway),
            None => Session::default(),
        };
        if let Some(entering) = entering {
            entering.apply(&mut session, &state.contexts);
        }
        match &session.context {
            Some(context) if session.kept && state.contexts.is_doubted(context) => {
                Err(Unreadable::Lost)
            }
            // The call belongs to a conversation, but the host named none.
            None if state.contexts.restrict() => Err(Unreadable::NotEntered),
            _ => Ok(session),
        }
    }

    /// Checks that the record can be read; returns the number of sessions in it.
    ///
    /// # Errors
    /// The unreadable file, and why.
    pub fn health(&self) -> Result<usize, (PathBuf, Unreadable)> {
        let state = self.record.read();
        let state = state.map_err(|why| (self.record.path().to_owned(), why))?;
        Ok(state.map_or(0, |state| state.sessions.len()))
    }

    /// The copy of the record that is missing or differs, and why; `None` if both agree or there is
    /// nothing to keep.
    pub fn lacks_copy(&self) -> Option<(PathBuf, String)> {
        self.record.lacks()
    }

    /// Begins a session: forgets what was active in it if it is a named one, whose name a later host
    /// may have again, and sessions that have ended. An unreadable file is discarded; the calls of
    /// other sessions that may have been in it are then refused.
    /// Returns the activations that ended.
    ///
    /// # Errors
    /// When the state has to change and cannot be written.
    pub fn begin(&self, key: &SessionKey) -> Result<Vec<Ended>> {
        // A host starts once: whoever imitates its start must not end what it has active.
        let is_again = key.process().is_none();
        if is_again {
            let _ = files::remove(&key.left_mark(self.record.path()));
        }
        // This needs no lock: only this session's own, later calls can add to it.
        let nothing_to_do = match self.record.read() {
            Ok(None) => true,
            Ok(Some(state)) => state.sessions.is_empty() && state.reset.is_none(),
            Err(_) => false,
        };
        if nothing_to_do {
            return Ok(Vec::new());
        }
        let realm = key::realm();
        self.change(|state, unreadable| {
            if unreadable.is_some() {
                *state = State {
                    reset: Some(Reset::now()),
                    contexts: Contexts::lost(),
                    ..State::default()
                };
            }
            let mut ended = Vec::new();
            state.sessions.retain(|other, session| {
                let why = if other == key.as_str() {
                    if !is_again {
                        return true;
                    }
                    End::NextStart
                } else if is_over(other, session, &realm) {
                    End::HostGone
                } else {
                    return true;
                };
                ended.extend(session.ended(other, why));
                false
            });
            state.reset.take_if(|reset| reset.realm != realm);
            if state.may_have_lost(key) {
                let session = state.sessions.entry(key.as_str().to_owned());
                let session = session.or_default();
                (session.realm, session.changed) = (realm, now());
            }
            Ok(ended)
        })
    }

    /// Forgets what is active in one conversation, or in all, whether or not a host serves it, except
    /// always-on skills of the names in `stay`. Only
    /// at the user's request. Returns the activations that ended, or would in a dry run.
    ///
    /// # Errors
    /// When the state cannot be read, locked in time or written. Nothing has changed then.
    pub fn deactivate(
        &self,
        context: Option<&str>,
        dry_run: bool,
        stay: &[&str],
    ) -> Result<Vec<Ended>> {
        match self.record.read() {
            Ok(None) => Ok(Vec::new()),
            Ok(Some(state)) if dry_run => Ok(forget(&mut State::clone(&state), context, stay)),
            _ => self.change_known(|state| Ok(forget(state, context, stay))),
        }
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
        self.change_session(key, |session, _| {
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
        self.change_session(key, |session, _| {
            let meant = |skill: &ActiveSkill| {
                dirs.is_none_or(|dirs| dirs.iter().any(|dir| dir == Path::new(&skill.dir)))
            };
            let ended = session.unload(meant, restricted_too)?;
            Ok(in_session(key, ended))
        })
    }

    /// Undoes the activation of a skill, see [`Session::withdraw`]. Returns its end, if it ended.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn withdraw(&self, key: &SessionKey, dir: &Path) -> Result<Vec<Ended>> {
        self.change_session(key, |session, _| {
            Ok(in_session(key, session.withdraw(&dir.to_string_lossy())))
        })
    }

    /// Whether the skill in `dir` is certainly no longer active for this owner, see
    /// [`Session::owner`].
    pub fn is_over(&self, owner: &str, dir: &Path) -> bool {
        let Ok(state) = self.record.read() else {
            return false;
        };
        let state = state.unwrap_or_default();
        if let Some(context) = owner.strip_prefix(OF_CONTEXT) {
            return state.contexts.is_over(context, &dir.to_string_lossy());
        }
        match state.sessions.get(owner) {
            Some(session) => session.active_in(dir).is_none(),
            // In the discarded state it may have been active.
            None => state.reset.is_none() || SessionKey::has_ended(owner),
        }
    }

    /// The first of these processes that is the host of a live session of chibi. `None` also while the
    /// record cannot be read: then only the names of programs tell.
    pub fn host_among(&self, processes: &[ProcessId]) -> Option<ProcessId> {
        let state = self.record.read().ok()??;
        let realm = key::realm();
        let is_host = |process: &ProcessId| {
            let key = SessionKey::of_process(*process);
            let mut live = state
                .sessions
                .iter()
                .filter(|(_, session)| session.is_live());
            live.any(|(other, session)| {
                let is_its = session.host == Some(*process) || other == key.as_str();
                is_its && session.realm == realm
            })
        };
        processes.iter().copied().find(is_host)
    }

    /// Records that the model was handed the instructions of these active skills, with these
    /// arguments.
    ///
    /// # Errors
    /// When that cannot be recorded. The instructions are then handed over again.
    pub fn handed(&self, key: &SessionKey, handed: &[(&Skill, Option<&str>)]) -> Result<()> {
        self.change_session(key, |session, _| {
            for active in &mut session.activated {
                let is_it = |(skill, _): &&(&Skill, _)| skill.dir == Path::new(&active.dir);
                if let Some((_, arguments)) = handed.iter().find(is_it) {
                    active.hand(*arguments);
                }
            }
            Ok(())
        })
    }

    /// Records which tools belong to MCP servers, and whether the host has one for sub-agents, as
    /// far as that matters.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn remember_tools(
        &self,
        key: &SessionKey,
        mcp_tools: BTreeSet<String>,
        sub_agents: Option<bool>,
    ) -> Result<()> {
        self.change_session(key, |session, _| {
            session.mcp_tools = mcp_tools;
            session.sub_agents = sub_agents;
            Ok(())
        })
    }

    pub(super) fn change_session<T>(
        &self,
        key: &SessionKey,
        edit: impl FnOnce(&mut Session, &mut Contexts) -> Result<T>,
    ) -> Result<T> {
        self.change_entering(key, None, |session, contexts| {
            let doubted = |context: &String| session.kept && contexts.is_doubted(context);
            if session.context.as_ref().is_some_and(doubted) {
                return Err(Unreadable::Lost.into());
            }
            edit(session, contexts)
        })
    }

    /// As [`Store::change_session`], even if what the conversation had active was lost, and after
    /// `entering` a conversation; by default the one that could not be recorded before.
    pub(super) fn change_entering<T>(
        &self,
        key: &SessionKey,
        entering: Option<Entering>,
        edit: impl FnOnce(&mut Session, &mut Contexts) -> Result<T>,
    ) -> Result<T> {
        let mut was_missed = false;
        let result = self.change_known(|state| {
            // An entry would mean that the session's activations are known (see `session`).
            if !state.sessions.contains_key(key.as_str()) && state.may_have_lost(key) {
                return Err(Unreadable::ThrownAway.into());
            }
            let session = state.sessions.entry(key.as_str().to_owned()).or_default();
            if !key.is_here(&session.realm) {
                *session = Session {
                    realm: key::realm(),
                    ..Session::default()
                };
            }
            session.changed = now();
            session.note_host(key);
            let entering = entering.map_or_else(|| self.entering(key), |it| Ok(Some(it)))?;
            if let Some(entering) = entering {
                was_missed = true;
                entering.apply(session, &state.contexts);
            }
            let before = session.activated.clone();
            let result = edit(session, &mut state.contexts)?;
            state.contexts.keep(session, &before)?;
            Ok(result)
        })?;
        if was_missed {
            let _ = files::remove(&key.left_mark(self.record.path()));
        }
        Ok(result)
    }

    /// Changes the state under the lock, if it can be read.
    pub(super) fn change_known<T>(&self, edit: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        self.change(|state, unreadable| match unreadable {
            Some(unreadable) => Err(unreadable.into()),
            None => edit(state),
        })
    }

    /// Changes the state under the lock. If it cannot be read, `edit` gets the error and an empty
    /// state.
    pub(super) fn change<T>(
        &self,
        edit: impl FnOnce(&mut State, Option<Unreadable>) -> Result<T>,
    ) -> Result<T> {
        let dir = self.dir();
        let made = Dir::make_anchor(dir).map_err(|source| Error::io("create", dir, &source))?;
        let _lock = made.lock(&LOCK, limits::HOOK_LOCK)?;
        let (before, unreadable) = match self.record.read_anew() {
            Ok(state) => (state.unwrap_or_default(), None),
            Err(unreadable) => (Rc::default(), Some(unreadable)),
        };
        let mut state = State::clone(&before);
        let reset = unreadable.is_some();
        let result = edit(&mut state, unreadable)?;
        if state != *before || reset {
            self.record.write(state)?;
        }
        Ok(result)
    }
}

/// Ends what is active in one conversation, or in all. Always-on skills of the names in `stay` do.
pub(super) fn forget(state: &mut State, context: Option<&str>, stay: &[&str]) -> Vec<Ended> {
    let mut ended = Vec::new();
    // The user says that nothing is active, in sessions that a discarded file may have had either.
    state.reset.take_if(|_| context.is_none());
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

/// Whether a session cannot come back. Without a process to check, as in another realm, its age
/// decides.
pub(super) fn is_over(key: &str, session: &Session, realm: &str) -> bool {
    if SessionKey::name(key).is_none() && session.realm == realm {
        return SessionKey::has_ended(key);
    }
    let is_there = |host: ProcessId| session.realm == realm && host.is_alive();
    !session.host.is_some_and(is_there) && has_expired(session.changed)
}

#[cfg(test)]
mod tests;
