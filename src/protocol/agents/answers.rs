//! An agent's answer, in its own form. A field that an agent does not know can make it ignore the
//! whole answer, so none has more than it needs.

use serde_json::{Value, json};

use super::event::Event;
use crate::host::agent::table::{Form, Moment};
use crate::protocol::Response;

/// What is decided about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The agent goes on as it would without us.
    Silent,
    /// It is denied, for this reason.
    Denied(String),
    /// The person is asked, with this reason.
    Asked(String),
    /// It is allowed without a question, for this reason.
    Allowed(String),
    /// It goes on with these arguments.
    With(Value),
    /// It goes on, and the model is told this.
    Told(String),
}

/// The answer in the agent's form.
pub fn answer(form: Form, event: &Event, verdict: Verdict) -> Response {
    let is_tools = event.moment == Moment::BeforeTool;
    let decided = |decision: &str, reason: String| {
        json!({"hookSpecificOutput": {
            "hookEventName": event.name,
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }})
    };
    let answer = match (form, verdict) {
        (Form::Claude { .. }, Verdict::Denied(reason)) if is_tools => decided("deny", reason),
        (Form::Claude { .. }, Verdict::Denied(reason)) => {
            json!({"decision": "block", "reason": reason})
        }
        (Form::Claude { .. }, Verdict::Asked(reason)) => decided("ask", reason),
        (Form::Claude { .. }, Verdict::Allowed(_)) if event.moment == Moment::Asking => {
            json!({"hookSpecificOutput": {
                "hookEventName": event.name,
                "decision": {"behavior": "allow"},
            }})
        }
        (Form::Claude { .. }, Verdict::Allowed(reason)) => decided("allow", reason),
        (Form::Claude { tells: true }, Verdict::Told(text)) => json!({"hookSpecificOutput": {
            "hookEventName": event.name,
            "additionalContext": text,
        }}),
        // Our own plugin in opencode.
        (Form::Decision, Verdict::With(arguments)) if event.name == "tool.execute.before" => {
            json!({"args": arguments})
        }
        (Form::Decision, Verdict::With(arguments)) => {
            json!({"hookSpecificOutput": {"hookEventName": event.name, "tool_input": arguments}})
        }
        (Form::Decision, Verdict::Denied(reason)) => json!({"decision": "deny", "reason": reason}),
        (Form::Permission, Verdict::Denied(reason)) if is_tools => {
            json!({"permission": "deny", "user_message": reason, "agent_message": reason})
        }
        (Form::Permission, Verdict::Denied(reason)) => {
            json!({"continue": false, "user_message": reason})
        }
        (Form::Permission, Verdict::Asked(reason)) => {
            json!({"permission": "ask", "user_message": reason, "agent_message": reason})
        }
        // Silence, or what an agent does not serve (`Serves`).
        _ => return Response::text(""),
    };
    Response::json(&answer)
}
