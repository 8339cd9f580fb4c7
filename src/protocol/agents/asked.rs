//! A call of an agent's tool as its hook would judge it while a skill is active, for a person who
//! asks beforehand (`check --agent`).

use super::find::find;
use super::origin::leaked;
use super::translate::translate;
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::host::Agent;
use crate::protocol::ToolUse;
use crate::protocol::judge::{Grounds, Request, Verdict, judge};
use crate::run_context::{Calling, RunContext};
use crate::session::{Session, snapshot};
use crate::sys::text::quoted;

/// What the hook would say.
pub struct Asked {
    /// The facts of a call of this agent.
    pub facts: &'static Facts,
    /// A session in which the skill is active.
    pub session: Session,
    /// What the call amounts to, each with the verdict.
    pub judged: Vec<(Request, Verdict)>,
}

impl Asked {
    /// Judges a call of `agent` in the working directory, with the skill that it means by this name.
    ///
    /// # Errors
    /// If the agent loads no such skill here, or the call lacks an argument that decides.
    pub fn of(run: &RunContext, agent: Agent, skill: &str, used: &ToolUse) -> Result<Self> {
        let calling = Calling {
            agent,
            session: String::new(),
            mode: None,
            plugins: Vec::new(),
            model: None,
            version: None,
        };
        let facts = leaked(run.env.clone(), calling.clone());
        let found = find(facts, &calling, skill)?;
        let usable = found.as_ref().and_then(|found| found.entry().usable());
        let (Some(found), Some(skill)) = (&found, usable) else {
            let why = format!("{agent} loads no skill `{}` here", quoted(skill));
            return Err(Error::new(why).hint("`agent-skills hosts` shows where it looks"));
        };
        let session = Session {
            activated: vec![snapshot(skill, "")],
            ..Session::default()
        };
        let requests = translate(agent.table(), used, &facts.run.env.cwd).map_err(Error::new)?;
        let own = Ok(session.clone());
        let on = Grounds::new(found.facts, &own);
        let verdict = |request: Request| {
            let verdict = judge(&on, &request).verdict;
            (request, verdict)
        };
        Ok(Self {
            facts: found.facts,
            session,
            judged: requests.into_iter().map(verdict).collect(),
        })
    }
}
