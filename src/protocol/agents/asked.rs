//! A call of an agent's tool as its hook would judge it while a skill is active, for a person who
//! asks beforehand (`check --agent`).

use super::find::find;
use super::origin::leaked;
use super::translate::translate;
use crate::error::{Error, Result};
use crate::host::Agent;
use crate::protocol::ToolUse;
use crate::protocol::judge::{Grounds, Verdict, judge};
use crate::run_context::{Calling, RunContext};
use crate::session::{Session, snapshot};
use crate::sys::text::quoted;

/// What the hook of `agent` would say to a call in the working directory, while the skill is active
/// that the agent means by this name: the verdict on each call that it amounts to.
///
/// # Errors
/// If the agent loads no such skill here, or the call lacks an argument that decides.
pub fn asked(run: &RunContext, agent: Agent, skill: &str, used: &ToolUse) -> Result<Vec<Verdict>> {
    let calling = Calling::of(agent);
    let facts = leaked(run.env.clone(), calling.clone());
    let found = find(facts, &calling, skill)?;
    let usable = found.as_ref().and_then(|found| found.entry().usable());
    let (Some(found), Some(usable)) = (&found, usable) else {
        let why = format!("{agent} loads no skill `{}` here", quoted(skill));
        return Err(Error::new(why).hint("`agent-skills hosts` shows where it looks"));
    };
    let session = Ok(Session {
        activated: vec![snapshot(usable, "")],
        ..Session::default()
    });
    let on = Grounds::new(found.facts, &session);
    let requests = translate(agent.table(), used, &run.env.cwd).map_err(Error::new)?;
    let verdicts = requests.iter().map(|request| judge(&on, request).verdict);
    Ok(verdicts.collect())
}
