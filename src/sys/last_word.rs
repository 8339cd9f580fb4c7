//! The answer of a host's call that cannot finish. It is prepared before anything is read, and sent
//! by whatever ends the call first: a signal, a limit, the deadline, an abort or a panic. Otherwise
//! the host would treat the death of the program as permission (docs/spec/hosts.md#answers). All
//! code here may run in a signal handler and before the standard library starts, so it allocates
//! nothing, takes no lock and cannot panic. The text of the answer is decided elsewhere.

use std::ffi::c_int;
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, getpid, getppid};
use rustix::stdio::{stderr, stdout};

use super::signals::{self, Action, Timer, leave};

/// The prepared answer of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastWord {
    /// The complete standard output.
    pub answer: &'static str,
    /// Whether the host treats a missing answer as permission.
    pub decides: bool,
    /// What an agent that takes no JSON for a refusal reads on standard error, if it is one.
    pub reason: &'static str,
    /// The exit status.
    pub status: c_int,
}

impl LastWord {
    /// An answer on standard output alone.
    pub const fn answering(answer: &'static str, decides: bool) -> Self {
        Self {
            answer,
            decides,
            reason: "",
            status: 0,
        }
    }

    /// A refusal by the exit status, whatever was asked.
    pub const fn refusing(reason: &'static str, status: c_int) -> Self {
        Self {
            answer: "",
            decides: true,
            reason,
            status,
        }
    }
}

/// A hook's answer that changes nothing, which may be lost.
pub const NEUTRAL: &str = "{}";

/// The result of sending an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It was written completely.
    Arrived,
    /// The reader closed the pipe.
    Unread,
    /// It could not be written.
    Lost,
}

/// The answers prepared so far. No call needs more than three.
static WORDS: [OnceLock<&'static LastWord>; 8] = [const { OnceLock::new() }; 8];
/// The index of the one to send.
static WORD: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The process that prepared the answer. A child that has not called exec yet has the same
/// handlers.
static OWNER: AtomicI32 = AtomicI32::new(0);
static HOST: AtomicI32 = AtomicI32::new(0);
/// Whether we were started without standard output, for which the standard library then opens
/// `/dev/null`.
static NO_OUTPUT: AtomicBool = AtomicBool::new(false);
static PHASE: AtomicU8 = AtomicU8::new(NOTHING_PREPARED);

/// This is not a host's call.
const NOTHING_PREPARED: u8 = 0;
/// Whatever ends the call now sends the prepared answer.
const PREPARED: u8 = 1;
/// An answer is being written. The host discards a truncated one, and another one after it would
/// spoil both.
const ANSWERING: u8 = 2;
/// The host has its answer.
const ANSWERED: u8 = 3;
/// The answer cannot be sent, but the host must not go on without it.
const HOLDING: u8 = 4;

/// Faults. A real one is raised again as soon as its handler returns.
const FAULTS: [c_int; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGABRT,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGSYS,
    libc::SIGTRAP,
];
/// Other signals that end the call: the deadline, the limits on processor time, and requests to
/// stop, such as Ctrl-C to the process group.
const ENDS: [c_int; 7] = [
    libc::SIGALRM,
    libc::SIGPROF,
    libc::SIGXCPU,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
];
/// Signals that keep their action, because they do not end the process.
const LEFT_ALONE: [c_int; 8] = [
    // Ignored, as the standard library does, which restores it for children.
    libc::SIGPIPE,
    libc::SIGCHLD,
    libc::SIGCONT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGURG,
    libc::SIGWINCH,
];

/// How long before the hard limit on processor time the prepared answer is sent.
#[cfg(target_os = "linux")]
const BEFORE_KILL: Duration = Duration::from_millis(250);

/// Prepares `word` and ends the call with it after `deadline`, if there is one, counted from the
/// first preparation.
pub fn prepare(word: &'static LastWord, deadline: Option<Duration>) {
    let before = WORD.load(Ordering::SeqCst);
    replace(word);
    if PHASE.load(Ordering::SeqCst) == NOTHING_PREPARED {
        OWNER.store(Pid::as_raw(Some(getpid())), Ordering::SeqCst);
        HOST.store(Pid::as_raw(getppid()), Ordering::SeqCst);
        NO_OUTPUT.store(rustix::io::fcntl_getfd(stdout()).is_err(), Ordering::SeqCst);
        // Set this before the first handler is installed, which may run at once.
        PHASE.store(PREPARED, Ordering::SeqCst);
        take_signals();
    } else if before == WORD.load(Ordering::SeqCst) {
        return;
    }
    set_deadline(deadline);
}

/// Prepares another answer in place of the current one.
pub fn replace(word: &'static LastWord) {
    let place = |slot: &OnceLock<_>| std::ptr::eq(*slot.get_or_init(|| word), word);
    if let Some(place) = WORDS.iter().position(place) {
        WORD.store(place, Ordering::SeqCst);
    }
}

/// Whether this is a host's call.
pub fn is_prepared() -> bool {
    PHASE.load(Ordering::SeqCst) != NOTHING_PREPARED
}

/// Ends the call with the prepared answer, unless an answer is being written already.
pub fn say() -> ! {
    end(None);
    leave(word().status)
}

/// Writes the call's answer, after which nothing else is written. If it cannot be written and the
/// host would go on without it, the call is held instead of ended.
pub fn answer(text: &str) -> Sent {
    PHASE.store(ANSWERING, Ordering::SeqCst);
    let sent = send(text);
    PHASE.store(ANSWERED, Ordering::SeqCst);
    sent
}

/// Extends the deadline, if there is one, by `longer`.
pub fn allow(longer: Duration) {
    let left = signals::set_timer(Timer::Real, Duration::ZERO);
    if !left.is_zero() {
        set_deadline(Some(longer.max(left)));
    }
}

/// Restarts the deadline.
fn set_deadline(deadline: Option<Duration>) {
    signals::set_timer(Timer::Real, deadline.unwrap_or_default());
}

/// For a person's command: restores the usual actions of signals. Nothing is prepared any more.
pub fn stand_down() {
    if !is_prepared() {
        return;
    }
    PHASE.store(NOTHING_PREPARED, Ordering::SeqCst);
    set_deadline(None);
    for signal in FAULTS.into_iter().chain(ENDS) {
        signals::set_action(signal, Action::Default);
    }
    signals::unblock_all();
}

fn take_signals() {
    // A signal that arrives before its handler is installed waits.
    signals::block_all_but([]);
    // The standard library ignores it too, but only later, when it starts.
    signals::set_action(libc::SIGPIPE, Action::Ignore);
    signals::use_handler_stack();
    for signal in FAULTS.into_iter().chain(ENDS) {
        signals::set_action(signal, Action::Call(end_of_call));
    }
    // Every other signal that could end the call stays blocked, so that a write beyond a limit
    // (SIGXFSZ) is an ordinary error. The signal of the deadline is unblocked, since our parent may
    // have blocked it.
    signals::block_all_but(FAULTS.into_iter().chain(ENDS).chain(LEFT_ALONE));
    #[cfg(target_os = "linux")]
    end_before_kill();
}

/// At the hard limit on processor time the kernel sends SIGKILL, without a warning if the soft
/// limit is the same. A timer ends the call shortly before.
#[cfg(target_os = "linux")]
fn end_before_kill() {
    use rustix::process::{Resource, getrlimit};

    if let Some(seconds) = getrlimit(Resource::Cpu).maximum {
        // The kernel treats a limit of 0 as one second.
        let limit = Duration::from_secs(seconds.clamp(1, 1 << 30));
        signals::set_timer(Timer::Processor, limit.saturating_sub(BEFORE_KILL));
    }
}

extern "C" fn end_of_call(signal: c_int) {
    if Pid::as_raw(Some(getpid())) != OWNER.load(Ordering::SeqCst) {
        leave(127);
    }
    end(FAULTS.contains(&signal).then_some(signal));
}

/// Sends the prepared answer if nothing was sent yet, and exits. Returns if it has interrupted a
/// write that must finish.
fn end(fault: Option<c_int>) {
    let turn = PHASE.compare_exchange(PREPARED, ANSWERING, Ordering::SeqCst, Ordering::SeqCst);
    match (turn, fault) {
        (Ok(_), _) => {
            let word = word();
            send(word.answer);
            let _ = rustix::io::write(stderr(), word.reason.as_bytes());
            leave(word.status)
        }
        // On return, a real fault is raised again and ends the process; one that was sent is over.
        (Err(ANSWERING | HOLDING), Some(fault)) => signals::set_action(fault, Action::Default),
        (Err(ANSWERING | HOLDING), None) => {}
        (Err(_), _) => leave(0),
    }
}

fn word() -> LastWord {
    const NONE: LastWord = LastWord::answering("", false);
    let slot = WORDS.get(WORD.load(Ordering::SeqCst));
    slot.and_then(OnceLock::get).map_or(NONE, |word| **word)
}

/// Writes an answer to standard output, or holds the call.
fn send(text: &str) -> Sent {
    let sent = write_all(text.as_bytes());
    let word = word();
    if sent != Sent::Arrived && word.decides && text != NEUTRAL {
        // Whoever takes an exit status for a refusal need not be held.
        if word.status != 0 {
            let _ = rustix::io::write(stderr(), word.reason.as_bytes());
            leave(word.status);
        }
        hold();
    }
    sent
}

/// Writes all bytes to standard output.
fn write_all(mut bytes: &[u8]) -> Sent {
    if NO_OUTPUT.load(Ordering::SeqCst) {
        return Sent::Lost;
    }
    while !bytes.is_empty() {
        match rustix::io::write(stdout(), bytes) {
            Ok(0) => return Sent::Lost,
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait(Some(stdout())),
            Err(Errno::PIPE) => return Sent::Unread,
            Err(_) => return Sent::Lost,
        }
    }
    Sent::Arrived
}

/// Waits until the host is gone: a host goes on if the call ends without an answer, but not while
/// it waits. The newer host gives up the run after 30 seconds, and the user can interrupt either.
fn hold() -> ! {
    PHASE.store(HOLDING, Ordering::SeqCst);
    set_deadline(None);
    let told = "agent-skills: the answer that refuses this call could not be written, so the call is \
                held back: interrupt chibi, and make room where its output goes\n";
    let _ = rustix::io::write(stderr(), told.as_bytes());
    while Pid::as_raw(getppid()) == HOST.load(Ordering::SeqCst) {
        wait(None);
    }
    leave(1)
}

/// Waits a short time, or until the descriptor is writable.
fn wait(writable: Option<BorrowedFd>) {
    let moment = Timespec {
        tv_sec: 0,
        tv_nsec: 100_000_000,
    };
    let mut writable = writable.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT));
    let _ = poll(writable.as_mut_slice(), Some(&moment));
}
