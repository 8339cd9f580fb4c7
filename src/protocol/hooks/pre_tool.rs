//! `pre_tool`: calling a skill's tool activates the skill; every other call is checked against the
//! active restrictions. Fails closed: any failure while something may be restricted blocks the
//! call.

use serde_json::{Value, json};

use super::always_on;
use super::load_session::load_session;
use super::refuse::{refuse, stopped};
use crate::activation::put_in_force;
use crate::host::ours;
use crate::policy::Event;
use crate::protocol::authorize::{Answer, authorize, nothing_is_in_force};
use crate::protocol::tools::{Place, place};
use crate::protocol::{Called, Response, ToolUse, called, closed};
use crate::run_context::RunContext;
use crate::session::{Session, Unreadable};
use crate::sys::warn;

/// The decision on a model's call of the marketplace, supplied by the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelInstall {
    /// It installs nothing, or something from a configured source.
    Allowed,
    /// Allowed once the reference is rewritten so that it can mean nothing else.
    AllowedAs(String),
    /// The user has to do it; the message contains the command.
    Refused(String),
}

/// Decides on a call of the marketplace by its arguments.
type DecideInstall = fn(&RunContext, &Value) -> ModelInstall;

/// Decides on a tool call.
pub fn pre_tool(
    ctx: &RunContext,
    used: Option<&ToolUse>,
    decide_install: DecideInstall,
) -> Response {
    // It may be one of our own tools, which are always checked. The host nests the arguments one
    // level deeper in the hook's data, so they may exceed our depth limit but not the host's.
    let mut event = None;
    let response = if let Some(used) = used {
        decide(ctx, used, decide_install, &mut event)
    } else {
        let unclear = Event::new("tool").with("decision", "blocked");
        event = Some(unclear.with("by", "unreadable call"));
        Response::block(UNCLEAR)
    };
    if let Some(event) = event {
        ctx.record(event);
    }
    response
}

/// The answer to a call; `event` is set to what came of it, unless nothing decided.
fn decide(
    ctx: &RunContext,
    used: &ToolUse,
    decide_install: DecideInstall,
    event: &mut Option<Event>,
) -> Response {
    let (store, key) = (ctx.store(), ctx.session());
    let session = always_on::session(ctx);
    // If it cannot be recorded, what was known of it counts.
    let _ = store.note_host(&key);
    let is_free = nothing_is_in_force(ctx, &session);
    if is_free && !ours::is_ours(&used.tool) {
        closed::nothing_is_in_force();
    }
    let called = match called(ctx, &used.tool, &used.arguments).transpose() {
        Ok(called) => called,
        // The tool itself reports the error, and activates nothing.
        Err(_) if is_free => return Response::nothing(),
        Err(error) => {
            let message = error.with_next_step();
            return stopped(event, used, None, ("unusable skill", &message));
        }
    };
    let authorized = authorize(ctx, &session, used, called.as_ref());
    *event = authorized.event;
    if let Answer::Refused(message) = authorized.answer {
        return refuse(ctx, &key, used, &message);
    }
    if let Some(called) = &called {
        return activate(ctx, &session, used, called, event);
    }
    if let Answer::Noted(note) = authorized.answer {
        warn(format_args!("{note}"));
    }
    // A note from a skill's rules must not replace a decision that only the user makes.
    match used.tool.as_str() {
        ours::SESSION => load_session(ctx, &session, used, event),
        ours::MARKETPLACE => install(ctx, used, decide_install, event),
        // Its paths are replaced by the checked ones where they could mean others.
        _ => authorized
            .arguments
            .as_ref()
            .map_or_else(Response::nothing, with_arguments),
    }
}

/// Lets a call pass with other arguments.
fn with_arguments(arguments: &Value) -> Response {
    Response::json(&json!({ "arguments": arguments }))
}

const UNCLEAR: &str = "The call is not allowed: it could not be read, so which tool it is for is not known. \
    Call the tool with plain arguments, or tell the user.";

/// Activates the skill before its tool hands over the instructions, so that the next call is
/// checked already. A skill that runs in a sub-agent is not activated.
fn activate(
    ctx: &RunContext,
    session: &Result<Session, Unreadable>,
    used: &ToolUse,
    called: &Called,
    event: &mut Option<Event>,
) -> Response {
    if place(ctx, &called.skill, session) == Place::Apart {
        return Response::nothing();
    }
    let Err(error) = put_in_force(ctx, &called.skill, &called.tool) else {
        return Response::nothing();
    };
    let (name, error) = (&called.skill.name, error.with_next_step());
    let message = format!("The skill `{name}` is not allowed to become active: {error}");
    stopped(event, used, Some(called), ("failed activation", &message))
}

/// What a model may install without the user: only this hook knows that a model is asking.
fn install(
    ctx: &RunContext,
    used: &ToolUse,
    decide_install: DecideInstall,
    event: &mut Option<Event>,
) -> Response {
    match decide_install(ctx, &used.arguments) {
        ModelInstall::Allowed => Response::nothing(),
        ModelInstall::AllowedAs(reference) => {
            let mut arguments = used.arguments.clone();
            arguments["skill_ref"] = Value::String(reference);
            with_arguments(&arguments)
        }
        ModelInstall::Refused(message) => stopped(event, used, None, ("model_installs", &message)),
    }
}
