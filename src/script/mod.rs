//! Running a skill's script: its interpreter, environment and time limit, and the end of everything
//! it started. It knows no catalog, no permission and no protocol: it gets a resolved path and
//! returns an [`ScriptOutcome`].
//!
//! ```text
//! run ── interpreter, environment ──> spec
//!  │
//!  task ── starts this program anew ──> supervise ── fork ──> the script
//!   │ lifeline: spec, orders, reports       │ host, deadline, kill tree
//!   └─ spools <── stdout, stderr ───────────┘ (of a job: in its directory)
//! ```

mod environment;
#[allow(unsafe_code)]
mod exec;
mod interpreter;
mod jobs;
mod lifeline;
mod outcome;
mod prelude;
mod run;
mod sandbox;
mod spool;
mod supervise;
mod task;

#[cfg(test)]
mod fixture;

pub use environment::PassEnv;
pub use interpreter::{find as find_program, program_of};

pub use jobs::{Job, JobSummary, Jobs};
pub use lifeline::ScriptExit;

pub use outcome::{JobId, ScriptOutcome, ScriptState};
pub use run::{
    ScriptRequest, ScriptSettings, TimeLimit, run, run_command, run_confined, time_limit,
    unmet_needs,
};
pub use sandbox::{Confinement, Network, SandboxMode, lacking as lacking_confinement};
pub use spool::CapturedOutput;
pub use supervise::supervise;
pub use task::{RunLimits, ScriptRun, UnreleasedJob};
