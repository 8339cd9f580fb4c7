//! Running a skill's script: its interpreter, environment and time limit, and the end of everything
//! it started. It knows no catalog, no permission and no protocol: it gets a resolved path and
//! returns an [`Outcome`].
//!
//! ```text
//! run ── interpreter, environment ──> spec
//!  │
//!  task ── starts this program anew ──> supervise ── fork ──> the script
//!   │ lifeline: spec, orders, reports       │ host, deadline, kill tree
//!   └─ spools <── stdout, stderr ───────────┘ (of a job: in its directory)
//! ```

mod confine;
mod environment;
#[allow(unsafe_code)]
mod exec;
mod interpreter;
mod job;
mod job_id;
mod jobs;
mod lifeline;
mod needs;
mod outcome;
mod run;
mod sandbox;
mod settings;
mod spec;
mod spool;
mod supervise;
mod task;
mod tree;

#[cfg(test)]
mod fixture;

pub use confine::run_confined;
pub use environment::PassEnv;
pub use interpreter::{find as find_program, program_of};
pub use job::{Job, Summary};
pub use job_id::JobId;
pub use jobs::Jobs;
pub use lifeline::Ended;
pub use needs::unmet_needs;
pub use outcome::{Outcome, State};
pub use run::{Request, run, run_command};
pub use sandbox::{Confinement, Mode, Network, lacking as lacking_confinement};
pub use settings::{Limit, Settings, time_limit};
pub use spool::Captured;
pub use supervise::supervise;
pub use task::{Ran, Release, RunLimits};
