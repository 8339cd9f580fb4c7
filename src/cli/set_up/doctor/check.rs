//! The result of one check, with its remedy; and asking a program one question, with a limited time for
//! the answer.

use std::process::Command;
use std::time::Duration;

use crate::cli::prelude::*;
use crate::sys::process::{self, RunError};

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// Correct.
    Ok,
    /// It works, but probably not as intended.
    Warn,
    /// Broken.
    Fail,
}

/// Repairs something; returns what was done.
pub type Fix = Box<dyn FnOnce() -> Result<String>>;

/// One check, in the format that `--json` documents.
#[derive(Serialize)]
pub struct Check {
    /// The area that it belongs to.
    pub area: &'static str,
    /// Stable, lowercase, hyphenated.
    pub code: &'static str,
    /// Its outcome.
    pub outcome: CheckStatus,
    /// What was found and why, as a sentence fragment on one line.
    pub message: String,
    /// The next step, if there is one.
    pub remedy: Option<String>,
    /// Performs that step, if no decision is needed.
    #[serde(skip)]
    pub fix: Option<Fix>,
    /// Whether there is such a fix.
    pub fixable: bool,
}

impl Check {
    fn new(code: &'static str, outcome: CheckStatus, message: &str, remedy: Option<&str>) -> Self {
        Self {
            area: "",
            code,
            outcome,
            message: one_line(message),
            remedy: remedy.map(one_line),
            fix: None,
            fixable: false,
        }
    }

    /// A check that succeeded.
    pub fn ok(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, CheckStatus::Ok, &message.into(), None)
    }

    /// See [`CheckStatus::Warn`].
    pub fn warn(code: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(
            code,
            CheckStatus::Warn,
            &message.into(),
            Some(&remedy.into()),
        )
    }

    /// See [`CheckStatus::Fail`].
    pub fn fail(code: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(
            code,
            CheckStatus::Fail,
            &message.into(),
            Some(&remedy.into()),
        )
    }

    /// A check that failed with a room's error.
    pub fn from_error(code: &'static str, error: &Error, otherwise: &str) -> Self {
        let remedy = error.next_step().unwrap_or(otherwise);
        Self::fail(code, error.to_string(), remedy)
    }

    /// Adds what `--fix` does about it.
    #[must_use]
    pub fn fix(self, fix: impl FnOnce() -> Result<String> + 'static) -> Self {
        Self {
            fix: Some(Box::new(fix)),
            fixable: true,
            ..self
        }
    }
}

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
    command.env_clear();
    // Hide the variables of a surrounding host call.
    let ours = |name: &str| name.starts_with("CHIBI_") && name != "CHIBI_HOME";
    command.envs(
        env.vars()
            .filter(|(name, _)| !ours(&name.to_string_lossy())),
    );
    let patience = Duration::from_secs(DOCTOR_SECONDS);
    let input = input.as_bytes();
    let ran = process::run(
        command,
        input,
        files::unnamed,
        patience,
        DOCTOR_ANSWER,
        |_| {},
    );
    let (status, output, errors) = ran.map_err(|error| match error {
        RunError::TimedOut => format!("it did not answer in {DOCTOR_SECONDS} s"),
        RunError::AnswerTooLarge => "its answer has no end".to_owned(),
        RunError::NotStarted(error) => format!("it could not be started: {error}"),
        RunError::Own(error) => format!("it could not be asked: {error}"),
    })?;
    let read = |file| {
        let bytes = files::read_all_capped(file, DOCTOR_ANSWER);
        bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    if !status.success() {
        let said = read(errors).unwrap_or_default();
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        let why = last.map_or_else(String::new, |last| format!(": {last}"));
        return Err(format!("it ended with {status}{why}"));
    }
    read(output).map_err(|error| error.to_string())
}
