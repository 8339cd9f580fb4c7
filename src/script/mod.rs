//! Running a skill's script: its interpreter, environment and time limit, and the end of everything
//! it started. It knows no catalog, no permission and no protocol: it gets a resolved path and
//! returns an [`Outcome`].
//!
//! ```text
//! run ── interpreter, environment ──> spec
//!  │
//!  task ── supervisor ── starts this program anew ──> supervise ── fork ──> the script
//!              │ lifeline: spec, hand-over, reports       │ host, deadline, kill tree
//!              │ stdout, stderr                           │
//!              └─ hand-over ──────────────────────────> relay ──> job
//!                                            when the caller has waited long enough
//! ```

mod capture;
mod confine;
mod environment;
#[allow(unsafe_code)]
mod exec;
mod interpreter;
mod job;
mod manifest;
mod named;
mod needs;
mod outcome;
mod pass_env;
mod relay;
mod report;
mod run;
mod sandbox;
mod settings;
mod spec;
mod spool;
mod stream;
mod supervise;
mod supervisor;
mod task;
mod tree;

#[cfg(test)]
mod fixture;

pub use capture::Captured;
pub use confine::run_confined;
pub use interpreter::{find as find_program, program_of};
pub use job::{Job, JobId, Jobs, Look, Owner, Summary};
pub use needs::Needs;
pub use outcome::{Outcome, State};
pub use pass_env::PassEnv;
pub use report::Ended;
pub use run::{Request, run, run_command};
pub use sandbox::{Confinement, Mode, Network, lacking as lacking_confinement};
pub use settings::{Limit, Settings, time_limit};
pub use supervise::supervise;
pub use supervisor::Release;
pub use task::{Ran, RunLimits};
