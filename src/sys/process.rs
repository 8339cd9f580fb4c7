//! Identifies processes even after their ids are reused.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, geteuid, getpid, kill_process_group, setrlimit,
    test_kill_process, umask,
};
use serde::{Deserialize, Serialize};
use wait_timeout::ChildExt;

use super::{files, signals};

/// What this process creates from now on may be read by all, whatever umask it was started with;
/// what is secret is created with its own mode.
pub fn write_for_all() {
    umask(Mode::WGRP | Mode::WOTH);
}

/// A process. Its start time distinguishes it from later ones with the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    /// The process id.
    pub pid: u32,
    /// Clock ticks from boot to the start of the process (`/proc/<pid>/stat`, field 22); 0 if the
    /// system does not report it.
    pub start: u64,
}

impl ProcessId {
    /// Our parent process.
    pub fn parent() -> Self {
        Self::from_pid(std::os::unix::process::parent_id())
    }

    /// This process.
    pub fn current() -> Self {
        Self::from_pid(std::process::id())
    }

    /// The process that has this id now.
    pub fn from_pid(pid: u32) -> Self {
        Self {
            pid,
            start: stat(pid, START).unwrap_or(0),
        }
    }

    /// Our ancestors as far as the system reports them, nearest first.
    pub fn ancestors() -> impl Iterator<Item = Self> {
        let started_by = |child: &Self| {
            let pid = stat(child.pid, PARENT)?.try_into().ok()?;
            let start = stat(pid, START)?;
            Some(Self { pid, start }).filter(|parent| parent.pid > 0)
        };
        std::iter::successors(Some(Self::parent()), started_by)
    }

    /// Its names, as far as the system tells them of a process that may be another user's.
    pub fn image(self) -> Image {
        let read = |file| {
            let mut bytes = Vec::new();
            let file = files::open_regular(&self.at(file)).ok()?;
            file.take(IMAGE).read_to_end(&mut bytes).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let text = |file| read(file).unwrap_or_default();
        let executable = fs::read_link(self.at("exe")).ok();
        let words = text("cmdline");
        Image {
            comm: text("comm").trim_end().to_owned(),
            executable: executable.map(|path| path.to_string_lossy().into_owned()),
            words: words.split_terminator('\0').map(str::to_owned).collect(),
        }
    }

    fn at(self, file: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{file}", self.pid))
    }

    /// Whether this process still runs. Without start times, any process with its id counts.
    pub fn is_alive(self) -> bool {
        if let Some(start) = stat(self.pid, START) {
            return self.start == 0 || start == self.start;
        }
        // Elsewhere only a signal tells, whoever owns the process.
        let is_there = |pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM));
        !cfg!(target_os = "linux") && pid_of(self.pid).is_some_and(is_there)
    }
}

/// What the system calls a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Image {
    /// What it was started as or calls itself: 15 bytes at most.
    pub comm: String,
    /// Its executable; `None` if that is not told, as of another user's.
    pub executable: Option<String>,
    /// The words that it was started with, or the title that it has put in their place.
    pub words: Vec<String>,
}

/// Boot, machine and process id namespace, within which process ids are unique. Empty if the system
/// does not report them.
pub fn pid_realm() -> &'static str {
    static REALM: OnceLock<String> = OnceLock::new();
    REALM.get_or_init(|| {
        let boot = files::kernel_text("/proc/sys/kernel/random/boot_id");
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        format!("{}{}", boot.trim(), namespace.display())
    })
}

/// What is read of the words that a process was started with: enough for its script.
const IMAGE: u64 = 16 * 1024;

/// Indexes of the fields of `/proc/<pid>/stat`, starting at the third.
const PARENT: usize = 1;
const START: usize = 19;

/// A number in `/proc/<pid>/stat`. The second field is the program's name in parentheses, which may
/// contain spaces and parentheses, so fields are counted from the last parenthesis.
fn stat(pid: u32, field: usize) -> Option<u64> {
    // The kernel reports a length of 0, but returns everything in one read.
    let mut stat = [0; 1024];
    let mut file = files::open_regular(format!("/proc/{pid}/stat").as_ref()).ok()?;
    let length = file.read(&mut stat).ok()?;
    let stat = std::str::from_utf8(&stat[..length]).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    fields.nth(field)?.parse().ok()
}

/// The id for sending a signal; `None` for 0 and 1, which would mean our own group and every
/// process.
pub fn pid_of(pid: u32) -> Option<Pid> {
    let pid = i32::try_from(pid).ok().filter(|pid| *pid > 1)?;
    Pid::from_raw(pid)
}

/// This machine's name, as it calls itself; a container has its own.
pub fn machine() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// This process's effective user id.
pub fn effective_user() -> u32 {
    static USER: OnceLock<u32> = OnceLock::new();
    *USER.get_or_init(|| geteuid().as_raw())
}

/// Kills every process of the group that `pid` leads. It is not an error if the group no longer
/// exists.
pub fn kill_group(pid: u32) {
    if let Some(pid) = pid_of(pid) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// Makes us die with `parent`, even if it is dead already (Linux).
pub fn die_with(parent: Pid) {
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        if rustix::process::getppid() != Some(parent) {
            signals::leave(127);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
}

/// Makes `command` lead a process group of its own and, on Linux, ends it with the thread that starts
/// it, so that no child outlives us.
pub fn in_own_group(command: &mut Command) -> &mut Command {
    let parent = getpid();
    command.process_group(0);
    signals::before_exec(command, move || {
        die_with(parent);
        Ok(())
    });
    command
}

/// Keeps `command`, and what it starts, from making a file longer than so many bytes.
pub fn limit_files(command: &mut Command, bytes: u64) {
    signals::before_exec(command, move || {
        let limit = Rlimit {
            current: Some(bytes),
            maximum: Some(bytes),
        };
        // Where less is permitted already, that stays.
        let _ = setrlimit(Resource::Fsize, limit);
        Ok(())
    });
}

/// How often a running program is looked at. Its end is noticed at once.
const LOOK: Duration = Duration::from_millis(100);

/// Why a program did not run to its end.
#[derive(Debug)]
pub enum RunError {
    /// It could not be started.
    NotStarted(io::Error),
    /// It ran for longer than it may.
    TimedOut,
    /// It answered with more than it may.
    AnswerTooLarge,
    /// The files for what it reads and prints could not be made or used, or it not be waited for.
    Own(io::Error),
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::Own(error)
    }
}

/// Runs a program in a group of its own, of which nothing is left after it. What it reads and prints is
/// in files that `file` makes, so nobody waits for the other. While it runs, `watch` gets what is on its
/// standard error. Returns its standard output and standard error at their beginning.
///
/// # Errors
/// When it cannot be started, or runs for longer than `patience`, or answers with more than `most`
/// bytes; and when the files cannot be made.
pub fn run(
    command: &mut Command,
    input: &[u8],
    file: impl Fn() -> io::Result<File>,
    patience: Duration,
    most: u64,
    mut watch: impl FnMut(&File),
) -> Result<(ExitStatus, File, File), RunError> {
    let (mut given, mut output, mut errors) = (file()?, file()?, file()?);
    given.write_all(input)?;
    given.rewind()?;
    command.stdin(given);
    command.stdout(output.try_clone()?);
    command.stderr(errors.try_clone()?);
    let child = in_own_group(command).spawn();
    let mut child = child.map_err(RunError::NotStarted)?;
    let end = Instant::now() + patience;
    let ended = loop {
        let left = end.saturating_duration_since(Instant::now());
        match child.wait_timeout(left.min(LOOK)).transpose() {
            Some(ended) => break ended.map_err(RunError::Own),
            None if left.is_zero() => break Err(RunError::TimedOut),
            None if output.metadata().is_ok_and(|output| output.len() > most) => {
                break Err(RunError::AnswerTooLarge);
            }
            None => watch(&errors),
        }
    };
    // This ends the helpers that it left running, or all of it.
    kill_group(child.id());
    // It has ended or was killed, so this returns at once. It avoids a zombie.
    let _ = child.wait();
    let status = ended?;
    output.rewind()?;
    errors.rewind()?;
    Ok((status, output, errors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_alive_and_a_recycled_id_is_not_it() {
        let me = ProcessId::current();
        assert!(me.is_alive());
        if cfg!(target_os = "linux") {
            assert!(
                !ProcessId {
                    start: me.start + 1,
                    ..me
                }
                .is_alive()
            );
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_has_its_names_and_one_that_is_gone_none() {
        let image = ProcessId::current().image();
        let own = std::env::current_exe().unwrap();
        assert_eq!(image.executable.as_deref(), own.to_str());
        assert!(!image.comm.is_empty() && !image.words.is_empty());
        assert_eq!(ProcessId { pid: 0, start: 0 }.image(), Image::default());
    }

    #[test]
    fn an_error_of_our_files_is_none_of_the_program() {
        let run = |program: &str, file: fn() -> io::Result<File>| {
            let patience = Duration::from_secs(10);
            run(&mut Command::new(program), b"", file, patience, 1, |_| {}).unwrap_err()
        };
        let full = || Err(io::ErrorKind::PermissionDenied.into());
        assert!(matches!(run("true", full), RunError::Own(_)));
        let missing = run("/is/not/there", files::unnamed);
        assert!(matches!(missing, RunError::NotStarted(_)));
    }

    #[test]
    fn a_killed_group_takes_grandchildren_along() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 60 & echo $!; wait"]);
        shell.stdout(std::process::Stdio::piped());
        let mut child = in_own_group(&mut shell).spawn().unwrap();
        let mut line = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        kill_group(child.id());
        child.wait().unwrap();
        // The grandchild holds the pipe open, so its end means that the grandchild has ended.
        assert_eq!(
            std::io::Read::read_to_string(&mut out, &mut line).unwrap(),
            0
        );
    }

    #[test]
    fn a_reaped_child_is_not_alive() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert!(!ProcessId { pid, start: 0 }.is_alive());
    }
}
