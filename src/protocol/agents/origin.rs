//! Where a call of an agent comes from: its directories, its session, and when the last one came.

use std::time::Duration;

use super::event::Event;
use crate::facts::Facts;
use crate::host::Agent;
use crate::host::agent::Mode;
use crate::host::agent::table::Started;
use crate::run_context::Calling;
use crate::session::{Session, SessionKey};
use crate::sys::{Dir, EntryName, Env, warn};

/// How exactly it is recorded when an agent last called.
const MINUTE: Duration = Duration::from_mins(1);

/// The context of a call, for as long as this process runs.
pub fn leaked(env: Env, calling: Calling) -> &'static Facts {
    Box::leak(Box::new(Facts::of_agent(env, calling)))
}

/// The context of the call: where it begins, and in which session.
pub fn context(env: Env, agent: Agent, mode: Option<Mode>, event: &Event) -> &'static Facts {
    let table = agent.table();
    // A directory that a command changed to must not decide which project this is.
    let (names, is_there) = match table.started {
        Started::There(names) => (names, true),
        Started::Told(names) => (names, false),
    };
    let set = names.iter().filter_map(|name| env.path(name));
    let told = event.cwd.clone().filter(|_| !is_there);
    let mut known = set.chain(told).filter(|path| path.is_absolute());
    let begin = known.next().unwrap_or_else(|| env.cwd.clone());
    let calling = Calling {
        session: event.session.clone(),
        mode,
        model: event.model.clone(),
        version: event.version.clone(),
        ..Calling::of(agent)
    };
    let facts = leaked(env.in_directory(begin, None), calling.clone());
    // The session that started this subagent may be a subagent's as well.
    match main_session(facts, agent, event) {
        Some(session) => leaked(facts.run.env.clone(), Calling { session, ..calling }),
        None => facts,
    }
}

/// The main agent's session, if the one that started this subagent is another's. Records to which the
/// subagent's own belongs. An unreadable record refuses the call later.
fn main_session(facts: &Facts, agent: Agent, event: &Event) -> Option<String> {
    let own = event.own_session.as_deref()?;
    let store = facts.store();
    let above = store.session(facts.key()).ok()?.main;
    let main = above.as_deref().unwrap_or(&event.session);
    let key = SessionKey::of_agent(agent, own);
    let is_known = |session: Session| session.main.as_deref() == Some(main);
    if !store.session(&key).is_ok_and(is_known)
        && let Err(error) = store.belongs_to(&key, main)
    {
        warn(format_args!("{error}"));
    }
    above
}

/// Records when this agent last called, to the minute: by the time of a file, which `hosts` and
/// `doctor` show.
pub fn note_seen(facts: &Facts, agent: Agent) {
    const HOSTS: EntryName = EntryName::from_static("hosts");
    let name = format!("{agent}.seen");
    let noted = facts.state().join("hosts").join(&name).metadata();
    let age = noted
        .and_then(|noted| noted.modified())
        .map(|at| at.elapsed());
    if age.is_ok_and(|age| age.is_ok_and(|age| age < MINUTE)) {
        return;
    }
    let Some(name) = EntryName::parse(std::ffi::OsStr::new(&name)) else {
        return;
    };
    // If this fails, it is only not known.
    let dir = Dir::make_anchor(facts.state()).and_then(|dir| dir.make_dir(&HOSTS));
    if let Ok((file, _)) = dir.and_then(|dir| dir.append(&name, 0o600)) {
        let _ = file.set_modified(std::time::SystemTime::now());
    }
}
