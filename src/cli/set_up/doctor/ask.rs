//! Asks a program one question and waits a limited time for the answer.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use wait_timeout::ChildExt;

use crate::sys::{Env, process};

/// What `doctor` reads of a program's answer: the schema of thousands of skills.
const DOCTOR_ANSWER: u64 = 8 * 1024 * 1024;
/// How long `doctor` waits for a program that should answer in milliseconds.
const DOCTOR_SECONDS: u64 = 5;

/// The standard output of `program` with one argument, in the environment of a person's shell.
///
/// # Errors
/// Why there is no answer, as a sentence fragment.
pub fn ask(program: &Path, question: &str, env: &Env) -> Result<String, String> {
    let mut command = Command::new(program);
    command
        .arg(question)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command.env_clear();
    // Hide the variables of a surrounding host call.
    let ours = |name: &str| name.starts_with("CHIBI_") && name != "CHIBI_HOME";
    command.envs(
        env.vars()
            .filter(|(name, _)| !ours(&name.to_string_lossy())),
    );
    let child = process::in_own_group(&mut command).spawn();
    let mut child = child.map_err(|error| format!("it could not be started: {error}"))?;
    let pipe = child.stdout.take();
    let (send, answer) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.map(|pipe| pipe.take(DOCTOR_ANSWER).read_to_end(&mut bytes));
        send.send(bytes)
    });
    let ended = child.wait_timeout(Duration::from_secs(DOCTOR_SECONDS));
    // Its children would keep the pipe open.
    process::kill_group(child.id());
    let status = match ended {
        Ok(Some(status)) => status,
        Ok(None) => {
            let _ = child.wait();
            return Err(format!("it did not answer in {DOCTOR_SECONDS} s"));
        }
        Err(error) => return Err(error.to_string()),
    };
    if !status.success() {
        return Err(format!("it ended with {status}"));
    }
    // A process that left the group may still keep the pipe open.
    let answer = answer.recv_timeout(Duration::from_secs(DOCTOR_SECONDS));
    let answer = answer.map_err(|_| "its answer has no end".to_owned())?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
