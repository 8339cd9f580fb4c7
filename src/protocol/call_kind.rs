//! What each kind of host call answers when it fails, and how long it may take. The answers exist
//! before anything is read (law 11, docs/spec/README.md#laws) and need no memory, file or
//! configuration.

use std::time::Duration;

use crate::host::Protocol;
use crate::protocol::Response;
use crate::sys::fallback_answer::{self, FallbackAnswer};
use crate::sys::limits;

/// The kind of call, which is known before its data is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind<'a> {
    /// The host asks for the tools (`--schema`).
    Schema,
    /// The hook with this name.
    Hook(&'a [u8]),
    /// A tool. Hosts differ in whether they time out (docs/hosts.md#time-limits).
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
const NOT_JUDGED: FallbackAnswer = FallbackAnswer::refusing(
    "agent-skills failed while checking this call, so it is not allowed. Tell the user.\n",
    REFUSED,
);

const BLOCKED: FallbackAnswer = FallbackAnswer::answering(
    r#"{"block":true,"message":"The call is not allowed: agent-skills failed while checking it. Tell the user."}"#,
);

const DENIED: FallbackAnswer = FallbackAnswer::answering(
    r#"{"denied":true,"reason":"agent-skills failed while checking the call"}"#,
);

/// For hooks that decide nothing, and for calls that nothing restricts.
const NOTHING: FallbackAnswer = FallbackAnswer::answering("{}");

const FAILED: FallbackAnswer = FallbackAnswer::answering(
    "Error: agent-skills failed while answering this call\ntell the user: standard error says more",
);

/// One tool that carries the hooks: without any tool the host would drop the plugin, and its
/// restrictions with it.
const LEAST_SCHEMA: FallbackAnswer = FallbackAnswer::answering(concat!(
    r#"[{"name":"skill_marketplace","description":"Manages Agent Skills; it failed to start, tell the "#,
    r#"user.","parameters":{"type":"object","properties":{},"required":[]},"hooks":["on_start","#,
    r#""pre_message","post_system_prompt","pre_api_tools","pre_tool","pre_tool_output","pre_cache_output","#,
    r#""pre_shell_exec","pre_file_write","pre_file_read","pre_fetch_url"]}]"#
));

impl<'a> CallKind<'a> {
    /// The kind of call without arguments that the environment describes: its hook, and whether it
    /// has a tool's arguments and name. What could be a hook that decides is one, whatever else is
    /// set: as anything else its answer would permit the call.
    pub fn described(hook: Option<&'a [u8]>, has_arguments: bool, has_tool: bool) -> Self {
        match hook.map(Self::Hook) {
            Some(hook) if hook.decides() || !has_arguments => hook,
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

    /// Whether it is a hook whose missing answer the host treats as permission.
    pub fn decides(self) -> bool {
        [&BLOCKED, &DENIED].contains(&self.fallback())
    }

    /// The answer if this call of a host fails.
    pub fn fallback(self) -> &'static FallbackAnswer {
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

    /// From here on, any failure of a host's call ends it with its prepared answer.
    pub fn prepare(self) {
        if self != Self::Person {
            fallback_answer::prepare(self.fallback(), self.deadline());
        }
    }
}

/// Records that no skill restricts and no policy denies. A failure from here on permits the call
/// instead of refusing it.
pub fn nothing_is_in_force() {
    fallback_answer::replace(&NOTHING);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::schema::HOOKS;
    use serde_json::{Value, json};

    #[test]
    fn every_prepared_answer_is_what_its_host_reads() {
        let answer = |kind: CallKind| kind.fallback().answer;
        let hook = |name: &'static str| -> Value {
            serde_json::from_str(answer(CallKind::Hook(name.as_bytes()))).unwrap()
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
        assert!(answer(CallKind::Tool(Protocol::Stdin)).starts_with("Error: "));
        let schema: Value = serde_json::from_str(answer(CallKind::Schema)).unwrap();
        assert_eq!(schema.as_array().unwrap().len(), 1);
    }

    #[test]
    fn an_answer_goes_out_in_one_piece() {
        // A pipe takes this many bytes in one write, even with several writers (POSIX).
        for kind in [
            CallKind::Hook(b"pre_tool"),
            CallKind::Hook(b"pre_file_read"),
            CallKind::Schema,
        ] {
            assert!(kind.fallback().answer.len() <= 512);
        }
    }

    #[test]
    fn the_host_is_answered_before_it_gives_up() {
        let host = Duration::from_secs(30);
        assert_eq!(limits::CALL_DEADLINE + Duration::from_secs(3), host);
        assert_eq!(limits::DECISION_DEADLINE, Duration::from_secs(5));
        assert!(limits::HOOK_LOCK < limits::DECISION_DEADLINE);
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
            let kind = CallKind::Hook(hook.as_bytes());
            assert_eq!(kind.deadline(), Some(deadline), "{hook}");
        }
        for hook in HOOKS.iter() {
            assert!(deadlines.iter().any(|(known, _)| *known == hook), "{hook}");
        }
        let tool = |protocol| CallKind::Tool(protocol).deadline();
        assert_eq!(tool(Protocol::Stdin), Some(limits::CALL_DEADLINE));
        assert_eq!(tool(Protocol::Environment), None);
    }
}
