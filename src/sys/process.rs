//! Identifies processes even after their ids are reused.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, geteuid, getpid, kill_process, kill_process_group, setrlimit,
    test_kill_process, umask,
};
use serde::{Deserialize, Serialize};

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

    /// All our ancestors up to the first process, nearest first. `None` if the system does not
    /// report them all, or one ended meanwhile: its id may have been another's when it was read.
    pub fn whole_ancestry() -> Option<Vec<Self>> {
        let all: Vec<Self> = Self::ancestors().collect();
        is_whole(&all).then_some(all)
    }

    /// The names of its program: as it was started, of its executable, and as it calls itself. Only
    /// the first is always known, as the others are not told of another user's process. None if the
    /// process is gone.
    pub fn names(self) -> Vec<OsString> {
        let name = |path: PathBuf| Some(path.file_name()?.to_owned());
        let text = |file| {
            let mut bytes = Vec::new();
            let file = files::open_regular(&self.at(file)).ok()?;
            file.take(PROGRAM_NAME).read_to_end(&mut bytes).ok()?;
            let end = bytes.iter().position(|byte| [0, b'\n'].contains(byte));
            bytes.truncate(end.unwrap_or(bytes.len()));
            Some(OsString::from_vec(bytes))
        };
        let executable = fs::read_link(self.at("exe")).ok().and_then(name);
        let own = text("cmdline").and_then(|path| name(path.into()));
        let Some(started_as) = text("comm") else {
            return Vec::new();
        };
        let others = [executable, own].into_iter().flatten();
        std::iter::once(started_as).chain(others).collect()
    }

    /// Whether it runs this executable, under whatever name. No if the system does not say.
    pub fn runs(self, executable: &Path) -> bool {
        let file = |path: &Path| fs::metadata(path).ok().map(|it| (it.dev(), it.ino()));
        file(&self.at("exe")).is_some_and(|own| file(executable) == Some(own))
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

    /// Resumes the process if it is stopped. Does nothing without a start time, because the id may
    /// belong to any process.
    pub fn resume(self) {
        if self.start > 0
            && self.is_alive()
            && let Some(pid) = pid_of(self.pid)
        {
            let _ = kill_process(pid, Signal::CONT);
        }
    }
}

/// Whether these are all ancestors of a process. None began after its child.
fn is_whole(ancestors: &[ProcessId]) -> bool {
    let is_first = |last: &ProcessId| last.pid == FIRST;
    ancestors.last().is_some_and(is_first)
        && ancestors.is_sorted_by(|child, parent| parent.start <= child.start)
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

/// What is read of the name that a process was started by: a path.
const PROGRAM_NAME: u64 = 4096;

/// The id of the first process, from which all others descend.
const FIRST: u32 = 1;

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
    geteuid().as_raw()
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

/// Makes `command` lead a process group of its own, unblocks the signals that a host's call blocks
/// and, on Linux, ends it with the thread that starts it, so that no child outlives us.
pub fn in_own_group(command: &mut Command) -> &mut Command {
    let parent = getpid();
    command.process_group(0);
    signals::before_exec(command, move || {
        signals::unblock_all();
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

    #[test]
    fn a_chain_that_breaks_off_or_turns_back_is_not_whole() {
        let chain = |ids: &[(u32, u64)]| {
            let ids = ids.iter().map(|&(pid, start)| ProcessId { pid, start });
            is_whole(&ids.collect::<Vec<_>>())
        };
        assert!(chain(&[(9, 30), (5, 20), (1, 0)]) && chain(&[(1, 0)]));
        assert!(!chain(&[]) && !chain(&[(9, 30), (5, 20)]));
        assert!(!chain(&[(9, 30), (5, 40), (1, 0)]) && !chain(&[(9, 0), (5, 20), (1, 0)]));
        if cfg!(target_os = "linux") {
            let above = ProcessId::whole_ancestry().unwrap();
            assert_eq!(above[0], ProcessId::parent());
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_is_known_by_its_executable() {
        let me = ProcessId::current();
        let own = std::env::current_exe().unwrap();
        let name = own.file_name().unwrap().to_owned();
        assert!(me.names().contains(&name) && me.runs(&own));
        assert!(!me.runs("/proc".as_ref()) && ProcessId { pid: 0, ..me }.names().is_empty());
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
