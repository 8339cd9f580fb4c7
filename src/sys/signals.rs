//! Signals, timers and other calls of a process that have no safe form. With `script/exec.rs` this
//! is the only file that may contain `unsafe`: one call per block, each with its proof. It decides
//! nothing.

use std::ffi::{CStr, c_int};
use std::io::{self, PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// The stack of signal handlers, since the normal one may have overflowed. Twice the signal frame
/// of the processors with the most registers. Atomics, because the kernel writes to it.
static STACK: [AtomicU64; 4096] = [const { AtomicU64::new(0) }; 4096];

/// The pipe to which the handler of [`on_child_end`] writes.
static CHILD_ENDED: OnceLock<PipeWriter> = OnceLock::new();

/// What a signal does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    /// The system's default.
    Default,
    /// Nothing.
    Ignore,
    /// Calls a function on a separate stack ([`use_handler_stack`]). The function may only make the
    /// calls that signal-safety(7) lists.
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
    // `child_ended` and the one of `last_word`; both meet the condition of `Action::Call`.
    unsafe { libc::sigaction(signal, &raw const new, ptr::null_mut()) };
}

/// Runs something that reads the interrupt key itself, which then does not end the process.
pub fn ignoring_interrupts<T>(run: impl FnOnce() -> T) -> T {
    set_action(libc::SIGINT, Action::Ignore);
    let ran = run();
    set_action(libc::SIGINT, Action::Default);
    ran
}

/// Sets every signal to its default. The standard library ignores `SIGPIPE`, a host may ignore
/// more, and programs that we execute would inherit that.
pub fn reset_actions() {
    for signal in 1..=64 {
        set_action(signal, Action::Default);
    }
}

/// Has a broken pipe end this process, and programs that it executes, as usual: the standard library
/// ignores `SIGPIPE`.
pub fn restore_pipe() {
    set_action(libc::SIGPIPE, Action::Default);
}

/// Makes handlers run on [`STACK`].
pub(super) fn use_handler_stack() {
    let stack = libc::stack_t {
        ss_sp: STACK.as_ptr().cast_mut().cast(),
        ss_flags: 0,
        ss_size: size_of_val(&STACK),
    };
    // SAFETY: the stack is static, may be written through a shared reference, and has no other use;
    // the kernel gives it to one handler at a time, since they run in the main thread.
    unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
}

/// Blocks every signal except those given.
pub fn block_all_but(signals: impl IntoIterator<Item = c_int>) {
    let bits = signals.into_iter();
    set_mask(bits.fold(u64::MAX, |all, signal| all & !(1 << (signal - 1))));
}

/// Unblocks every signal.
pub fn unblock_all() {
    set_mask(0);
}

/// Sets the mask of blocked signals, whose lowest bit is signal 1. The functions of the C libraries
/// leave out signals of their own (32 to 34), which also end the process.
#[cfg(target_os = "linux")]
fn set_mask(mask: u64) {
    let none = ptr::null_mut::<u64>();
    let size = size_of_val(&mask);
    let call = libc::SYS_rt_sigprocmask;
    // SAFETY: the kernel reads `size` bytes of `mask`, which outlives the call.
    unsafe { libc::syscall(call, libc::SIG_SETMASK, &raw const mask, none, size) };
}

/// Sets the mask of blocked signals, whose lowest bit is signal 1.
#[cfg(not(target_os = "linux"))]
fn set_mask(mask: u64) {
    let mask = u32::try_from(mask & u64::from(u32::MAX)).unwrap_or_default();
    // SAFETY: a set of signals is such a number on these systems, and `mask` outlives the call.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const mask, ptr::null_mut()) };
}

/// What a timer measures.
#[derive(Debug, Clone, Copy)]
pub(super) enum Timer {
    /// Real time; then it sends `SIGALRM`.
    Real,
    /// Processor time; then it sends `SIGPROF`.
    #[cfg(target_os = "linux")]
    Processor,
}

/// Starts a timer, or stops it if given zero. Returns the time that was left. Children do not
/// inherit it.
#[allow(
    clippy::unnecessary_fallible_conversions,
    reason = "the types are not the same on every system"
)]
pub(super) fn set_timer(timer: Timer, after: Duration) -> Duration {
    let which = match timer {
        Timer::Real => libc::ITIMER_REAL,
        #[cfg(target_os = "linux")]
        Timer::Processor => libc::ITIMER_PROF,
    };
    let time = |time: Duration| libc::timeval {
        tv_sec: i32::try_from(time.as_secs()).unwrap_or(i32::MAX).into(),
        tv_usec: time.subsec_micros().try_into().unwrap_or_default(),
    };
    let new = libc::itimerval {
        it_interval: time(Duration::ZERO),
        it_value: time(after),
    };
    let mut old = new;
    // SAFETY: both structures outlive the call.
    unsafe { libc::setitimer(which, &raw const new, &raw mut old) };
    let (seconds, micros) = (old.it_value.tv_sec, old.it_value.tv_usec);
    Duration::from_secs(seconds.try_into().unwrap_or_default())
        + Duration::from_micros(micros.try_into().unwrap_or_default())
}

/// A variable of the environment. Allocates nothing, so it can be called before `main`.
pub fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: the name is a C string, and none of our code changes the environment.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: a C string of the environment, which stays in place until the process ends.
    Some(unsafe { CStr::from_ptr(value) })
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

/// Makes this program call `$prepare` before `main` and before the standard library starts, whose
/// allocations may fail under a limit on memory.
#[macro_export]
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

pub use before_main;
