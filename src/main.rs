//! The process: read the call, answer it, exit.

use std::process::ExitCode;

use agent_skills::protocol::{Input, install_panic_hook};
use agent_skills::run;

fn main() -> ExitCode {
    // Not a call at all: we started ourselves beside a script.
    if let Some(status) = agent_skills::script::supervise(std::env::args_os()) {
        return status;
    }
    install_panic_hook();
    run(Input::of_process()).write()
}
