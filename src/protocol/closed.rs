//! What each kind of host call answers when it fails, and how long it may take. The answers exist
//! before anything is read (law 11, docs/spec/README.md#laws) and need no memory, file or
//! configuration.

use std::time::Duration;

use crate::host::Protocol;
use crate::protocol::Response;
use crate::sys::last_word::{self, LastWord, NEUTRAL};
use crate::sys::{limits, signals};

/// The kind of call, which is known before its data is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind<'a> {
    /// The host asks for the tools (`--schema`).
    Schema,
    /// The hook with this name.
    Hook(&'a [u8]),
    /// A tool. Hosts differ in whether they time out (docs/spec/hosts.md#time-limits).
    Tool(Protocol),
    /// A hook of another agent.
    Agent,
    /// A person's command.
    Person,
}

/// An agent other than chibi takes this exit status for a refusal (docs/hosts.md#when-it-fails).
pub const REFUSED: u8 = 2;

/// Whatever the event: Claude Code, Codex and Qwen Code block on 2 alone, Gemini CLI on 2 and more,
/// Copilot and our plugin in opencode on anything but 0.
const NOT_JUDGED: LastWord = LastWord::refusing(
    "agent-skills failed while checking this call, so it is not allowed. Tell the user.\n",
    REFUSED as i32,
);

const BLOCKED: LastWord = LastWord::answering(
    r#"{"block":true,"message":"The call is not allowed: agent-skills failed while checking it. Tell the user."}"#,
    true,
);

const DENIED: LastWord = LastWord::answering(
    r#"{"denied":true,"reason":"agent-skills failed while checking the call"}"#,
    true,
);

/// For hooks that decide nothing, and for calls that nothing restricts.
const NOTHING: LastWord = LastWord::answering(NEUTRAL, false);

/// No restriction applies: a call that cannot be checked is permitted, but an answer already
/// computed must still arrive.
const PERMITTED: LastWord = LastWord::answering(NEUTRAL, true);

const FAILED: LastWord = LastWord::answering(
    "Error: agent-skills failed while answering this call\ntell the user: standard error says more",
    false,
);

/// One tool that carries the hooks: without any tool the host would drop the plugin, and its
/// restrictions with it.
const LEAST_SCHEMA: LastWord = LastWord::answering(
    concat!(
        r#"[{"name":"skill_marketplace","description":"Manages Agent Skills; it failed to start, tell the "#,
        r#"user.","parameters":{"type":"object","properties":{},"required":[]},"hooks":["on_start","#,
        r#""pre_message","post_system_prompt","pre_api_tools","pre_tool","pre_tool_output","pre_cache_output","#,
        r#""pre_shell_exec","pre_file_write","pre_file_read","pre_fetch_url"]}]"#
    ),
    false,
);

impl<'a> Kind<'a> {
    /// The kind of call without arguments that the environment describes: its hook, and whether it
    /// has a tool's arguments and name. What could be a hook that decides is one, whatever else is
    /// set: as anything else its answer would permit the call.
    pub fn described(hook: Option<&'a [u8]>, has_arguments: bool, has_tool: bool) -> Self {
        match hook.map(Self::Hook) {
            Some(hook) if hook.word().decides || !has_arguments => hook,
            _ if has_arguments => Self::Tool(Protocol::Environment),
            _ if has_tool => Self::Tool(Protocol::Stdin),
            _ => Self::Person,
        }
    }

    /// The refusal by a hook that decides, for this reason.
    pub fn refusal(self, why: &str) -> Response {
        match self {
            Self::Hook(b"pre_tool") => Response::block(&format!("The call is not allowed: {why}.")),
            _ => Response::denied(why),
        }
    }

    /// The answer if this call of a host fails.
    pub fn word(self) -> &'static LastWord {
        match self {
            Self::Hook(b"pre_tool") => &BLOCKED,
            Self::Hook(
                b"pre_shell_exec" | b"pre_file_write" | b"pre_file_read" | b"pre_fetch_url",
            ) => &DENIED,
            Self::Hook(_) => &NOTHING,
            Self::Tool(_) | Self::Person => &FAILED,
            Self::Agent => &NOT_JUDGED,
            Self::Schema => &LEAST_SCHEMA,
        }
    }

    /// The deadline of the whole call. `None` for a tool of a host without a time limit: its script
    /// has its own limit, which may be hours.
    fn deadline(self) -> Option<Duration> {
        match self {
            // Scripts of skills run in the first four.
            Self::Hook(
                b"on_start" | b"on_end" | b"pre_message" | b"post_system_prompt" | b"pre_api_tools",
            )
            | Self::Tool(Protocol::Stdin)
            | Self::Schema => Some(limits::CALL_DEADLINE),
            Self::Hook(_) | Self::Agent => Some(limits::DECISION_DEADLINE),
            Self::Tool(Protocol::Environment) | Self::Person => None,
        }
    }

    /// How long reading standard input may take.
    pub fn patience(self) -> Duration {
        match self.deadline() {
            Some(limits::DECISION_DEADLINE) => limits::STDIN_DECISION,
            _ => limits::STDIN_TOTAL,
        }
    }

    /// From here on, any failure of a host's call ends it with its prepared answer.
    pub fn prepare(self) {
        match self {
            Self::Person => last_word::stand_down(),
            _ => last_word::prepare(self.word(), self.deadline()),
        }
    }
}

/// Prepares for the call that the environment describes, before `main`; the arguments are not
/// available yet. If they show a person's command, in a shell that inherited a call's variables,
/// this is undone later.
pub fn prepare_early() {
    let is_set = |name| signals::variable(name).is_some();
    let hook = signals::variable(c"CHIBI_HOOK").map(std::ffi::CStr::to_bytes);
    Kind::described(hook, is_set(c"CHIBI_TOOL_ARGS"), is_set(c"CHIBI_TOOL_NAME")).prepare();
}

/// Records that no skill restricts and no policy denies. A failure from here on permits the call
/// instead of refusing it.
pub fn nothing_is_in_force() {
    last_word::replace(&PERMITTED);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::schema::HOOKS;
    use serde_json::{Value, json};

    #[test]
    fn every_prepared_answer_is_what_its_host_reads() {
        let answer = |kind: Kind| kind.word().answer;
        let hook = |name: &'static str| -> Value {
            serde_json::from_str(answer(Kind::Hook(name.as_bytes()))).unwrap()
        };
        assert_eq!(hook("pre_tool")["block"], json!(true));
        for name in [
            "pre_shell_exec",
            "pre_file_write",
            "pre_file_read",
            "pre_fetch_url",
        ] {
            assert_eq!(hook(name)["denied"], json!(true), "{name}");
        }
        for name in ["on_start", "post_system_prompt", "", "other"] {
            assert_eq!(hook(name), json!({}), "{name}");
        }
        assert!(answer(Kind::Tool(Protocol::Stdin)).starts_with("Error: "));
        let schema: Value = serde_json::from_str(answer(Kind::Schema)).unwrap();
        assert_eq!(schema.as_array().unwrap().len(), 1);
    }

    #[test]
    fn an_answer_goes_out_in_one_piece() {
        // A pipe takes this many bytes in one write, even with several writers (POSIX).
        for kind in [
            Kind::Hook(b"pre_tool"),
            Kind::Hook(b"pre_file_read"),
            Kind::Schema,
        ] {
            assert!(kind.word().answer.len() <= 512);
        }
    }

    #[test]
    fn the_host_is_answered_before_it_gives_up() {
        let host = Duration::from_secs(30);
        assert_eq!(limits::CALL_DEADLINE + Duration::from_secs(3), host);
        assert_eq!(limits::DECISION_DEADLINE, Duration::from_secs(5));
        assert_eq!(limits::STDIN_DECISION, Duration::from_secs(4));
        assert!(limits::HOOK_LOCK < limits::DECISION_DEADLINE);
        assert!(limits::STDIN_TOTAL < limits::CALL_DEADLINE);
        assert!(Duration::from_secs(limits::HOST_CALL_SECONDS) < limits::CALL_DEADLINE);
    }

    #[test]
    fn each_hook_has_the_deadline_of_what_it_does() {
        let deadlines = [
            ("on_start", limits::CALL_DEADLINE),
            ("on_end", limits::CALL_DEADLINE),
            ("pre_message", limits::CALL_DEADLINE),
            ("post_system_prompt", limits::CALL_DEADLINE),
            ("pre_api_tools", limits::CALL_DEADLINE),
            ("pre_tool", limits::DECISION_DEADLINE),
            ("pre_tool_output", limits::DECISION_DEADLINE),
            ("pre_cache_output", limits::DECISION_DEADLINE),
            ("pre_shell_exec", limits::DECISION_DEADLINE),
            ("pre_file_write", limits::DECISION_DEADLINE),
            ("pre_file_read", limits::DECISION_DEADLINE),
            ("pre_fetch_url", limits::DECISION_DEADLINE),
            ("unknown", limits::DECISION_DEADLINE),
        ];
        for (hook, deadline) in deadlines {
            let kind = Kind::Hook(hook.as_bytes());
            assert_eq!(kind.deadline(), Some(deadline), "{hook}");
        }
        for hook in HOOKS {
            assert!(deadlines.iter().any(|(known, _)| *known == hook), "{hook}");
        }
        let tool = |protocol| Kind::Tool(protocol).deadline();
        assert_eq!(tool(Protocol::Stdin), Some(limits::CALL_DEADLINE));
        assert_eq!(tool(Protocol::Environment), None);
    }
}
