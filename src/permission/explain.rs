//! Explains a decision to a person: each part of a call, and what granted it or why it was refused.

use serde::Serialize;

use super::arg_matcher::ArgMatcher;
use super::argument::PathContext;
use super::call::{Call, Scope};
use super::command_line;
use super::decide::{Decision, Granted, command_key, decide};
use super::path::Resolve;
use super::stacking::InForce;
use super::tool_matcher::Tool;

/// A decision and its reasons.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// The tool.
    pub tool: String,
    /// Whether the call would be allowed.
    pub allowed: bool,
    /// The message to the model, or why the call is allowed.
    pub message: String,
    /// The parts of a shell command in evaluation order; empty if there is nothing to split.
    pub parts: Vec<Part>,
}

/// One part of a shell command.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    /// `command`, `subcommand`, `redirection` or `syntax`.
    pub kind: &'static str,
    /// As written.
    pub text: String,
    /// The rule that grants it, or another reason to allow it.
    pub granted_by: Option<String>,
    /// The reason for refusing it.
    pub refused: Option<String>,
}

/// Explains the decision about a call.
pub fn explain(scope: &Scope, call: &Call, resolve: &dyn Resolve) -> Explanation {
    let decision = decide(scope, call, resolve);
    let message = match &decision {
        Decision::Block(refusal) => refusal.message(false),
        Decision::Allow(Granted::Warned(refusal)) => {
            format!("it runs with a warning: {}", refusal.message(false))
        }
        Decision::Allow(Granted::Unrestricted) => "nothing restricts it".to_owned(),
        Decision::Allow(Granted::Baseline) => "it is always allowed".to_owned(),
        Decision::Allow(Granted::Rules) => "entries of the skill grant it".to_owned(),
    };
    Explanation {
        tool: call.tool.to_owned(),
        allowed: matches!(decision, Decision::Allow(_)),
        message,
        parts: PathContext::of(scope.places, resolve, |ground| parts(scope, call, ground)),
    }
}

/// The parts of a shell command under each group whose rules cover commands.
fn parts(scope: &Scope, call: &Call, ground: PathContext) -> Vec<Part> {
    let Some(command) = command_key(call).and_then(|key| call.text(key)) else {
        return Vec::new();
    };
    let in_force = InForce::of(scope);
    let tool = Tool::of(call, scope.mcp_tools);
    let groups = in_force.groups.iter().filter(|group| {
        let mut tests = group.rules.iter().filter_map(|rule| rule.test_of(&tool));
        !tests.any(|test| *test == ArgMatcher::Any)
    });
    groups
        .flat_map(|group| command_line::findings(group, &in_force, scope, &tool, command, ground))
        .map(|finding| Part {
            kind: finding.kind,
            text: finding.part,
            granted_by: finding.outcome.as_ref().ok().cloned(),
            refused: finding.outcome.err(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::permission::path::fake::Links;
    use crate::permission::scene::scene;

    #[test]
    fn each_part_has_the_entry_that_grants_it_or_a_reason() {
        let scene = scene().active("Bash(git:*) Read");
        let explain = |tool, arguments| {
            let call = Call {
                tool,
                arguments: &arguments,
                ours: None,
            };
            scene.scoped(|scope| explain(scope, &call, &Links::default()))
        };
        let command = json!({"command": "git log $(curl x) > out; echo a"});
        let explanation = explain("shell_exec", command);
        assert!(!explanation.allowed && explanation.message.contains("curl x"));
        let parts: Vec<_> = explanation
            .parts
            .iter()
            .map(|part| (part.text.as_str(), part.granted_by.as_deref()))
            .collect();
        let expected = [
            ("curl x", None),
            ("out", None),
            ("git log $(curl x)", Some("Bash(git:*)")),
            ("echo a", Some("it needs no grant")),
        ];
        assert_eq!(parts, expected);
        let read = explain("file_head", json!({"path": "x"}));
        assert!(read.allowed && read.parts.is_empty());
    }
}
