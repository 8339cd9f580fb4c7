//! Detects that a script is read instead of run, and advises how to run it.

use std::path::Path;

use serde_json::json;

use crate::host::ours;
use crate::host::tools::{self, Argument, Effect};
use crate::permission::Resolve;
use crate::policy::OnDisk;
use crate::protocol::{ToolUse, written_skill};
use crate::run_context::RunContext;
use crate::session::Session;
use crate::skill::Runner;

/// The advice if a call reads a script of the active skill; `None` for any other call.
pub fn script_read(ctx: &RunContext, session: &Session, used: &ToolUse) -> Option<String> {
    let active = session.latest()?;
    let text = |key: &str| used.arguments.get(key).and_then(serde_json::Value::as_str);
    let dir = Path::new(&active.dir);
    let path = if used.tool == ours::READ_FILE {
        let means_it = |written| ctx.meant_skill(Some(written)).is_ok_and(|it| it.dir == dir);
        let is_its = written_skill(&used.arguments).is_none_or(means_it);
        is_its.then(|| dir.join(text("path").unwrap_or_default()))?
    } else {
        let tool = tools::find(&used.tool).filter(|tool| tool.effect == Effect::Read)?;
        let key = tool.keys(&[Argument::Path]).next()?;
        ctx.env.project_root().join(text(key)?)
    };
    let (real, dir) = (OnDisk.canonical(&path)?, OnDisk.canonical(dir)?);
    let inside = real.strip_prefix(&dir).ok()?;
    Runner::is_meant_at(&real).then(|| advice(&active.name, inside))
}

/// How to run the script instead.
pub fn advice(skill: &str, script: &Path) -> String {
    let script = script.display().to_string();
    let call = json!({"skill": skill, "script": script, "args": []});
    format!(
        "`{script}` is a script of the skill `{skill}`: run it with {} {call} instead of reading it",
        ours::RUN_SCRIPT
    )
}
