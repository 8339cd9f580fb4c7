//! The raw process calls. All of them may run between `fork` and `exec` in a process that had other
//! threads: they allocate nothing, take no lock and cannot panic. They know nothing of scripts.

use std::os::fd::RawFd;
use std::time::Duration;
use std::{io, ptr};

/// A process id as the system calls take it.
pub type Pid = libc::pid_t;

/// Without `ppoll` a child's end is noticed only at the next tick.
#[cfg(not(target_os = "linux"))]
const TICK: Duration = Duration::from_millis(20);

/// Forks; returns `None` in the child.
///
/// # Safety
/// If the process may have other threads, one of which may hold the allocator's lock, the child
/// must call only async-signal-safe functions until it exits or executes a program, and must not
/// return.
#[allow(unsafe_code)]
pub unsafe fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the caller guarantees what the child does next.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        pid => Ok(Some(pid)),
    }
}

/// Our own process id.
#[allow(unsafe_code)]
pub fn own_pid() -> Pid {
    // SAFETY: always succeeds.
    unsafe { libc::getpid() }
}

/// Leaves terminal, session and process group, and (Linux) becomes a subreaper: it adopts every
/// descendant whose parent dies, however that detached itself.
#[allow(unsafe_code)]
pub fn become_reaper() {
    // SAFETY: plain calls on ourselves. `setsid` cannot fail in a fresh child; if the kernel has no
    // subreaper, we can still kill the process group.
    unsafe {
        libc::setsid();
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1 as libc::c_ulong);
    }
}

/// Makes `pid` (0: ourselves) the leader of a new process group.
#[allow(unsafe_code)]
pub fn lead_group(pid: Pid) {
    // SAFETY: a plain call. It fails only if the other side of the fork did it first.
    unsafe { libc::setpgid(pid, pid) };
}

/// Makes us die with `parent`, also if it is dead already (Linux).
#[allow(unsafe_code)]
pub fn die_with(parent: Pid) {
    // SAFETY: plain calls on ourselves.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
        if libc::getppid() != parent {
            libc::_exit(127);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
}

/// Blocks every signal that can be blocked, so that only `SIGKILL` can interrupt a supervisor's
/// cleanup. A child's end still wakes [`wait_event`].
#[allow(unsafe_code)]
pub fn block_signals() {
    extern "C" fn noted(_: libc::c_int) {}
    // SAFETY: both structures are plain data for which zero is valid. The empty handler makes the
    // signal interrupt `ppoll` and children become zombies.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, ptr::null_mut());
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = noted as extern "C" fn(libc::c_int) as libc::sighandler_t;
        libc::sigaction(libc::SIGCHLD, &raw const action, ptr::null_mut());
    }
}

/// Restores the default action of every signal and unblocks all: Rust ignores `SIGPIPE`, a host may
/// ignore more, and ignored signals stay ignored across `exec`.
#[allow(unsafe_code)]
pub fn fresh_signals() {
    // SAFETY: plain data, zero is valid; invalid signal numbers are rejected harmlessly.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

/// Changes directory; returns the error number on failure.
#[allow(unsafe_code)]
pub fn enter(directory: &std::ffi::CStr) -> Result<(), i32> {
    // SAFETY: a C string by its type.
    match unsafe { libc::chdir(directory.as_ptr()) } {
        0 => Ok(()),
        _ => Err(last_errno()),
    }
}

/// Enters the Landlock ruleset irrevocably (Linux); returns the error number on failure.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn confine(ruleset: RawFd) -> Result<(), i32> {
    let (yes, none): (libc::c_ulong, libc::c_ulong) = (1, 0);
    // SAFETY: plain calls on ourselves. `no_new_privs` goes first, as Landlock requires.
    let entered = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, yes, none, none, none) == 0
            && libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) == 0
    };
    if entered { Ok(()) } else { Err(last_errno()) }
}

/// No other system has such a sandbox.
#[cfg(not(target_os = "linux"))]
pub fn confine(_: RawFd) -> Result<(), i32> {
    Err(libc::ENOSYS)
}

/// Executes another program; returns only on failure, with the reason.
///
/// # Safety
/// `argv` and `envp` end in a null pointer; every other element is a C string.
#[allow(unsafe_code)]
pub unsafe fn execute(
    program: &std::ffi::CStr,
    argv: &[*const libc::c_char],
    envp: &[*const libc::c_char],
) -> i32 {
    // SAFETY: the caller guarantees it.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), envp.as_ptr()) };
    last_errno()
}

/// Waits until one of `fds` is ready, a child ends, or `limit` has passed; the entries show which.
/// Entries with a negative descriptor are ignored.
///
/// `ppoll` with `SIGCHLD` unblocked only inside it is free of races, works on every Linux and also
/// wakes for adopted orphans. A pidfd covers only one child and needs a newer kernel.
#[allow(unsafe_code)]
pub fn wait_event(fds: &mut [libc::pollfd], limit: Duration) {
    let count = fds.len() as libc::nfds_t;
    // SAFETY: a slice with its length, all sets and times initialised; zero is valid for a set.
    #[cfg(target_os = "linux")]
    let ready = unsafe {
        let mut mask = std::mem::zeroed();
        libc::sigfillset(&raw mut mask);
        libc::sigdelset(&raw mut mask, libc::SIGCHLD);
        let time = libc::timespec {
            tv_sec: limit.as_secs().try_into().unwrap_or(i32::MAX.into()),
            tv_nsec: limit.subsec_nanos().into(),
        };
        libc::ppoll(fds.as_mut_ptr(), count, &raw const time, &raw const mask)
    };
    // SAFETY: a slice with its length.
    #[cfg(not(target_os = "linux"))]
    let ready = unsafe {
        let millis = limit.min(TICK).as_millis().try_into().unwrap_or(1);
        libc::poll(fds.as_mut_ptr(), count, millis)
    };
    if ready <= 0 {
        for fd in fds {
            fd.revents = 0;
        }
    }
}

/// Whether `child` has ended. It stays a zombie, so that neither its id nor its group's is reused;
/// orphans that have ended are reaped.
#[allow(unsafe_code)]
pub fn has_ended(child: Pid) -> bool {
    loop {
        // SAFETY: plain data that the call fills; zero is valid, and means nothing has ended.
        let ended = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            match libc::waitid(libc::P_ALL, 0, &raw mut info, flags) {
                0 => info.si_pid(),
                _ => child,
            }
        };
        if ended == 0 || ended == child {
            return ended == child;
        }
        // SAFETY: reaps a child that has ended.
        unsafe { libc::waitpid(ended, ptr::null_mut(), libc::WNOHANG) };
    }
}

/// What [`reap`] found.
pub enum Reaped {
    /// One child that had ended, with its wait status.
    Child(Pid, i32),
    /// There are children, but none has ended.
    Running,
    /// There are no children.
    Nothing,
}

/// Reaps one child without blocking.
#[allow(unsafe_code)]
pub fn reap() -> Reaped {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
        0 => Reaped::Running,
        -1 => Reaped::Nothing,
        pid => Reaped::Child(pid, status),
    }
}

/// Waits for one child to end.
#[allow(unsafe_code)]
pub fn wait(child: Pid) {
    // SAFETY: no status is asked for.
    while unsafe { libc::waitpid(child, ptr::null_mut(), 0) } == -1 && last_errno() == libc::EINTR {
    }
}

/// Kills one process.
pub fn kill(pid: Pid) {
    if pid > 1 {
        kill_number(pid);
    }
}

/// Kills a process group, which the kernel does atomically: no member can escape by forking.
pub fn kill_group(group: Pid) {
    if group > 1 {
        kill_number(-group);
    }
}

/// Resumes a stopped process.
#[allow(unsafe_code)]
pub fn resume(pid: Pid) {
    if pid > 1 {
        // SAFETY: a plain call; it has no effect on a process that is not stopped.
        unsafe { libc::kill(pid, libc::SIGCONT) };
    }
}

#[allow(unsafe_code)]
fn kill_number(number: Pid) {
    // SAFETY: a plain call; the callers exclude 0, 1 and -1, which are not processes of ours.
    unsafe { libc::kill(number, libc::SIGKILL) };
}

/// Stops one process: only [`kill`] and `SIGCONT` affect it then.
#[allow(unsafe_code)]
pub fn stop(pid: Pid) {
    if pid > 1 {
        // SAFETY: a plain call to a process of ours.
        unsafe { libc::kill(pid, libc::SIGSTOP) };
    }
}

/// Stops a process group.
#[allow(unsafe_code)]
pub fn stop_group(group: Pid) {
    if group > 1 {
        // SAFETY: a plain call to a group of ours.
        unsafe { libc::kill(-group, libc::SIGSTOP) };
    }
}

/// The process group of a process; -1 when it is gone.
#[allow(unsafe_code)]
pub fn group_of(pid: Pid) -> Pid {
    // SAFETY: a plain call.
    unsafe { libc::getpgid(pid) }
}

/// Hides our memory, including the environment, from every process without the privilege to trace
/// (Linux): they cannot read `/proc/<pid>/environ`. The next `exec` ends this.
#[allow(unsafe_code)]
pub fn hide() {
    // SAFETY: a plain call on ourselves.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0 as libc::c_ulong);
    }
}

fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
