//! The door out: the only writer to standard output, the shapes of answers, and exit codes. In a
//! host's call the status is 0 whatever happened, because the host throws an answer away otherwise
//! (law 1).

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::error::Error;
use crate::sys::remark;
use crate::sys::{crash, process};

/// The one answer of a run.
pub struct Response {
    /// All of standard output.
    pub stdout: String,
    /// The exit status: 0, or for a person 1 (failed) or 2 (misused).
    pub status: u8,
    /// What is to happen once the answer has been written.
    once_written: Option<Box<dyn FnOnce()>>,
}

impl Response {
    /// A hook's answer, or the schema.
    pub fn json(value: &Value) -> Self {
        Self::text(value.to_string())
    }

    /// A tool's result, verbatim.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            stdout: text.into(),
            status: 0,
            once_written: None,
        }
    }

    /// With another exit status.
    #[must_use]
    pub fn status(self, status: u8) -> Self {
        Self { status, ..self }
    }

    /// Does something as soon as the answer has been written whole, and not at all if it is not.
    #[must_use]
    pub fn once_written(self, action: impl FnOnce() + 'static) -> Self {
        Self {
            once_written: Some(Box::new(action)),
            ..self
        }
    }

    /// A hook's answer that changes nothing.
    pub fn nothing() -> Self {
        Self::json(&json!({}))
    }

    /// `pre_tool`'s refusal; the model gets exactly the message.
    pub fn block(message: &str) -> Self {
        Self::json(&json!({"block": true, "message": message}))
    }

    /// A tool's failure, told to the model.
    pub fn failure(error: &Error) -> Self {
        let hint = error
            .next_step()
            .map(|hint| format!("\n{hint}"))
            .unwrap_or_default();
        Self::text(format!("Error: {error}{hint}"))
    }

    /// Writes the answer. A reader that has gone away already got what it wanted.
    pub fn write(self) -> ExitCode {
        match write_stdout(self.stdout.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe && self.status == 0 => {
                remark(format_args!("could not write the answer: {error}"));
                ExitCode::FAILURE
            }
            Ok(()) => {
                if let Some(action) = self.once_written {
                    action();
                }
                ExitCode::from(self.status)
            }
            Err(_) => ExitCode::from(self.status),
        }
    }
}

fn write_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Standard output for what a person follows as it happens; the answer comes after it.
pub fn live() -> impl Write {
    io::stdout().lock()
}

/// What is answered should this program panic: set as soon as the call is known, and kept such
/// that a panic never opens what was closed (law 2).
static ON_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Sets what a panic, or a stack that overflows, answers from here on.
pub fn answer_panics_with(response: &Response) {
    crash::answer_faults_with(&response.stdout);
    if let Ok(mut answer) = ON_PANIC.lock() {
        *answer = Some(response.stdout.clone());
    }
}

/// Makes a panic in a host's call print the answer set for it and leave with status 0: the host
/// ignores what a program says that aborts.
pub fn install_panic_hook() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        // A poisoned lock still holds the answer that was set last.
        let answer = ON_PANIC
            .lock()
            .map_or_else(|poisoned| poisoned.into_inner().take(), |mut a| a.take());
        if let Some(answer) = answer {
            // Without a backtrace: release builds have no tables for one, and taking it may abort.
            remark(format_args!("{info}"));
            let _ = write_stdout(answer.as_bytes());
            process::leave(0);
        }
        default(info);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_to_do_next() {
        let error = Error::new("there is no skill `x`").hint("did you mean `y`?");
        let response = Response::failure(&error);
        assert_eq!(
            response.stdout,
            "Error: there is no skill `x`\ndid you mean `y`?"
        );
        assert_eq!(response.status, 0);
    }
}
