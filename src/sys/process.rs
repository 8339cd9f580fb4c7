//! Which process is which: identities that survive the recycling of process ids.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A process, told apart from later ones with the same id by when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessId {
    /// The process id.
    pub pid: u32,
    /// Clock ticks between boot and the process's start (`/proc/<pid>/stat`, field 22); 0 where
    /// the system does not tell.
    pub start: u64,
}

impl ProcessId {
    /// The process that started us.
    pub fn parent() -> Self {
        Self::of(std::os::unix::process::parent_id())
    }

    /// Ourselves.
    pub fn current() -> Self {
        Self::of(std::process::id())
    }

    /// The process that has this id now.
    pub fn of(pid: u32) -> Self {
        Self {
            pid,
            start: start_ticks(pid).unwrap_or(0),
        }
    }

    /// The processes that started us, one by one, as far as the system tells.
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

    /// Whether this very process still runs. Where start times are not known, a process of the
    /// same id counts as it.
    pub fn is_alive(self) -> bool {
        match start_ticks(self.pid) {
            Some(start) => self.start == 0 || start == self.start,
            None => !cfg!(target_os = "linux") && exists(self.pid),
        }
    }
}

/// Which boot of which machine this is, and which process-id namespace: process ids mean
/// something only within both. Empty where the system does not tell.
pub fn pid_realm() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{}{}", boot.trim(), namespace.display())
}

/// Field 22 of `/proc/<pid>/stat`. The second field is the program's name in parentheses and may
/// itself hold spaces and parentheses, so counting begins after the last one.
fn start_ticks(pid: u32) -> Option<u64> {
    // The kernel gives it in one piece, and says 0 for its length.
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

/// Whether a process of that id exists, whoever owns it.
#[allow(unsafe_code)]
fn exists(pid: u32) -> bool {
    let Ok(pid) = libc::pid_t::try_from(pid) else {
        return false;
    };
    // SAFETY: signal 0 checks for existence and sends nothing.
    let answer = unsafe { libc::kill(pid, 0) };
    answer == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// The user this process acts as.
#[allow(unsafe_code)]
pub fn effective_user() -> u32 {
    // SAFETY: `geteuid` has no preconditions and cannot fail.
    unsafe { libc::geteuid() }
}

/// The group this process acts as.
#[allow(unsafe_code)]
pub fn effective_group() -> u32 {
    // SAFETY: `getegid` has no preconditions and cannot fail.
    unsafe { libc::getegid() }
}

/// Kills every process of the group that `pid` leads; a group that is gone already is no error.
#[allow(unsafe_code)]
pub fn kill_group(pid: u32) {
    // 0 and 1 would mean our own group and every process there is.
    if let Some(pid) = libc::pid_t::try_from(pid).ok().filter(|pid| *pid > 1) {
        // SAFETY: `kill` reads nothing of ours; the group is one that we started.
        unsafe { libc::kill(-pid, libc::SIGKILL) };
    }
}

/// Lets `command` lead a process group of its own, take the signals that a host's call keeps waiting
/// and, on Linux, die with the thread that starts it: a kill of ours leaves no child at work.
#[allow(unsafe_code)]
pub fn in_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0);
    // SAFETY: between fork and exec only calls are made that are async-signal-safe, with a set that is
    // initialised first.
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

/// Leaves at once, running no exit handlers: the panic hook's way out.
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
        // The grandchild held the pipe; its end is the end of the grandchild.
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
