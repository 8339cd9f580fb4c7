//! The answer of a host's call that cannot finish. It is prepared before anything is read, and sent
//! by whatever ends the call first: the deadline, a request to stop, a fault, an abort or a panic.
//! Otherwise the host would treat the death of the program as permission (docs/hosts.md#answers).
//! All code here may run in a signal handler, so it allocates nothing, takes no lock and cannot
//! panic. The text of the answer is decided elsewhere.

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};
use std::time::Duration;

use rustix::process::{Pid, getpid};
use rustix::stdio::{stderr, stdout};

use super::signals::{self, Action, leave};

/// The prepared answer of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FallbackAnswer {
    /// The complete standard output.
    pub answer: &'static str,
    /// What an agent that takes no JSON for a refusal reads on standard error.
    pub reason: &'static str,
    /// The exit status.
    pub status: u8,
}

impl FallbackAnswer {
    /// An answer on standard output alone.
    pub const fn answering(answer: &'static str) -> Self {
        Self {
            answer,
            reason: "",
            status: 0,
        }
    }

    /// A refusal by the exit status, whatever was asked.
    pub const fn refusing(reason: &'static str, status: u8) -> Self {
        Self {
            answer: "",
            reason,
            status,
        }
    }
}

static PREPARED: OnceLock<&'static FallbackAnswer> = OnceLock::new();
/// What is sent instead of [`PREPARED`].
static REPLACED: OnceLock<&'static FallbackAnswer> = OnceLock::new();
/// The process that prepared the answer. A child that has not called exec yet has the same
/// handlers.
static OWNER: AtomicI32 = AtomicI32::new(0);
static PHASE: AtomicU8 = AtomicU8::new(WORKING);

/// Whatever ends the call now sends the prepared answer.
const WORKING: u8 = 0;
/// An answer is being written. The host discards a truncated one, and another one after it would
/// spoil both.
const ANSWERING: u8 = 1;
/// The host has its answer.
const ANSWERED: u8 = 2;

/// An exhausted stack and an abort. A fault is raised again as soon as its handler returns.
const FAULTS: &[c_int] = if cfg!(target_vendor = "apple") {
    &[libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT]
} else {
    &[libc::SIGSEGV, libc::SIGABRT]
};
/// The deadline, and a request to stop.
const REQUESTS: &[c_int] = &[libc::SIGALRM, libc::SIGTERM];

/// Prepares `answer` and ends the call with it after `deadline`, if there is one.
pub fn prepare(answer: &'static FallbackAnswer, deadline: Option<Duration>) {
    PREPARED.get_or_init(|| answer);
    OWNER.store(Pid::as_raw(Some(getpid())), Ordering::SeqCst);
    for signal in FAULTS.iter().chain(REQUESTS) {
        signals::set_action(*signal, Action::Call(end_of_call));
    }
    signals::set_timer(deadline.map_or(0, seconds));
}

/// Prepares another answer in place of the current one.
pub fn replace(answer: &'static FallbackAnswer) {
    REPLACED.get_or_init(|| answer);
}

/// The prepared answer, if this is a host's call.
pub fn prepared() -> Option<&'static FallbackAnswer> {
    REPLACED.get().or(PREPARED.get()).copied()
}

/// Ends the call with the prepared answer, unless an answer is being written already.
pub fn send() -> ! {
    end_of_call(libc::SIGABRT);
    leave(1)
}

/// Runs what writes the call's answer, which nothing interrupts, and after which nothing else is
/// written.
pub fn while_answering<T>(write: impl FnOnce() -> T) -> T {
    PHASE.store(ANSWERING, Ordering::SeqCst);
    let written = write();
    PHASE.store(ANSWERED, Ordering::SeqCst);
    written
}

/// Extends the deadline, if there is one, by `longer`.
pub fn allow(longer: Duration) {
    let left = signals::set_timer(0);
    if left > 0 {
        signals::set_timer(seconds(longer).max(left));
    }
}

/// In whole seconds, at least one.
fn seconds(time: Duration) -> u32 {
    let whole = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    whole.max(1).try_into().unwrap_or(u32::MAX)
}

/// Sends the prepared answer if nothing was sent yet, and exits. Returns if it has interrupted a
/// write that must finish.
extern "C" fn end_of_call(signal: c_int) {
    if Pid::as_raw(Some(getpid())) != OWNER.load(Ordering::SeqCst) {
        leave(127);
    }
    let turn = PHASE.compare_exchange(WORKING, ANSWERING, Ordering::SeqCst, Ordering::SeqCst);
    match (turn, prepared()) {
        (Ok(_), Some(prepared)) => {
            let mut rest = prepared.answer.as_bytes();
            while !rest.is_empty()
                && let Ok(written @ 1..) = rustix::io::write(stdout(), rest)
            {
                rest = rest.get(written..).unwrap_or_default();
            }
            let _ = rustix::io::write(stderr(), prepared.reason.as_bytes());
            leave(prepared.status.into())
        }
        (Err(ANSWERING), _) if REQUESTS.contains(&signal) => {}
        (Err(ANSWERED), _) => leave(0),
        // What was written may be whole: with another status the host would not look at it.
        (_, prepared) => leave(prepared.map_or(1, |prepared| prepared.status.into())),
    }
}
