//! One judgement of a call under what is active, for every hook that asks for one.

use crate::app::{App, Config, Enforcement, OnDisk, ScriptReads, our_tool, script_read};
use crate::catalog::Catalog;
use crate::error::Error;
use crate::permission::{Call, Decision, Granted, OurTool, decide, decide_unreadable_state};
use crate::request::ToolUse;
use crate::session::{Session, Unreadable};
use crate::skill::Skill;

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Allowed,
    /// It goes on, and whoever reads its result should know this.
    Noted(String),
    /// It does not happen, for this reason.
    Refused(String),
}

/// Judges `used`, which calls the tool of `skill` if there is one. Whatever is not known of the
/// session or of the configuration leaves reading only (law 2).
pub fn judge(
    app: &App,
    session: &Result<Session, Unreadable>,
    used: &ToolUse,
    skill: Option<&Skill>,
) -> Verdict {
    let call = Call {
        tool: &used.tool,
        arguments: &used.arguments,
        ours: our_tool(used, skill),
    };
    let session = match session {
        Ok(session) if session.activated.is_empty() && call.ours != Some(OurTool::Direct) => {
            return Verdict::Allowed;
        }
        Ok(session) => session,
        Err(_) => return verdict(decide_unreadable_state(&call)),
    };
    let config = match app.config() {
        Ok(config) => config,
        Err(error) => return judge_unconfigured(app, session, &call, &error),
    };
    let enforcement = Enforcement::of(app, &config, session);
    let decided = verdict(decide(&enforcement.scope(), &call, &OnDisk));
    match (decided, script_read(app, session, used)) {
        (Verdict::Allowed, Some(advice)) if config.script_reads == ScriptReads::Block => {
            Verdict::Refused(format!("Reading it is not allowed: {advice}."))
        }
        (Verdict::Allowed, Some(advice)) => Verdict::Noted(advice),
        (decided, _) => decided,
    }
}

/// Without a configuration both must permit the call: the rules as they are by default, and the
/// caution due where it is not known what else the user forbade.
fn judge_unconfigured(app: &App, session: &Session, call: &Call, error: &Error) -> Verdict {
    let enforcement = Enforcement::of(app, &Config::default(), session);
    let by_rules = decide(&enforcement.scope(), call, &OnDisk);
    match (by_rules, decide_unreadable_state(call)) {
        (Decision::Block(refusal), _) => {
            Verdict::Refused(format!("{} ({error})", refusal.message(false)))
        }
        (_, Decision::Block(_)) => Verdict::Refused(format!(
            "`{}` is not allowed while a skill is active and the configuration cannot be read: \
             {error}. Tell the user.",
            call.tool
        )),
        _ => Verdict::Allowed,
    }
}

fn verdict(decision: Decision) -> Verdict {
    match decision {
        Decision::Block(refusal) => Verdict::Refused(refusal.message(false)),
        Decision::Allow(Granted::Warned(refusal)) => Verdict::Noted(refusal.message(false)),
        Decision::Allow(_) => Verdict::Allowed,
    }
}

/// The skill whose tool is called, if it is one.
pub fn called_skill<'a>(catalog: Option<&'a Catalog>, used: &ToolUse) -> Option<&'a Skill> {
    catalog?.by_tool(&used.tool)
}
