//! Process identities that survive the reuse of process ids.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A process, distinguished by its start time from later ones with the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessId {
    /// The process id.
    pub pid: u32,
    /// Clock ticks between boot and the process's start (`/proc/<pid>/stat`, field 22); 0 where the
    /// system does not report it.
    pub start: u64,
}

impl ProcessId {
    /// Our parent process.
    pub fn parent() -> Self {
        Self::of(std::os::unix::process::parent_id())
    }

    /// This process.
    pub fn current() -> Self {
        Self::of(std::process::id())
    }

    /// The process that currently has this id.
    pub fn of(pid: u32) -> Self {
        Self {
            pid,
            start: start_ticks(pid).unwrap_or(0),
        }
    }

    /// Our ancestors, nearest first, as far as the system reports them.
    pub fn ancestors() -> impl Iterator<Item = Self> {
        let started_by = |child: &Self| {
            let stat = fs::read_to_string(format!("/proc/{}/stat", child.pid)).ok()?;
            let pid = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
            let pid = pid.parse().ok().filter(|pid| *pid > 0)?;
            Some(Self {
                pid,
                start: start_ticks(pid)?,
            })
        };
        std::iter::successors(Some(Self::parent()), started_by)
    }

    /// Whether this process still runs. Where start times are unknown, any process with the same id
    /// counts.
    pub fn is_alive(self) -> bool {
        match start_ticks(self.pid) {
            Some(start) => self.start == 0 || start == self.start,
            None => !cfg!(target_os = "linux") && exists(self.pid),
        }
    }
}

/// The boot, the machine and the process-id namespace, within which process ids are unique. Empty
/// where the system does not report them.
pub fn pid_realm() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{}{}", boot.trim(), namespace.display())
}

/// Field 22 of `/proc/<pid>/stat`. The second field, the program's name in parentheses, may itself
/// contain spaces and parentheses, so count from the last one.
fn start_ticks(pid: u32) -> Option<u64> {
    // The kernel returns it in one read, and reports a length of 0.
    let mut stat = [0; 1024];
    let mut file = fs::File::open(format!("/proc/{pid}/stat")).ok()?;
    let length = file.read(&mut stat).ok()?;
    let stat = std::str::from_utf8(&stat[..length]).ok()?;
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(19)?
        .parse()
        .ok()
}

/// Whether a process with that id exists, whoever owns it.
#[allow(unsafe_code)]
fn exists(pid: u32) -> bool {
    let Ok(pid) = libc::pid_t::try_from(pid) else {
        return false;
    };
    // SAFETY: signal 0 checks for existence and sends nothing.
    let answer = unsafe { libc::kill(pid, 0) };
    answer == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// This process's effective user id.
#[allow(unsafe_code)]
pub fn effective_user() -> u32 {
    // SAFETY: `geteuid` has no preconditions and cannot fail.
    unsafe { libc::geteuid() }
}

/// This process's effective group id.
#[allow(unsafe_code)]
pub fn effective_group() -> u32 {
    // SAFETY: `getegid` has no preconditions and cannot fail.
    unsafe { libc::getegid() }
}

/// Kills every process of the group that `pid` leads; a group that no longer exists is not an
/// error.
#[allow(unsafe_code)]
pub fn kill_group(pid: u32) {
    // 0 and 1 would mean our own group and every process.
    if let Some(pid) = libc::pid_t::try_from(pid).ok().filter(|pid| *pid > 1) {
        // SAFETY: `kill` reads no memory of ours; we started the group.
        unsafe { libc::kill(-pid, libc::SIGKILL) };
    }
}

/// Makes `command` lead its own process group, unblock the signals that a host's call blocks and,
/// on Linux, die with the thread that starts it: killing us leaves no child running.
#[allow(unsafe_code)]
pub fn in_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0);
    // SAFETY: between fork and exec only async-signal-safe calls are made, with a signal set that
    // is initialised first.
    unsafe {
        command.pre_exec(|| {
            let mut none = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            #[cfg(target_os = "linux")]
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    command
}

/// Exits at once without running exit handlers; the panic hook uses it.
#[allow(unsafe_code)]
pub fn leave(code: i32) -> ! {
    // SAFETY: `_exit` only ends the process.
    unsafe { libc::_exit(code) }
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
        // The grandchild held the pipe, so end of file means that it has ended.
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
