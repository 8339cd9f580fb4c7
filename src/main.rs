//! The process: read the call, answer it, leave.

use std::process::ExitCode;

use agent_skills::request::Input;
use agent_skills::{response, run};

fn main() -> ExitCode {
    response::install_panic_hook();
    run(Input::of_process()).write()
}
