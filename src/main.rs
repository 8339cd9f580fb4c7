//! The process: read the call, answer it, exit.

use std::process::ExitCode;

use agent_skills::protocol::{Input, install_panic_hook};
use agent_skills::sys::signals::leave;
use agent_skills::{run, script};

/// The C library's own maps and unmaps single pages.
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    // Not a call at all: we started ourselves beside a script.
    if let Some(status) = script::supervise(std::env::args_os()) {
        return status;
    }
    install_panic_hook();
    leave(run(Input::of_process()).write().into())
}
