//! `pre_tool`: calling a skill's tool activates the skill; every other call is checked against
//! what is active. Fails closed: whatever goes wrong while something may be restricted, blocks.

use serde_json::{Value, json};

use super::fork::{self, Place};
use super::judge::{Verdict, called_skill, judge, nothing_is_in_force};
use super::load_session::load_session;
use crate::app::{App, ModelInstall, model_install, put_in_force};
use crate::host::ours;
use crate::request::{ToolUse, skill_arguments};
use crate::response::{Response, answer_panics_with};
use crate::session::{Session, SessionKey, Unreadable};
use crate::skill::Skill;
use crate::sys::remark;

/// Decides about a tool call.
pub fn pre_tool(app: &App, used: Option<&ToolUse>) -> Response {
    let (store, key) = (app.store(), app.session());
    let session = store.session(&key);
    if session
        .as_ref()
        .is_ok_and(|session| session.activated.is_empty())
        && nothing_is_in_force(app, &session)
    {
        answer_panics_with(&Response::nothing());
    }
    let Some(used) = used else {
        return if nothing_is_in_force(app, &session) {
            Response::nothing()
        } else {
            Response::block(UNCLEAR)
        };
    };
    let catalog = app.catalog_for(&used.tool);
    let skill = called_skill(catalog.as_ref(), used);
    let judged = judge(app, &session, used, skill);
    if let Some(event) = judged.event {
        app.record(event);
    }
    match (judged.verdict, skill) {
        (Verdict::Refused(message), _) => refuse(app, &key, used, &message),
        (_, Some(skill)) => activate(app, &session, skill, used),
        (_, None) if used.tool == ours::SESSION => load_session(app, &session, used),
        (Verdict::Noted(note), None) => {
            remark(format_args!("{note}"));
            Response::nothing()
        }
        (Verdict::Allowed, None) if used.tool == ours::MARKETPLACE => install(app, used),
        (Verdict::Allowed, None) => Response::nothing(),
    }
}

const UNCLEAR: &str = "The call is not allowed: a restricted skill or a policy is in force, and \
    the host did not say which tool is called. Use another tool, or tell the user.";

/// Blocks, and says so more firmly the second time: a model that tries again word for word did not
/// understand.
pub fn refuse(app: &App, key: &SessionKey, used: &ToolUse, message: &str) -> Response {
    let call = json!([used.tool, used.arguments]).to_string();
    if app.refusals().seen_before(key, &call) {
        return Response::block(&format!(
            "{message} This was already refused: do not retry."
        ));
    }
    Response::block(message)
}

/// The skill becomes active before its own tool runs, so that the very next call is checked. A
/// call that its tool will refuse activates nothing, nor does one that hands the skill over.
fn activate(
    app: &App,
    session: &Result<Session, Unreadable>,
    skill: &Skill,
    used: &ToolUse,
) -> Response {
    if skill_arguments(&used.arguments).is_err() {
        return Response::nothing();
    }
    if fork::place(app, skill, session) == Place::Apart {
        return Response::nothing();
    }
    match put_in_force(app, skill, &used.tool) {
        Ok(()) => Response::nothing(),
        Err(error) => {
            let hint = error
                .next_step()
                .map(|hint| format!(" ({hint})"))
                .unwrap_or_default();
            Response::block(&format!(
                "The skill `{}` is not allowed to become active: {error}{hint}.",
                skill.name
            ))
        }
    }
}

/// What a model may install without the user: only this hook knows that it is the model who asks.
fn install(app: &App, used: &ToolUse) -> Response {
    match model_install(app, &used.arguments) {
        ModelInstall::Allowed => Response::nothing(),
        ModelInstall::AllowedAs(reference) => {
            let mut arguments = used.arguments.clone();
            arguments["skill_ref"] = Value::String(reference);
            Response::json(&json!({"arguments": arguments}))
        }
        ModelInstall::Refused(message) => Response::block(&message),
    }
}
