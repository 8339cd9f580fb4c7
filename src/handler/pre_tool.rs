//! `pre_tool`: calling a skill's tool activates the skill; every other call is checked against
//! what is active. Fails closed: whatever goes wrong while something may be restricted, blocks.

use crate::app::App;
use crate::app::{Enforcement, OnDisk, snapshot};
use crate::host::ours;
use crate::permission::{Call, Decision, Granted, OurTool, decide, decide_unreadable_state};
use crate::request::{ToolUse, skill_arguments};
use crate::response::{Response, answer_panics_with};
use crate::session::{ActiveSkill, SessionKey, Store};
use crate::skill::Skill;

/// Decides about a tool call.
pub fn pre_tool(app: &App, used: Option<&ToolUse>) -> Response {
    let (store, session) = (app.store(), app.session());
    let active = store.active(&session);
    let nothing_active = active.as_ref().is_ok_and(Vec::is_empty);
    if nothing_active {
        answer_panics_with(&Response::nothing());
    }
    let Some(used) = used else {
        let restricted = |active: &Vec<ActiveSkill>| active.iter().any(ActiveSkill::is_restricted);
        let open = active.as_ref().is_ok_and(|active| !restricted(active));
        return if open {
            Response::nothing()
        } else {
            Response::block(UNCLEAR)
        };
    };
    let catalog = app.catalog_for(&used.tool);
    let skill = catalog
        .as_ref()
        .and_then(|catalog| catalog.by_tool(&used.tool));
    let call = Call {
        tool: &used.tool,
        arguments: &used.arguments,
        ours: our_tool(used, skill),
    };
    let refused = match &active {
        Ok(_) if nothing_active && call.ours != Some(OurTool::Direct) => None,
        Ok(active) => refusal(app, active, &call),
        Err(_) => blocked(decide_unreadable_state(&call)),
    };
    match (refused, skill) {
        (Some(message), _) => Response::block(&message),
        (None, Some(skill)) => activate(&store, &session, skill, used),
        (None, None) => Response::nothing(),
    }
}

const UNCLEAR: &str = "The call is not allowed: a restricted skill is active, and the host did not say which \
    tool is called. Use another tool, or tell the user.";

/// The message against a call while skills are active, if there is one.
fn refusal(app: &App, active: &[ActiveSkill], call: &Call) -> Option<String> {
    match app.config() {
        Ok(config) => blocked(decide(
            &Enforcement::of(app, &config, active).scope(),
            call,
            &OnDisk,
        )),
        // Not knowing what the user configured is as bad as not knowing what is active.
        Err(error) => blocked(decide_unreadable_state(call)).map(|_| {
            format!(
                "`{}` is not allowed while a skill is active and the configuration cannot be \
                read: {error}. Tell the user.",
                call.tool
            )
        }),
    }
}

fn blocked(decision: Decision) -> Option<String> {
    match decision {
        Decision::Block(refusal) => Some(refusal.message(false)),
        Decision::Allow(Granted::Warned(refusal)) => {
            eprintln!("agent-skills: {}", refusal.message(false));
            None
        }
        Decision::Allow(_) => None,
    }
}

/// The skill becomes active before its own tool runs, so that the very next call is checked. A
/// call that its tool will refuse activates nothing.
fn activate(store: &Store, session: &SessionKey, skill: &Skill, used: &ToolUse) -> Response {
    if skill_arguments(&used.arguments).is_err() {
        return Response::nothing();
    }
    match store.activate(session, snapshot(skill, &used.tool)) {
        Ok(()) => Response::nothing(),
        Err(error) => {
            let hint = error
                .next_step()
                .map(|hint| format!(" {hint}."))
                .unwrap_or_default();
            Response::block(&format!(
                "The skill `{}` is not allowed to become active: {error}.{hint}",
                skill.name
            ))
        }
    }
}

/// Which of our own tools a call is for.
fn our_tool<'a>(used: &'a ToolUse, skill: Option<&'a Skill>) -> Option<OurTool<'a>> {
    let text = |key: &str| used.arguments.get(key).and_then(serde_json::Value::as_str);
    match used.tool.as_str() {
        ours::DIRECT => Some(OurTool::Direct),
        ours::MARKETPLACE => Some(OurTool::Marketplace {
            action: text("action"),
        }),
        ours::READ_FILE => Some(OurTool::ReadSkillFile {
            skill: text("skill"),
        }),
        ours::RUN_SCRIPT => Some(OurTool::RunSkillScript {
            skill: text("skill"),
        }),
        _ => skill.map(|skill| OurTool::Skill(skill.name.as_str())),
    }
}
