//! The process: read the call, answer it, exit.

use std::process::ExitCode;

use agent_skills::request::Input;
use agent_skills::{prepared, response, run};

agent_skills::before_main!(agent_skills::closed::prepare_early);

fn main() -> ExitCode {
    response::install_panic_hook();
    run(prepared(Input::of_process())).write()
}
