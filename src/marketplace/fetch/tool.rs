//! Runs one of the user's programs (git, curl) as a child process that can neither prompt nor
//! exceed its deadline nor fill the disk with its output. It knows nothing about what the program
//! does.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use wait_timeout::ChildExt;

use crate::marketplace::fetch::failure::{Class, Failure};
use crate::sys::{Dir, Env, limits, process, variables};

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

    /// How long to wait for another of our commands.
    pub fn patience(&self) -> Duration {
        let left = self
            .deadline
            .map(|d| d.saturating_duration_since(Instant::now()));
        left.unwrap_or(limits::INSTALL_LOCK)
            .min(limits::INSTALL_LOCK)
    }

    /// Runs it to its end. Its output may have at most `max` bytes.
    pub fn run(&self, mut command: Command, input: &str, max: u64) -> Result<Ran, Failure> {
        let program = command.get_program().to_string_lossy().into_owned();
        let file = || self.scratch.create_unseen();
        let files = (|| Ok((file()?, file()?, file()?)))();
        let (mut given, mut output, mut errors) = files.map_err(|e| self.local(&e))?;
        let written = given
            .write_all(input.as_bytes())
            .and_then(|()| given.seek(SeekFrom::Start(0)));
        written.map_err(|e| self.local(&e))?;
        let clones = (|| Ok((output.try_clone()?, errors.try_clone()?)))();
        let (stdout, stderr) = clones.map_err(|e| self.local(&e))?;
        command
            .stdin(Stdio::from(given))
            .stdout(stdout)
            .stderr(stderr);
        let child = process::in_own_group(&mut command).spawn();
        let mut child = child.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                Failure::new(Class::Missing, format!("{program} was not found"))
            }
            _ => Failure::new(Class::Other, format!("could not start {program}: {error}")),
        })?;
        let ended = self.wait(&mut child, &program, &output, &errors, max);
        // This ends the helpers that it left running.
        process::kill_group(child.id());
        let status = ended?;
        let mut text = Vec::new();
        let read = errors
            .seek(SeekFrom::Start(0))
            .and_then(|_| errors.take(STDERR).read_to_end(&mut text))
            .and_then(|_| output.seek(SeekFrom::Start(0)));
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
        let person = Instant::now() + Duration::from_secs(limits::GIT_SECONDS);
        let deadline = self
            .deadline
            .map_or(person, |deadline| deadline.min(person));
        let began = Instant::now();
        let mut progress = Progress {
            to: self.progress,
            told: false,
        };
        let stopped = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match child.wait_timeout(left.min(MEASURE)) {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if left.is_zero() => {
                    let text = format!("{program} did not finish in time");
                    break Failure::new(Class::TimedOut, text);
                }
                Ok(None) => {}
                Err(error) => break self.local(&error),
            }
            if output.metadata().is_ok_and(|metadata| metadata.len() > max) {
                let text = format!("{program} answered with more than {max} bytes");
                break Failure::new(Class::TooLarge, text);
            }
            // This also reports a program that prints no progress while it waits for a slow server.
            let seconds = began.elapsed().as_secs();
            let silent = || (seconds > 0).then(|| format!("{program}: {seconds} s"));
            if let Some(line) = last_line(errors).or_else(silent) {
                progress.tell(&line);
            }
        };
        process::kill_group(child.id());
        // It was killed, so this returns at once. It avoids a zombie.
        let _ = child.wait();
        Err(stopped)
    }

    /// The failure for one of our own I/O errors.
    pub fn local(&self, error: &io::Error) -> Failure {
        let class = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Class::DiskFull,
            io::ErrorKind::FileTooLarge => Class::TooLarge,
            _ => Class::Other,
        };
        let text = format!(
            "could not work in `{}`: {error}",
            self.scratch.path().display()
        );
        Failure::new(class, text)
    }
}

/// The line that shows progress, which is cleared at the end.
struct Progress {
    to: Option<fn(&str)>,
    told: bool,
}

impl Progress {
    fn tell(&mut self, line: &str) {
        if let Some(to) = self.to {
            to(line);
            self.told = true;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.told {
            self.tell("");
        }
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
