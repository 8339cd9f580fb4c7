//! Asks a program one question and waits a limited time for the answer.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
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
    command.arg(question);
    answer(&mut command, "", env)
}

/// The standard output of a command that reads `input`, in the environment of a person's shell.
///
/// # Errors
/// Why there is no answer, as a sentence fragment; with its last line of standard error if it failed.
pub fn answer(command: &mut Command, input: &str, env: &Env) -> Result<String, String> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.env_clear();
    // Hide the variables of a surrounding host call.
    let ours = |name: &str| name.starts_with("CHIBI_") && name != "CHIBI_HOME";
    command.envs(
        env.vars()
            .filter(|(name, _)| !ours(&name.to_string_lossy())),
    );
    let child = process::in_own_group(command).spawn();
    let mut child = child.map_err(|error| format!("it could not be started: {error}"))?;
    // A pipe holds more than any input of ours; a program that does not read it closes it.
    let _ = child
        .stdin
        .take()
        .map(|mut pipe| pipe.write_all(input.as_bytes()));
    let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
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
        let said = err.recv_timeout(Duration::from_secs(DOCTOR_SECONDS));
        let said = said.unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        let why = last.map_or_else(String::new, |last| format!(": {last}"));
        return Err(format!("it ended with {status}{why}"));
    }
    // A process that left the group may still keep the pipe open.
    let answer = out.recv_timeout(Duration::from_secs(DOCTOR_SECONDS));
    let answer = answer.map_err(|_| "its answer has no end".to_owned())?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// What a pipe brings until its end, or the most that is read of it.
fn reader(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (send, read) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.map(|pipe| pipe.take(DOCTOR_ANSWER).read_to_end(&mut bytes));
        send.send(bytes)
    });
    read
}
