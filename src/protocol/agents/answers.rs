//! An agent's answer, in its own form. A field that an agent does not know can make it ignore the
//! whole answer, so none has more than it needs.

use serde_json::{Value, json};

use super::event::Event;
use crate::host::agent::table::{Form, Moment};
use crate::protocol::Response;
use crate::protocol::judge::Verdict;

/// What an agent is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// What was decided about the call.
    Verdict(Verdict),
    /// It goes on with these arguments.
    With(Value),
}

impl Answer {
    /// The agent goes on as it would without us.
    pub const SILENCE: Self = Self::Verdict(Verdict::Allow);
}

/// The answer in the agent's form.
pub fn answer(form: Form, event: &Event, answer: Answer) -> Response {
    let is_tools = event.moment == Moment::BeforeTool;
    let decided = |decision: &str, reason: String| {
        json!({"hookSpecificOutput": {
            "hookEventName": event.name,
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }})
    };
    let verdict = match (form, answer) {
        (_, Answer::Verdict(verdict)) => verdict,
        // Our own plugin in opencode.
        (Form::Decision, Answer::With(arguments)) if event.name == "tool.execute.before" => {
            return Response::json(&json!({"args": arguments}));
        }
        (Form::Decision, Answer::With(arguments)) => {
            return Response::json(&json!({
                "hookSpecificOutput": {"hookEventName": event.name, "tool_input": arguments},
            }));
        }
        (_, Answer::With(_)) => Verdict::Allow,
    };
    let answer = match (form, verdict) {
        (Form::Claude { .. }, Verdict::Refuse(why)) if is_tools => decided("deny", why.model),
        (Form::Claude { .. }, Verdict::Refuse(why)) => {
            json!({"decision": "block", "reason": why.model})
        }
        (Form::Claude { .. }, Verdict::Ask(reason)) => decided("ask", reason),
        (Form::Claude { .. }, Verdict::Grant(_)) if event.moment == Moment::Asking => {
            json!({"hookSpecificOutput": {
                "hookEventName": event.name,
                "decision": {"behavior": "allow"},
            }})
        }
        (Form::Claude { .. }, Verdict::Grant(reason)) => decided("allow", reason),
        (Form::Claude { tells: true }, Verdict::Note(text)) => json!({"hookSpecificOutput": {
            "hookEventName": event.name,
            "additionalContext": text,
        }}),
        (Form::Decision, Verdict::Refuse(why)) => json!({"decision": "deny", "reason": why.model}),
        (Form::Permission, Verdict::Refuse(why)) if is_tools => {
            json!({"permission": "deny", "user_message": why.person, "agent_message": why.model})
        }
        (Form::Permission, Verdict::Refuse(why)) => {
            json!({"continue": false, "user_message": why.person})
        }
        (Form::Permission, Verdict::Ask(reason)) => {
            json!({"permission": "ask", "user_message": reason, "agent_message": reason})
        }
        // Silence, or what an agent does not serve (`Serves`).
        _ => return Response::text(""),
    };
    Response::json(&answer)
}
