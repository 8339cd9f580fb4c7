//! An agent's answer, in its own form. A field that an agent does not know can make it ignore the
//! whole answer, so none has more than it needs.

use serde_json::json;

use super::event::Event;
use crate::host::agent::table::{Form, Moment};
use crate::protocol::Response;
use crate::protocol::judge::{Judged, Verdict};

/// The answer in the agent's form. Arguments replace those of the call where it goes on, in agents that
/// take them.
pub fn answer(form: Form, event: &Event, judged: Judged) -> Response {
    let is_tools = event.moment == Moment::BeforeTool;
    let decided = |decision: &str, reason: String| {
        json!({"hookSpecificOutput": {
            "hookEventName": event.name,
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }})
    };
    if let (Form::Decision, None, Some(arguments)) = (form, judged.stopped(), &judged.arguments) {
        // The first is our own plugin in opencode.
        return Response::json(&match &*event.name {
            "tool.execute.before" => json!({"args": arguments}),
            name => json!({"hookSpecificOutput": {"hookEventName": name, "tool_input": arguments}}),
        });
    }
    let answer = match (form, judged.verdict) {
        (Form::Claude { .. }, Verdict::Refuse(why)) if is_tools => decided("deny", why.model),
        (Form::Claude { .. }, Verdict::Refuse(why)) => {
            json!({"decision": "block", "reason": why.model})
        }
        (Form::Claude { tells }, Verdict::Ask(reason)) => {
            let mut answer = decided("ask", reason.clone());
            // Its dialog for a file shows the change, and no reason.
            if tells {
                answer["systemMessage"] = json!(reason);
            }
            answer
        }
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
