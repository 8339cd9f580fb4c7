//! The process: read the call, answer it, leave.

use std::process::ExitCode;

use agent_skills::request::Input;
use agent_skills::{prepared, response, run};

/// That of musl asks the system for every few pages and gives them back at once.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

agent_skills::before_main!(agent_skills::closed::prepare_early);

fn main() -> ExitCode {
    response::install_panic_hook();
    run(prepared(Input::of_process())).write()
}
