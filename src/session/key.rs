//! Identifies the session. One run of the host is one process, the parent of every call in that run
//! (docs/hosts.md#sessions), so the session is identified by that process.

use std::time::Duration;

use crate::host::{Agent, Protocol};
use crate::sys::process::{self, ProcessId};
use crate::sys::{Env, UnixMillis};

/// Age at which a session named by `AGENT_SKILLS_SESSION` expires: it has no process whose end
/// could be detected.
const NAMED_SESSION_AGE: Duration = Duration::from_hours(7 * 24);

/// Prefix of the key of a named session.
const NAMED: &str = "named:";

/// The key of a session in the state file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionKey {
    text: String,
    process: Option<ProcessId>,
    /// Whether it is a session of another agent than chibi, which names no conversations.
    pub(super) is_agents: bool,
}

impl SessionKey {
    /// The session of this call: `AGENT_SKILLS_SESSION` if set (for wrappers between host and
    /// plugin, and for tests), else the parent process.
    pub fn of_call(env: &Env) -> Self {
        let name = env.text("AGENT_SKILLS_SESSION");
        match name.filter(|name| !name.is_empty()) {
            Some(name) => Self::named(&name),
            None => Self::of_process(ProcessId::parent()),
        }
    }

    /// The session of this name.
    pub fn named(name: &str) -> Self {
        Self {
            text: format!("{NAMED}{name}"),
            process: None,
            is_agents: false,
        }
    }

    /// The session of another agent.
    pub fn of_agent(agent: Agent, session: &str) -> Self {
        Self {
            is_agents: true,
            ..Self::named(&format!("{agent}/{session}"))
        }
    }

    /// The session of this process.
    pub(super) fn of_process(process: ProcessId) -> Self {
        Self {
            text: format!("{}-{}", process.pid, process.start),
            process: Some(process),
            is_agents: false,
        }
    }

    /// The key as written in the state file.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host of this call, our parent process: jobs of its calls end with it. `None` for a
    /// person's command, whose jobs may outlive the shell.
    pub fn host(&self, protocol: Option<Protocol>) -> Option<ProcessId> {
        protocol.and_then(|_| self.process.or_else(|| Some(ProcessId::parent())))
    }

    /// Whether an entry written in `realm` can be this session's. The key of a process is valid
    /// only in its realm, a name everywhere.
    pub fn is_here(&self, realm: &str) -> bool {
        self.process.is_none() || realm == self::pid_namespace_id()
    }

    /// The name in a key of the state file; `None` if it identifies a process.
    pub fn name(text: &str) -> Option<&str> {
        text.strip_prefix(NAMED)
    }

    /// Whether the process that a key of the state file identifies is known to have ended. Only
    /// keys of this realm can be checked, and a named session has no process.
    pub fn has_ended(text: &str) -> bool {
        let process = text.split_once('-').and_then(|(pid, start)| {
            Some(ProcessId {
                pid: pid.parse().ok()?,
                start: start.parse().ok()?,
            })
        });
        process.is_some_and(|process| !process.is_alive())
    }
}

/// The realm of this process's ids, see [`process::pid_realm`].
pub(super) fn pid_namespace_id() -> String {
    process::pid_realm().to_owned()
}

/// Whether what was last known at this time, in seconds since 1970, no longer counts, if there is
/// no process to ask.
pub(super) fn has_expired(known: u64) -> bool {
    known.saturating_add(NAMED_SESSION_AGE.as_secs()) < now()
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    UnixMillis::now().0 / 1000
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_name_overrides_the_parent_and_an_empty_one_does_not() {
        let key =
            |name| SessionKey::of_call(&Env::new([("AGENT_SKILLS_SESSION", name)], Path::new("/")));
        assert_eq!(key("a").as_str(), "named:a");
        assert_eq!(key("a").process, None);
        assert_eq!(key(""), SessionKey::of_process(ProcessId::parent()));
    }

    #[test]
    fn only_a_process_that_is_gone_has_ended() {
        assert!(!SessionKey::has_ended(
            SessionKey::of_process(ProcessId::current()).as_str()
        ));
        assert!(!SessionKey::has_ended("named:1-2"));
        assert!(
            SessionKey::has_ended("4194304-1"),
            "over the largest process id"
        );
    }
}
