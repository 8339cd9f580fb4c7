//! `check`: explains a decision to a person.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::activation::Enforcement;
use crate::catalog::usable;
use crate::cli::named::installed;
use crate::cli::report::session_with;
use crate::cli::{Failure, json as output};
use crate::error::{Error, Result};
use crate::permission::{CALL, Call, Decision, Outcome, Part, decide};
use crate::policy::OnDisk;
use crate::protocol::{ToolUse, call_of, called, script_of, under_denied_name};
use crate::run_context::RunContext;
use crate::skill::one_line;

/// Explain whether a tool call would be allowed while a skill is active (exit 1 if not)
#[derive(Debug, clap::Args)]
pub struct Check {
    /// The skill's name
    pub skill: String,
    /// The tool that would be called
    #[arg(long)]
    pub tool: String,
    /// One of its arguments; repeatable
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Check {
    /// Explains what would happen to the call; a failure if it would be blocked.
    pub fn run(&self, ctx: &RunContext) -> Result<String, Failure> {
        let catalog = ctx.catalog_naming(&self.skill);
        // For an unknown name, this error is worded for a person.
        installed(ctx, &catalog, &self.skill)?;
        let skill = usable(&catalog, &self.skill)?;
        let arguments = arguments(&self.arguments)?;
        let used = ToolUse {
            tool: self.tool.clone(),
            arguments,
        };
        let session = session_with(skill);
        let enforcement = Enforcement::of(ctx, &ctx.config()?, &ctx.policies()?, &session)?;
        let called = called(ctx, &used.tool, &used.arguments).transpose()?;
        let script_of = script_of(ctx, &used, &session);
        let call = call_of(&used, called.as_ref(), script_of.as_deref());
        let call = under_denied_name(&enforcement.scope(), call, &used);
        let decision = decide(&enforcement.scope(), &call, &OnDisk);
        let text = if self.json {
            output::one(&value(&call, &decision))?
        } else {
            table(&decision)
        };
        Failure::unless(decision.allows(), text)
    }
}

/// The message to the model, or the reason why the call is allowed.
fn message(decision: &Decision) -> String {
    match &decision.outcome {
        Outcome::Blocked(refusal) => refusal.message(false),
        Outcome::Warned(refusal) => format!("it runs with a warning: {}", refusal.message(false)),
        Outcome::Unrestricted => "nothing restricts it".to_owned(),
        Outcome::Baseline => "it is always allowed".to_owned(),
        Outcome::Granted => "entries of the skill grant it".to_owned(),
    }
}

/// The parts of a shell command; empty if there is nothing to split.
fn parts(decision: &Decision) -> impl Iterator<Item = &Part> {
    decision.parts.iter().filter(|part| part.kind != CALL)
}

fn value(call: &Call, decision: &Decision) -> Value {
    let parts = parts(decision).map(|part| {
        json!({
            "kind": part.kind,
            "text": part.text,
            "granted_by": part.outcome.as_ref().ok().map(ToString::to_string),
            "refused": part.outcome.as_ref().err(),
        })
    });
    json!({
        "tool": call.tool,
        "allowed": decision.allows(),
        "message": message(decision),
        "parts": parts.collect::<Vec<_>>(),
    })
}

/// `NAME=VALUE`, with the value as JSON if it is a number, `true`, a list or an object.
fn arguments(written: &[String]) -> Result<Value> {
    let mut arguments = Map::new();
    for argument in written {
        let (name, value) = argument.split_once('=').ok_or_else(|| {
            Error::new(format!("`{argument}` has no `=`")).hint("write --arg NAME=VALUE")
        })?;
        let json = serde_json::from_str(value)
            .ok()
            .filter(|value: &Value| !value.is_string());
        arguments.insert(name.to_owned(), json.unwrap_or_else(|| Value::from(value)));
    }
    Ok(Value::Object(arguments))
}

fn table(decision: &Decision) -> String {
    let verdict = if decision.allows() {
        "allowed"
    } else {
        "blocked"
    };
    let mut text = format!("{verdict}: {}\n", one_line(&message(decision)));
    for part in parts(decision) {
        let why = match &part.outcome {
            Ok(by) => format!("granted by {by}"),
            Err(reason) => format!("refused: {reason}"),
        };
        let _ = writeln!(
            text,
            "  {} `{}`: {}",
            part.kind,
            one_line(&part.text),
            one_line(&why)
        );
    }
    text
}
