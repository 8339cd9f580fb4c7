//! The result of a script so far, and its form as text and as JSON. It knows neither the caller nor
//! how the script ran.

use super::prelude::*;
use std::fmt;

use crate::sys::hash;

/// A script's output and state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptOutcome {
    /// Standard output; for a job, the part not reported yet.
    pub stdout: CapturedOutput,
    /// Standard error, likewise.
    pub stderr: CapturedOutput,
    /// Whether and how it ended.
    pub state: ScriptState,
    /// The time limit it runs under.
    pub limit: Duration,
    /// From before its start until now, or until everything it started was gone.
    pub duration: Duration,
    /// Further remarks for the caller, one line each.
    pub notes: Vec<String>,
}

/// The state of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptState {
    /// It ended while its caller waited.
    Ended(ScriptExit),
    /// It continues as this job.
    Running(JobId),
    /// It was a job, and ended.
    JobEnded(ScriptExit),
    /// It was a job, and its supervisor is gone: the result is unknown.
    Lost,
}

impl ScriptOutcome {
    /// How it ended, if it did and that is known.
    pub fn ended(&self) -> Option<ScriptExit> {
        match self.state {
            ScriptState::Ended(ended) | ScriptState::JobEnded(ended) => Some(ended),
            ScriptState::Running(_) | ScriptState::Lost => None,
        }
    }

    /// Its exit status, if it exited on its own.
    pub fn exit_code(&self) -> Option<i32> {
        self.ended()?.exit_code()
    }

    /// The signal that killed it, if any; also after a time-out.
    pub fn signal(&self) -> Option<i32> {
        ExitStatus::from_raw(self.ended()?.status).signal()
    }

    /// Whether it was stopped at `limit`.
    pub fn timed_out(&self) -> bool {
        self.ended().is_some_and(|ended| ended.timed_out)
    }

    /// The job as which it continues.
    pub fn job(&self) -> Option<&JobId> {
        match &self.state {
            ScriptState::Running(id) => Some(id),
            _ => None,
        }
    }

    /// How far the outputs are told, for [`super::jobs::Job::mark_seen`].
    pub fn seen(&self) -> [u64; 2] {
        [self.stdout.next, self.stderr.next]
    }

    /// The outcome for the model: standard output unchanged, then everything else under its own
    /// headings.
    pub fn text(&self) -> String {
        let mut text = self.stdout.text.clone();
        if self.stderr.total > 0 {
            begin_line(&mut text);
            text.push_str("[stderr]\n");
            text.push_str(&self.stderr.text);
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
        if let Some(ended) = self.ended() {
            let is_job = matches!(self.state, ScriptState::JobEnded(_));
            if ended.timed_out {
                remarks.push(format!(
                    "timed out after {}: the script and everything it started were stopped. Give \
                     it less to do, or a larger timeout_secs if the limit allows",
                    seconds(self.limit)
                ));
            } else if let Some(signal) = self.signal().filter(|_| !ended.stopped) {
                // The number and the name, without the remark on a core dump.
                remarks.push(format!("[{}]", ExitStatus::from_raw(signal)));
            } else if let Some(code) = ended.exit_code().filter(|code| *code != 0 || is_job) {
                remarks.push(format!("[exit code: {code}]"));
            }
            if is_job {
                let how = if ended.stopped { "stopped" } else { "ended" };
                remarks.push(format!("[the job {how} after {}]", seconds(self.duration)));
            }
        }
        remarks.extend(self.unusual_end());
        remarks.extend(self.notes.iter().map(|note| format!("[{note}]")));
        if let ScriptState::Running(id) = &self.state {
            remarks.push(format!(
                "[still running after {}, {} at most: call run_skill_script with \
                 {{\"job\": \"{id}\"}} to wait for more, add \"stop\": true to end it]\njob: {id}",
                seconds(self.duration),
                seconds(self.limit),
            ));
        }
        remarks
    }

    fn unusual_end(&self) -> Option<String> {
        let remark = match self.state {
            ScriptState::Ended(ended) | ScriptState::JobEnded(ended) if ended.survivors => {
                "[processes that it started could not be stopped and still run]"
            }
            ScriptState::Lost => {
                "[the job ended because its supervisor was killed: how far it got is unknown]"
            }
            _ => return None,
        };
        Some(remark.to_owned())
    }
}

/// A time in tenths of a second, without a trailing `.0`.
fn seconds(time: Duration) -> String {
    format!("{} s", (time.as_secs_f64() * 10.0).floor() / 10.0)
}

fn begin_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// A job's id. It cannot be guessed: using a job takes its id and its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobId(String);

/// 64 bits in hexadecimal digits.
const LENGTH: usize = 16;

impl JobId {
    /// A new random id.
    ///
    /// # Errors
    /// When the system has no random bytes.
    #[expect(clippy::disallowed_methods, reason = "a device of the system")]
    pub fn random() -> Result<Self> {
        let mut bytes = [0; LENGTH / 2];
        File::open("/dev/urandom")
            .and_then(|mut source| source.read_exact(&mut bytes))
            .map_err(|source| Error::io("read", "/dev/urandom".as_ref(), &source))?;
        Ok(Self(format!("{:016x}", u64::from_ne_bytes(bytes))))
    }

    /// The id of what all commands of the skill in this directory share, which is no job.
    pub fn of_skill(dir: &Path) -> Self {
        Self(format!("{:016x}", hash(dir.as_os_str().as_encoded_bytes())))
    }

    /// Parses an id as somebody wrote it; `None` if it cannot be one.
    pub fn parse(written: &str) -> Option<Self> {
        let written = written.trim();
        let is_one = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_ours = written.len() == LENGTH && written.bytes().all(is_one);
        is_ours.then(|| Self(written.to_owned()))
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(stdout: &str, stderr: &str) -> ScriptOutcome {
        let captured = |text: &str| CapturedOutput {
            text: text.to_owned(),
            total: text.len() as u64,
            ..CapturedOutput::default()
        };
        ScriptOutcome {
            stdout: captured(stdout),
            stderr: captured(stderr),
            state: ScriptState::Ended(ended(0)),
            limit: Duration::from_secs(2),
            duration: Duration::from_millis(1234),
            notes: Vec::new(),
        }
    }

    fn ended(status: i32) -> ScriptExit {
        ScriptExit {
            status,
            timed_out: false,
            stopped: false,
            survivors: false,
        }
    }

    #[test]
    fn standard_output_alone_is_unchanged() {
        assert_eq!(outcome(" a\n\n", "").text(), " a\n\n");
        assert_eq!(outcome("a", "").text(), "a");
        assert_eq!(outcome("", "").text(), "(no output)");
    }

    #[test]
    fn what_else_there_is_follows_under_a_line_of_its_own() {
        let failed = |outcome| ScriptOutcome {
            state: ScriptState::Ended(ended(3 << 8)),
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
        let ended_by = |ended| ScriptOutcome {
            state: ScriptState::Ended(ended),
            ..outcome("a", "")
        };
        assert_eq!(ended_by(ended(9)).text(), "a\n[signal: 9 (SIGKILL)]");
        let text = ended_by(ScriptExit {
            timed_out: true,
            ..ended(9)
        })
        .text();
        assert!(text.starts_with("a\ntimed out after 2 s: "), "{text}");
        assert!(!text.contains("[signal"), "{text}");
        let odd = ended_by(ScriptExit {
            survivors: true,
            ..ended(40)
        });
        let expected =
            "a\n[signal: 40]\n[processes that it started could not be stopped and still run]";
        assert_eq!(odd.text(), expected);
    }

    #[test]
    fn a_job_names_itself_on_its_own_line_and_says_how_it_ended() {
        let id: JobId = JobId::parse("abcdefgh01234567").unwrap();
        let job = |state| ScriptOutcome {
            state,
            notes: vec!["remark".to_owned()],
            ..outcome("a", "")
        };
        let running = job(ScriptState::Running(id));
        assert!(
            running
                .text()
                .starts_with("a\n[remark]\n[still running after 1.2 s, 2 s at most")
        );
        assert!(running.text().ends_with("\njob: abcdefgh01234567"));
        let over = job(ScriptState::JobEnded(ended(0)));
        assert_eq!(
            over.text(),
            "a\n[exit code: 0]\n[the job ended after 1.2 s]\n[remark]"
        );
        let stopped = job(ScriptState::JobEnded(ScriptExit {
            stopped: true,
            ..ended(9)
        }));
        assert_eq!(stopped.text(), "a\n[the job stopped after 1.2 s]\n[remark]");
        assert!(
            job(ScriptState::Lost)
                .text()
                .contains("its supervisor was killed")
        );
    }
}

#[cfg(test)]
mod job_id_tests {
    use super::*;

    #[test]
    fn ids_differ_and_survive_being_written() {
        let (one, two) = (JobId::random().unwrap(), JobId::random().unwrap());
        assert_ne!(one, two);
        assert_eq!(JobId::parse(one.as_str()), Some(one.clone()));
        assert_eq!(JobId::parse(&format!(" {one}\n")), Some(one));
        let shared = JobId::of_skill("/s/pdf".as_ref());
        assert_eq!(JobId::parse(shared.as_str()), Some(shared.clone()));
        assert_eq!(JobId::of_skill("/s/pdf".as_ref()), shared);
        assert_ne!(JobId::of_skill("/s/csv".as_ref()), shared);
    }

    #[test]
    fn nothing_else_is_an_id() {
        for bad in [
            "",
            "..",
            "../../../etc/pass",
            "ABCDEFGH01234567",
            "abcdefgh0123456",
            "a/b",
        ] {
            assert_eq!(JobId::parse(bad), None, "{bad}");
        }
    }
}
