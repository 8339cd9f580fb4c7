//! Signals, timers and other calls of a process that have no safe form. With `script/exec.rs` this
//! is the only file that may contain `unsafe`: one call per block, each with its proof. It decides
//! nothing.

use std::ffi::c_int;
use std::io::{self, PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::sync::OnceLock;

/// The pipe to which the handler of [`on_child_end`] writes.
static CHILD_ENDED: OnceLock<PipeWriter> = OnceLock::new();

/// What a signal does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    /// The system's default.
    Default,
    /// Nothing.
    Ignore,
    /// Calls a function, on the separate stack that the standard library gives each thread since the
    /// normal one may have overflowed. The function may only make the calls that signal-safety(7)
    /// lists.
    Call(extern "C" fn(c_int)),
}

/// Sets what a signal does. Numbers that are not signals are ignored.
pub(super) fn set_action(signal: c_int, action: Action) {
    let zero = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: plain data, for which zero is valid: no flags, an empty mask, `SIG_DFL`.
    let mut new = unsafe { zero.assume_init() };
    new.sa_sigaction = match action {
        Action::Default => libc::SIG_DFL,
        Action::Ignore => libc::SIG_IGN,
        Action::Call(function) => function as libc::sighandler_t,
    };
    new.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: `new` outlives the call. The only functions of this crate that become handlers are
    // `child_ended` and the one of `fallback_answer`; both meet the condition of `Action::Call`.
    unsafe { libc::sigaction(signal, &raw const new, ptr::null_mut()) };
}

/// Runs something that reads the interrupt key itself, which then does not end the process.
pub fn ignoring_interrupts<T>(run: impl FnOnce() -> T) -> T {
    set_action(libc::SIGINT, Action::Ignore);
    let ran = run();
    set_action(libc::SIGINT, Action::Default);
    ran
}

/// As the standard library does, but before it starts.
#[cfg(test)]
pub fn ignore_pipe() {
    set_action(libc::SIGPIPE, Action::Ignore);
}

/// Has a broken pipe end this process, and programs that it executes, as usual: the standard library
/// ignores `SIGPIPE`.
pub fn restore_pipe() {
    set_action(libc::SIGPIPE, Action::Default);
}

/// Sends `SIGALRM` after so many seconds, or never if given zero. Returns how many were left. Children
/// do not inherit it.
pub(super) fn set_timer(seconds: u32) -> u32 {
    // SAFETY: it takes a number.
    unsafe { libc::alarm(seconds) }
}

/// Exits at once without running exit handlers.
pub fn leave(code: i32) -> ! {
    // SAFETY: it ends the process without touching its memory.
    unsafe { libc::_exit(code) }
}

/// Calls a function in the new process before that executes the command.
pub fn before_exec(
    command: &mut Command,
    function: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    // SAFETY: if other threads may hold locks, the function must not allocate. The callers are
    // `process::in_own_group`, whose function makes a few system calls, and `script::supervise`,
    // which has a single thread.
    unsafe { command.pre_exec(function) };
}

/// Returns a pipe that becomes readable whenever a child has ended.
///
/// # Errors
/// When no pipe can be created.
pub fn on_child_end() -> io::Result<PipeReader> {
    let (reader, writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(&reader, true)?;
    rustix::io::ioctl_fionbio(&writer, true)?;
    // A process has only one such pipe.
    CHILD_ENDED.get_or_init(|| writer);
    set_action(libc::SIGCHLD, Action::Call(child_ended));
    Ok(reader)
}

extern "C" fn child_ended(_: c_int) {
    if let Some(pipe) = CHILD_ENDED.get() {
        // If the pipe is full, it is readable already.
        let _ = rustix::io::write(pipe, b"e");
    }
}

/// Makes the test program call `$prepare` before `main`.
#[cfg(test)]
macro_rules! before_main {
    ($prepare:path) => {
        const _: () = {
            extern "C" fn early() {
                $prepare();
            }
            // SAFETY: the C library calls every function in this section, whatever its arguments,
            // and the section holds pointers to such functions.
            #[allow(unsafe_code)]
            #[used]
            #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
            #[cfg_attr(
                target_vendor = "apple",
                unsafe(link_section = "__DATA,__mod_init_func")
            )]
            static EARLY: extern "C" fn() = early;
        };
    };
}

#[cfg(test)]
pub(crate) use before_main;
