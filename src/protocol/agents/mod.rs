//! The door for the hooks of agents other than chibi (`agent-skills hook AGENT`): the agent's JSON,
//! by its table in `host/agent`, becomes an event (`event`); its tool a `Request` (`translate`);
//! the verdict of `judge` the agent's answer (`run`). It has no rules of its own. Open `run.rs`
//! first.

mod activation;
mod confine;
mod event;
mod find;
mod loading;
mod run;
mod translate;

pub use run::{asked, run};
