//! The only writer to standard output, the shapes of answers, and exit codes. A host's call always
//! exits 0, because the host otherwise discards the answer (law 1, docs/spec/README.md#laws).

use std::io::{self, Write};

use crate::protocol::prelude::*;
use crate::sys::{Shown, fallback_answer, shown};

/// The one answer of a run.
pub struct Response {
    /// The complete standard output.
    pub stdout: String,
    /// The exit status: 0, or for a person 1 (failed) or 2 (misused).
    pub status: u8,
    /// Runs once the answer has been written completely.
    once_written: Option<Box<dyn FnOnce()>>,
    /// Runs after the answer in any case.
    afterwards: Option<Box<dyn FnOnce()>>,
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
            afterwards: None,
        }
    }

    /// Sets another exit status.
    #[must_use]
    pub fn status(self, status: u8) -> Self {
        Self { status, ..self }
    }

    /// Runs `action` once the answer has been written completely, and not otherwise.
    #[must_use]
    pub fn once_written(mut self, action: impl FnOnce() + 'static) -> Self {
        self.once_written = Some(Box::new(action));
        self
    }

    /// Runs `action` after the answer, whether or not it arrived.
    #[must_use]
    pub fn afterwards(mut self, action: impl FnOnce() + 'static) -> Self {
        self.afterwards = Some(Box::new(action));
        self
    }

    /// A hook's answer that changes nothing.
    pub fn nothing() -> Self {
        Self::json(&json!({}))
    }

    /// A refusal by `pre_tool`; the model gets exactly this message.
    pub fn block(message: &str) -> Self {
        Self::json(&json!({"block": true, "message": message}))
    }

    /// A refusal by a hook of the final arguments.
    pub fn denied(reason: &str) -> Self {
        Self::json(&json!({"denied": true, "reason": reason}))
    }

    /// A tool's failure, as the model sees it.
    pub fn failure(error: &Error) -> Self {
        let hint = error.next_step().map(|hint| format!("\n{hint}"));
        let hint = hint.unwrap_or_default();
        Self::text(shown(format!("Error: {error}{hint}"), false))
    }

    /// Writes the answer, then runs the actions that wait for it. Returns the exit status. A reader that closed the pipe
    /// early already has what it wanted.
    pub fn write(self) -> u8 {
        let sent = fallback_answer::while_answering(|| {
            let mut stdout = io::stdout().lock();
            stdout.write_all(self.stdout.as_bytes())?;
            stdout.flush()
        });
        if let Some(action) = self.once_written.filter(|_| sent.is_ok()) {
            action();
        }
        if let Some(action) = self.afterwards {
            action();
        }
        match sent {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe && self.status == 0 => {
                warn(format_args!("could not write the answer"));
                let prepared = fallback_answer::prepared();
                prepared.map_or(1, |prepared| prepared.status.max(1))
            }
            _ => self.status,
        }
    }
}

/// Standard output for progress that a person follows live; the answer comes after it.
pub fn live() -> impl Write {
    Shown::new(io::stdout().lock())
}

/// Makes a panic in a host's call send the prepared answer.
pub fn install_panic_hook() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if fallback_answer::prepared().is_some() {
            // No backtrace: release builds have no tables for one, and taking it may abort.
            warn(format_args!("{info}"));
            fallback_answer::send();
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
