//! `check`: explains a decision to a person.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::run::Failure;
use super::{json, named};
use crate::activation::Enforcement;
use crate::catalog::usable;
use crate::error::{Error, Result};
use crate::permission::{Explanation, explain};
use crate::policy::OnDisk;
use crate::protocol::{ToolUse, call_of, called, script_of, under_denied_name};
use crate::run_context::RunContext;
use crate::session::{Session, snapshot};
use crate::skill::one_line;

/// A call that might be made while a skill is active.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// The skill's name
    pub skill: String,
    /// The tool that would be called
    #[arg(long)]
    pub tool: String,
    /// One of its arguments; may be given several times
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// Answer JSON
    #[arg(long)]
    pub json: bool,
}

/// Explains what would happen to the call; a failure if it would be blocked.
pub fn check(app: &RunContext, check: &Check) -> Result<String, Failure> {
    let catalog = app.catalog_naming(&check.skill);
    // For an unknown name, this error is worded for a person.
    named::installed(app, &catalog, &check.skill)?;
    let skill = usable(&catalog, &check.skill)?;
    let arguments = arguments(&check.arguments)?;
    let used = ToolUse {
        tool: check.tool.clone(),
        arguments,
    };
    let session = Session {
        activated: vec![snapshot(skill, "")],
        ..Session::default()
    };
    let enforcement = Enforcement::of(app, &app.config()?, &app.policies()?, &session)?;
    let called = called(app, &used.tool, &used.arguments).transpose()?;
    let script_of = script_of(app, &used, &session);
    let call = call_of(&used, called.as_ref(), script_of.as_deref());
    let call = under_denied_name(&enforcement.scope(), call, &used);
    let explanation = explain(&enforcement.scope(), &call, &OnDisk);
    let text = if check.json {
        json::one(&explanation)?
    } else {
        table(&explanation)
    };
    if explanation.allowed {
        Ok(text)
    } else {
        Err(Failure::Answered(text))
    }
}

/// `NAME=VALUE`, with the value as JSON if it is a number, `true`, a list or an object.
fn arguments(written: &[String]) -> Result<Value> {
    let mut arguments = Map::new();
    for argument in written {
        let (name, value) = argument.split_once('=').ok_or_else(|| {
            Error::new(format!("`{argument}` is no argument")).hint("write --arg NAME=VALUE")
        })?;
        let json = serde_json::from_str(value)
            .ok()
            .filter(|value: &Value| !value.is_string());
        arguments.insert(name.to_owned(), json.unwrap_or_else(|| Value::from(value)));
    }
    Ok(Value::Object(arguments))
}

fn table(explanation: &Explanation) -> String {
    let mut text = String::new();
    let verdict = if explanation.allowed {
        "allowed"
    } else {
        "blocked"
    };
    let _ = writeln!(text, "{verdict}: {}", one_line(&explanation.message));
    for part in &explanation.parts {
        let why = match (&part.granted_by, &part.refused) {
            (_, Some(reason)) => format!("refused: {reason}"),
            (Some(rule), None) => format!("granted by {rule}"),
            (None, None) => "granted".to_owned(),
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
