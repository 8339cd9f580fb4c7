//! Running a skill's script: which interpreter, in which environment, for how long, and that
//! nothing it started is left afterwards. It knows no catalog, no permission and no protocol: it
//! is handed a resolved path and answers an [`Outcome`].
//!
//! ```text
//! run ── interpreter, environment ──> image        all prepared before the fork
//!  │
//!  ├─ fork ─> supervisor ─ fork ─> the script       raw calls only (process)
//!  │              │ lifeline, deadline, kill tree
//!  └─ pump <──────┘ stdin, stdout, stderr, report ──> outcome
//! ```

mod capture;
mod environment;
mod image;
mod interpreter;
mod limit;
mod outcome;
mod process;
mod pump;
mod report;
mod run;
mod shebang;
mod supervisor;

#[cfg(test)]
mod fixture;

pub use capture::Captured;
pub use interpreter::is_script;
pub use limit::{TimeLimit, time_limit};
pub use outcome::Outcome;
pub use run::{Request, run};
