//! `pre_tool`: calling a skill's tool activates the skill; every other call is checked against the
//! active restrictions. Fails closed: any failure while something may be restricted blocks the
//! call.
//!
//! `pre_shell_exec`, `pre_file_write`, `pre_file_read`, `pre_fetch_url`: the same rules for the
//! tool's final arguments. Another plugin may have rewritten them since `pre_tool`
//! (docs/hosts.md#hooks).
//!
//! `pre_tool_output`, `pre_cache_output`: what becomes of a call's output.

use std::io::{self, Write};

use super::always_on;
use crate::protocol::prelude::*;
use crate::session::{LoadMode, is_other};

const UNREADABLE: &str = "The call is not allowed: it could not be read, so its tool is not known. Call the tool with plain arguments, or tell the user.";

const UNNAMED: &str = "The call is not allowed: a skill is active or a policy in force, but the host did not name the tool.";

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

/// Decides on a call of the marketplace.
type DecideInstall = fn(&Facts, &Request) -> ModelInstall;

/// The answer to a call, and what to record about it, unless nothing decided.
type Decided = (Response, Option<Event>);

/// Decides on a tool call.
pub fn pre_tool(facts: &Facts, used: Option<ToolUse>, decide_install: DecideInstall) -> Response {
    // It may be one of our own tools, which are always checked. The host nests the arguments one
    // level deeper in the hook's data, so they may exceed our depth limit but not the host's.
    let (response, event) = if let Some(used) = used {
        answer_call(facts, used, decide_install)
    } else {
        let unclear = Event::new("tool").with("decision", "blocked");
        let unclear = unclear.with("by", "unreadable call");
        tell_refused(UNREADABLE);
        (Response::block(UNREADABLE), Some(unclear))
    };
    if let Some(event) = event {
        facts.record(event);
    }
    response
}

/// Refuses final arguments that are not allowed; their hooks never grant.
pub fn final_arguments(facts: &Facts, used: Option<ToolUse>) -> Response {
    let session = always_on::session(facts);
    let on = JudgeContext::new(facts, &session);
    let is_free = on.nothing_is_in_force();
    if is_free {
        call_kind::nothing_is_in_force();
    }
    let used = match used {
        Some(used) => used,
        None if is_free => return Response::nothing(),
        None => return Response::denied(UNNAMED),
    };
    let judged = judge(&on, &Request::of_tool(used.tool, used.arguments));
    let Some(reason) = judged.stopped() else {
        return Response::nothing();
    };
    let response = Response::denied(reason);
    // `pre_tool` recorded its decision; this one differs from it.
    if let Some(event) = judged.event {
        facts.record(event.with("final_arguments", true));
    }
    response
}

fn answer_call(facts: &Facts, used: ToolUse, decide_install: DecideInstall) -> Decided {
    let session = always_on::session(facts);
    let on = JudgeContext::new(facts, &session);
    let is_free = on.nothing_is_in_force();
    if is_free && !ours::is_ours(&used.tool) {
        call_kind::nothing_is_in_force();
    }
    let request = Request::of_chibi(facts, used);
    if let RequestKind::NoSkill(error) = &request.kind {
        // The tool itself reports the error, and activates nothing.
        return if is_free {
            (Response::nothing(), None)
        } else {
            stopped(&request, "unusable skill", &error.with_next_step())
        };
    }
    let judged = judge(&on, &request);
    if let Verdict::Refuse(why) = judged.verdict {
        tell_refused(&why.person);
        return (refuse(facts, &request, &why.model), judged.event);
    }
    if let (Verdict::Note(note), None) = (&judged.verdict, request.called_skill()) {
        warn(format_args!("{note}"));
    }
    // Paths are replaced by the checked ones where they could mean others.
    let mut arguments = judged.arguments;
    // A note from a skill's rules must not replace a decision that only the user makes.
    let stopped = match (request.called_skill(), request.our_call()) {
        (Some(called), _) => activate(facts, &request, called),
        (_, Some(OwnToolCall::SkillSession(SkillSession::Load { names, adds }))) => {
            load_session(facts, &session, &request, names, *adds)
        }
        // What a model may install without the user: only this hook knows that a model is asking.
        (_, Some(OwnToolCall::Command(_))) if request.tool == ours::MARKETPLACE => {
            match decide_install(facts, &request) {
                ModelInstall::Allowed => None,
                ModelInstall::AllowedAs(reference) => {
                    let arguments = arguments.insert(request.arguments.clone());
                    arguments["skill_ref"] = Value::String(reference);
                    None
                }
                ModelInstall::Refused(why) => Some(stopped(&request, "model_installs", &why)),
            }
        }
        _ => None,
    };
    stopped.unwrap_or_else(|| {
        let passes = arguments.map(|arguments| json!({"arguments": arguments}));
        let response = passes.map_or_else(Response::nothing, |passes| Response::json(&passes));
        (response, judged.event)
    })
}

/// Blocks the call.
fn refuse(facts: &Facts, request: &Request, message: &str) -> Response {
    Response::block(&firmer_if_repeated(facts, request, message.to_owned()))
}

/// Tells the person, to whom the host shows a refused call as if it ran. The host waits for the answer,
/// so this asks nothing of the terminal.
fn tell_refused(why: &str) {
    let why = one_line(why.trim_end_matches(" Tell the user."));
    let line = format!("agent-skills: refused: {why}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Blocks a permitted call that fails, which may be retried.
fn stopped(request: &Request, by: &str, message: &str) -> Decided {
    tell_refused(message);
    let event = call_event(&request.call(None), "blocked", by);
    (Response::block(message), Some(event))
}

/// Activates the skill before its tool hands over the instructions, so that the next call is
/// checked already.
fn activate(facts: &Facts, request: &Request, called: &CalledSkill) -> Option<Decided> {
    let error = put_in_force(facts, &called.skill, &called.tool).err()?;
    let (name, error) = (&called.skill.name, error.with_next_step());
    let message = format!("The skill `{name}` is not allowed to become active: {error}");
    Some(stopped(request, "failed activation", &message))
}

/// `skill_session` loads before the tool runs, and only what the skills' own tools could load one
/// after the other. The tool itself reports failures and does the unloading: here that would loosen
/// restrictions before the call is certain to happen.
fn load_session(
    facts: &Facts,
    session: &Result<Session, StateUnreadable>,
    request: &Request,
    names: &[String],
    adds: bool,
) -> Option<Decided> {
    let catalog = Catalog::of(facts);
    let skills = offered_by_names(&catalog, names).ok()?;
    let mut ahead = session.clone();
    let may_unload = facts.config().unwrap_or_default().deactivate == Deactivate::Model;
    if let (Ok(ahead), false, true) = (&mut ahead, adds, may_unload) {
        // Skills that a replacing load may unload no longer restrict. Restricted ones may be, so this
        // cannot be refused.
        let stay = skills.iter().map(|one| snapshot(one.skill, one.tool));
        let stay: Vec<_> = stay.collect();
        let _ = ahead.unload(|skill| is_other(skill, &stay), true);
    }
    for one in &skills {
        let own_tool = Request::activating(CalledSkill::new(&catalog, one.skill, None, None));
        let judged = judge(&JudgeContext::new(facts, &ahead), &own_tool);
        if let Some(message) = judged.stopped() {
            return Some((refuse(facts, request, message), judged.event));
        }
        if let Ok(ahead) = &mut ahead {
            let next = vec![snapshot(one.skill, one.tool)];
            // `load` checks the number, because it counts all of them.
            let _ = ahead.load(next, LoadMode::Add, usize::MAX);
        }
    }
    let error = load(facts, &skills, adds).err()?;
    let message = format!("Nothing was loaded: {}", error.with_next_step());
    Some(stopped(request, "nothing loaded", &message))
}

/// The output with its note, or no change without one.
pub fn pre_tool_output(facts: &Facts, result: Option<(ToolUse, String)>) -> Response {
    // Our own tools write their notes themselves.
    let result = result.filter(|(used, _)| !ours::FIXED.contains(&used.tool.as_str()));
    let Some((used, output)) = result else {
        return Response::nothing();
    };
    let session = facts.session();
    let request = Request::of_chibi(facts, used);
    match judge(&JudgeContext::new(facts, &session), &request).verdict {
        Verdict::Note(note) if session.is_ok() => {
            Response::json(&json!({"output": format!("{output}\n\n[agent-skills: {note}]")}))
        }
        _ => Response::nothing(),
    }
}

/// Keeps the whole output of our own tools, except that of scripts.
pub fn pre_cache_output(facts: &Facts, tool: &str) -> Response {
    if tool == ours::RUN_SCRIPT {
        return Response::nothing();
    }
    let is_ours = ours::FIXED.contains(&tool)
        || tool == ours::SKILL
        || Catalog::about_tool(facts, tool).is_some_and(|catalog| catalog.by_tool(tool).is_some());
    if is_ours {
        Response::json(&json!({"block": true}))
    } else {
        Response::nothing()
    }
}
