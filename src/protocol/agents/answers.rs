//! An agent's answer, in its own form. A field that an agent does not know can make it ignore the
//! whole answer, so none has more than it needs.

use serde_json::{Value, json};

use super::event::Event;
use crate::host::agent::table::{Form, Moment};
use crate::protocol::Response;

/// Why a call is denied.
#[derive(Debug, Clone, PartialEq)]
pub struct Why {
    /// For the model, with what it may do instead.
    pub model: String,
    /// For the person, where the agent shows them a text of their own.
    pub person: String,
}

impl From<String> for Why {
    fn from(text: String) -> Self {
        Self {
            model: text.clone(),
            person: text,
        }
    }
}

/// What is decided about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The agent goes on as it would without us.
    Silent,
    /// It is denied, for this reason.
    Denied(Why),
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
        (Form::Claude { .. }, Verdict::Denied(why)) if is_tools => decided("deny", why.model),
        (Form::Claude { .. }, Verdict::Denied(why)) => {
            json!({"decision": "block", "reason": why.model})
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
        (Form::Decision, Verdict::Denied(why)) => json!({"decision": "deny", "reason": why.model}),
        (Form::Permission, Verdict::Denied(why)) if is_tools => {
            json!({"permission": "deny", "user_message": why.person, "agent_message": why.model})
        }
        (Form::Permission, Verdict::Denied(why)) => {
            json!({"continue": false, "user_message": why.person})
        }
        (Form::Permission, Verdict::Asked(reason)) => {
            json!({"permission": "ask", "user_message": reason, "agent_message": reason})
        }
        // Silence, or what an agent does not serve (`Serves`).
        _ => return Response::text(""),
    };
    Response::json(&answer)
}
