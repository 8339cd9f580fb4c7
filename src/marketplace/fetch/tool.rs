//! Runs one of the user's programs (git, curl) as a child process that can neither prompt nor
//! exceed its deadline nor fill the disk with its output. It knows nothing about what the program
//! does.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use wait_timeout::ChildExt;

use crate::error::Error;
use crate::marketplace::fetch::{Class, Failure};
use crate::sys::{Dir, Env, limits, process, running, variables};

/// How often the output of a running program is measured. Its end is noticed at once.
const MEASURE: Duration = Duration::from_millis(100);
/// The part of standard error that is read, in bytes. Its first lines say the most.
const STDERR: u64 = 64 * 1024;

/// How programs are run for one of our commands.
#[derive(Debug, Clone, Copy)]
pub struct Tool<'a> {
    /// The environment that they inherit, apart from the host's variables.
    pub env: &'a Env,
    /// When the result must be ready; `None` for a person at a terminal.
    pub deadline: Option<Instant>,
    /// Our directory for their output, in which they also run.
    pub scratch: &'a Dir,
    /// Receives the progress of a long transfer.
    pub progress: Option<fn(&str)>,
}

/// The result of a program that has exited by itself.
#[derive(Debug)]
pub struct Ran {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its standard output, positioned at the start.
    pub output: File,
    /// The first part of its standard error.
    pub errors: String,
}

/// How long to wait for another of our commands, if the result must be ready at `deadline`.
pub fn patience(deadline: Option<Instant>) -> Duration {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    limits::INSTALL_LOCK.min(left.unwrap_or(Duration::MAX))
}

impl Tool<'_> {
    /// A command for `program` in our environment without the host's variables, with English
    /// messages.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear();
        command.envs(variables::for_others(self.env));
        command.env("LC_ALL", "C");
        command.current_dir(self.scratch.path());
        command
    }

    /// Runs it to its end. Its output may have at most `max` bytes.
    ///
    /// # Errors
    /// When it cannot be started, or does not end in time or within `max`.
    pub fn run(
        &self,
        mut command: Command,
        input: impl AsRef<[u8]>,
        max: u64,
    ) -> Result<Ran, Failure> {
        let mut output = self.scratch.create_unseen().map_err(|e| self.local(&e))?;
        let program = command.get_program().to_string_lossy().into_owned();
        let files = (|| {
            let file = || self.scratch.create_unseen();
            let (mut given, errors) = (file()?, file()?);
            given.write_all(input.as_ref())?;
            given.rewind()?;
            command.stdin(given);
            command.stdout(output.try_clone()?);
            command.stderr(errors.try_clone()?);
            Ok(errors)
        })();
        let mut errors = files.map_err(|e| self.local(&e))?;
        process::limit_files(&mut command, limits::FETCHED_FILE);
        let child = process::in_own_group(&mut command).spawn();
        let mut child = child.map_err(|error| Failure::not_started(&program, &error))?;
        let ended = self.wait(&mut child, &program, &output, &errors, max);
        // This ends the helpers that it left running.
        process::kill_group(child.id());
        let status = ended?;
        let mut text = Vec::new();
        let read = errors
            .rewind()
            .and_then(|()| errors.take(STDERR).read_to_end(&mut text))
            .and_then(|_| output.rewind());
        read.map_err(|e| self.local(&e))?;
        Ok(Ran {
            status,
            output,
            errors: String::from_utf8_lossy(&text).into_owned(),
        })
    }

    fn wait(
        &self,
        child: &mut Child,
        program: &str,
        output: &File,
        errors: &File,
        max: u64,
    ) -> Result<ExitStatus, Failure> {
        let began = Instant::now();
        let person = began + Duration::from_secs(limits::GIT_SECONDS);
        let deadline = self.deadline.unwrap_or(person).min(person);
        let mut shown = None;
        let ended = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match child.wait_timeout(left.min(MEASURE)) {
                Ok(Some(status)) => break Ok(status),
                Ok(None) if left.is_zero() => {
                    let text = format!("{program} did not finish in time");
                    break Err(Failure::new(Class::TimedOut, text));
                }
                Ok(None) => {}
                Err(error) => break Err(self.local(&error)),
            }
            if output.metadata().is_ok_and(|metadata| metadata.len() > max) {
                let text = format!("{program} answered with more than {max} bytes");
                break Err(Failure::new(Class::TooLarge, text));
            }
            // This also reports a program that prints no progress while it waits for a slow server.
            let seconds = running().as_secs();
            if let (Some(show), true) = (self.progress, seconds > 0) {
                let silent = || format!("waiting for {program}: {seconds} s");
                show(&last_line(errors).unwrap_or_else(silent));
                shown = Some(show);
            }
        };
        if let Some(show) = shown {
            // This clears the line.
            show("");
        }
        if ended.is_err() {
            process::kill_group(child.id());
            // It was killed, so this returns at once. It avoids a zombie.
            let _ = child.wait();
        }
        ended
    }

    /// The failure for one of our own I/O errors.
    pub fn local(&self, error: &io::Error) -> Failure {
        let class = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Class::DiskFull,
            io::ErrorKind::FileTooLarge => Class::TooLarge,
            _ => Class::Other,
        };
        let error = Error::io("work in", self.scratch.path(), error);
        Failure::of(class, error)
    }

    /// The failure of a program that does not say why it failed: on a full disk it may not even be
    /// able to say that, so a write is tried here.
    pub fn tried(&self, failure: Failure) -> Failure {
        match (failure.class, self.write_some()) {
            (Class::Other, Err(error)) => self.local(&error).context(Error::from(failure)),
            _ => failure,
        }
    }

    fn write_some(&self) -> io::Result<()> {
        self.scratch.create_unseen()?.write_all(&vec![1; 64 * 1024])
    }
}

/// The last progress line of a program that overwrites one line again and again.
fn last_line(errors: &File) -> Option<String> {
    let length = errors.metadata().ok()?.len();
    let mut tail = [0; 200];
    let start = length.saturating_sub(tail.len() as u64);
    // The offset is explicit because the program writes at the file's own position.
    let read = errors.read_at(&mut tail, start).ok()?;
    let text = String::from_utf8_lossy(&tail[..read]).into_owned();
    let line = text.rsplit(['\r', '\n']).find(|line| line.contains('%'))?;
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn no_file_that_a_program_makes_is_longer_than_permitted() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Dir::anchor(dir.path()).unwrap();
        let env = Env::new([("PATH", "/usr/bin:/bin")], Path::new("/"));
        let tool = Tool {
            env: &env,
            deadline: None,
            scratch: &scratch,
            progress: None,
        };
        for (size, is_made) in [
            (limits::FETCHED_FILE, true),
            (limits::FETCHED_FILE + 1, false),
        ] {
            let mut command = tool.command("dd");
            command.args(["if=/dev/null", "of=x", "bs=1", &format!("seek={size}")]);
            let ran = tool.run(command, "", 0).unwrap();
            assert_eq!(ran.status.success(), is_made, "{}", ran.errors);
        }
    }

    #[test]
    fn the_last_progress_is_the_one_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("e");
        std::fs::write(&path, "Receiving: 10% (1/10)\rReceiving: 20% (2/10)\rRec").unwrap();
        assert_eq!(
            last_line(&File::open(path).unwrap()).unwrap(),
            "Receiving: 20% (2/10)"
        );
    }
}
