//! `skill_session` in `pre_tool`: it loads before the tool runs, and only what the skills' own
//! tools could load one after the other. The tool itself reports failures and does the unloading:
//! here that would loosen restrictions before the call is certain to happen.

use serde_json::Value;

use super::refuse::{refuse, stopped};
use crate::activation::{LoadMode, load, offered_by_names};
use crate::catalog::Offered;
use crate::permission::Deactivate;
use crate::policy::Event;
use crate::protocol::authorize::{Answer, authorize};
use crate::protocol::{Called, Response, SkillSession, ToolUse};
use crate::run_context::RunContext;
use crate::session::{Loading, Session, Unreadable, is_other, snapshot};

/// Loads the skills named in `used`, a permitted call of `skill_session`. If that fails, `event` says
/// so.
pub fn load_session(
    ctx: &RunContext,
    session: &Result<Session, Unreadable>,
    used: &ToolUse,
    event: &mut Option<Event>,
) -> Response {
    let Ok(SkillSession::Load { names, mode }) = SkillSession::parse(used.arguments.clone()) else {
        return Response::nothing();
    };
    let catalog = ctx.catalog();
    let Ok(skills) = offered_by_names(&catalog, &names) else {
        return Response::nothing();
    };
    let mut ahead = session.clone();
    if let Ok(ahead) = &mut ahead {
        unload_what_may_be(ctx, ahead, &skills, mode);
    }
    for one in &skills {
        let own_tool = ToolUse {
            tool: one.tool.to_owned(),
            arguments: Value::Null,
        };
        let called = Called::new(&catalog, one.skill, None, None);
        let authorized = authorize(ctx, &ahead, &own_tool, Some(&called));
        if let Answer::Refused(message) = authorized.answer {
            *event = authorized.event;
            return refuse(ctx, &ctx.session(), used, &message);
        }
        if let Ok(ahead) = &mut ahead {
            let next = vec![snapshot(one.skill, one.tool)];
            // `load` checks the number, because it counts all of them.
            let _ = ahead.load(next, Loading::Add, usize::MAX);
        }
    }
    match load(ctx, &skills, mode) {
        Ok(()) => Response::nothing(),
        Err(error) => {
            let message = format!("Nothing was loaded: {}", error.with_next_step());
            stopped(event, used, None, ("nothing loaded", &message))
        }
    }
}

/// Skills that a replacing load may unload no longer restrict.
fn unload_what_may_be(ctx: &RunContext, session: &mut Session, skills: &[Offered], mode: LoadMode) {
    let config = ctx.config().unwrap_or_default();
    if mode == LoadMode::Add || config.deactivate != Deactivate::Model {
        return;
    }
    let stay = skills.iter().map(|one| snapshot(one.skill, one.tool));
    let stay: Vec<_> = stay.collect();
    // Restricted skills may be unloaded here, so this cannot be refused.
    let _ = session.unload(|skill| is_other(skill, &stay), true);
}
