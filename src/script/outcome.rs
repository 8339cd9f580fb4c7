//! What came of a script, and how it reads as text. It knows neither who asked nor how it ran.

use std::fmt::Write;
use std::time::Duration;

use super::capture::Captured;

/// A script's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its exit status, when it exited by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it, when one did; also after a time-out.
    pub signal: Option<i32>,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// It was stopped because `limit` was over.
    pub timed_out: bool,
    /// The time limit it ran under.
    pub limit: Duration,
    /// It left processes that we may not kill: another user's, through setuid.
    pub survivors: bool,
    /// From before its start until everything it started was gone.
    pub duration: Duration,
}

impl Outcome {
    /// The outcome as the model reads it: standard output unchanged, then what else there is, each
    /// under a line of its own.
    pub fn text(&self) -> String {
        let mut text = self.stdout.text();
        if self.stderr.total() > 0 {
            begin_line(&mut text);
            text.push_str("[stderr]\n");
            text.push_str(&self.stderr.text());
        }
        if text.is_empty() {
            text.push_str("(no output)");
        }
        for remark in self.remarks() {
            begin_line(&mut text);
            text.push_str(&remark);
        }
        text
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.timed_out {
            let seconds = self.limit.as_secs_f64();
            remarks.push(format!(
                "timed out after {seconds} s: the script and everything it started were stopped. \
                 Give it less to do, or a larger timeout_secs if the limit allows"
            ));
        } else if let Some(signal) = self.signal {
            let mut remark = format!("[signal: {signal}");
            if let Some(name) = signal_name(signal) {
                // Writing to a string cannot fail.
                let _ = write!(remark, " ({name})");
            }
            remarks.push(remark + "]");
        } else if let Some(code @ 1..) = self.exit_code {
            remarks.push(format!("[exit code: {code}]"));
        }
        if self.survivors {
            let remark = "[processes it started as another user could not be stopped]";
            remarks.push(remark.to_owned());
        }
        remarks
    }
}

fn begin_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(stdout: &str, stderr: &str) -> Outcome {
        let captured = |text: &str| {
            let mut captured = Captured::default();
            captured.push(text.as_bytes());
            captured
        };
        Outcome {
            exit_code: Some(0),
            signal: None,
            stdout: captured(stdout),
            stderr: captured(stderr),
            timed_out: false,
            limit: Duration::from_secs(2),
            survivors: false,
            duration: Duration::ZERO,
        }
    }

    #[test]
    fn standard_output_alone_is_unchanged_and_nothing_is_said_to_be_nothing() {
        assert_eq!(outcome(" a\n\n", "").text(), " a\n\n");
        assert_eq!(outcome("a", "").text(), "a");
        assert_eq!(outcome("", "").text(), "(no output)");
    }

    #[test]
    fn what_else_there_is_follows_under_a_line_of_its_own() {
        let failed = |outcome| Outcome {
            exit_code: Some(3),
            ..outcome
        };
        assert_eq!(outcome("a", "b\n").text(), "a\n[stderr]\nb\n");
        assert_eq!(outcome("", "b").text(), "[stderr]\nb");
        assert_eq!(
            failed(outcome("a\n", "b")).text(),
            "a\n[stderr]\nb\n[exit code: 3]"
        );
        assert_eq!(
            failed(outcome("", "")).text(),
            "(no output)\n[exit code: 3]"
        );
    }

    #[test]
    fn signals_and_time_outs_are_named() {
        let killed = Outcome {
            exit_code: None,
            signal: Some(9),
            ..outcome("a", "")
        };
        assert_eq!(killed.text(), "a\n[signal: 9 (SIGKILL)]");
        let text = Outcome {
            timed_out: true,
            ..killed.clone()
        }
        .text();
        assert!(text.starts_with("a\ntimed out after 2 s: "), "{text}");
        assert!(!text.contains("[signal"), "{text}");
        let odd = Outcome {
            signal: Some(40),
            survivors: true,
            ..killed
        };
        let expected =
            "a\n[signal: 40]\n[processes it started as another user could not be stopped]";
        assert_eq!(odd.text(), expected);
    }
}
