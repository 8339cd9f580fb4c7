//! The answer of a host's call that cannot compute its own, prepared before anything is read and
//! sent by whatever ends the call first: a signal, a limit, the deadline, an abort or a panic. The
//! host treats a program that dies as one that permits (docs/spec/hosts.md#answers). All code here
//! may run in a signal handler and before the standard library starts: it allocates nothing, takes
//! no lock and cannot panic. Others decide the text of the answer.

use std::cell::UnsafeCell;
use std::ffi::CStr;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU8, Ordering};
use std::time::Duration;

use super::process::leave;

/// The answer of a call that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastWord {
    /// The complete standard output.
    pub answer: &'static str,
    /// Whether the host goes on as if permitted when it gets no answer.
    pub decides: bool,
}

/// A hook's answer that changes nothing; losing it changes nothing either.
pub const NEUTRAL: &str = "{}";

/// The result of sending an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// All of it was written.
    Arrived,
    /// The reader closed the pipe.
    Unread,
    /// It could not be written.
    Lost,
}

static WORD: AtomicPtr<LastWord> = AtomicPtr::new(std::ptr::null_mut());
/// The process that prepared the answer: a child before its exec has the same handlers.
static OWNER: AtomicI32 = AtomicI32::new(0);
static HOST: AtomicI32 = AtomicI32::new(0);
/// Whether we were started without standard output. The standard library then opens `/dev/null` in
/// its place.
static NO_OUTPUT: AtomicBool = AtomicBool::new(false);
static PHASE: AtomicU8 = AtomicU8::new(NOTHING_PREPARED);

/// Not a host's call.
const NOTHING_PREPARED: u8 = 0;
/// Whatever ends the call sends the prepared answer.
const PREPARED: u8 = 1;
/// An answer is being written. The host discards a truncated one, and a second one behind it would
/// make both worthless.
const ANSWERING: u8 = 2;
/// The host has its answer.
const ANSWERED: u8 = 3;
/// The host cannot be told, and must not go on.
const HOLDING: u8 = 4;

/// Faults. Returning from the handler of a real one raises it again at once.
const FAULTS: [libc::c_int; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGABRT,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGSYS,
    libc::SIGTRAP,
];
/// Other signals that end the call: the deadline, the limits of processor time, and requests to
/// stop, such as a Ctrl-C to the process group.
const ENDS: [libc::c_int; 7] = [
    libc::SIGALRM,
    libc::SIGPROF,
    libc::SIGXCPU,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
];
/// Signals that are left alone: they do not end the process.
const LEFT_ALONE: [libc::c_int; 8] = [
    // Ignored, as by the standard library, which restores it for children.
    libc::SIGPIPE,
    libc::SIGCHLD,
    libc::SIGCONT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGURG,
    libc::SIGWINCH,
];

/// How long before the hard limit of processor time the prepared answer is sent.
#[cfg(target_os = "linux")]
const BEFORE_KILL: Duration = Duration::from_millis(250);

/// The stack of the handlers, since the normal one may have overflowed. Twice the signal frame of
/// the processors with the most registers.
#[repr(align(16))]
struct HandlerStack(UnsafeCell<[u8; 32 * 1024]>);

// SAFETY: only the kernel gets its address, and it gives the stack to one handler at a time.
#[allow(unsafe_code)]
unsafe impl Sync for HandlerStack {}

static STACK: HandlerStack = HandlerStack(UnsafeCell::new([0; 32 * 1024]));

/// Prepares `word`, and ends the call with it after `deadline`, counted from the first preparation;
/// without a deadline, never.
pub fn prepare(word: &'static LastWord, deadline: Option<Duration>) {
    let before = WORD.swap(std::ptr::from_ref(word).cast_mut(), Ordering::SeqCst);
    if PHASE.load(Ordering::SeqCst) == NOTHING_PREPARED {
        know_surroundings();
        // Set before the first handler is installed, which may run at once.
        PHASE.store(PREPARED, Ordering::SeqCst);
        take_signals();
    } else if std::ptr::eq(before, word) {
        return;
    }
    set_deadline(deadline);
}

/// Prepares another answer instead of the last one.
pub fn replace(word: &'static LastWord) {
    WORD.store(std::ptr::from_ref(word).cast_mut(), Ordering::SeqCst);
}

/// Whether this is a host's call.
pub fn is_prepared() -> bool {
    PHASE.load(Ordering::SeqCst) != NOTHING_PREPARED
}

/// Ends the call with the prepared answer, unless one is being written already.
pub fn say() -> ! {
    end(false);
    leave(0)
}

/// Writes the call's answer; nothing is written after it. If an answer that must arrive cannot,
/// holds the call instead of ending it.
pub fn answer(text: &str) -> Sent {
    PHASE.store(ANSWERING, Ordering::SeqCst);
    let sent = write_all(text.as_bytes());
    if sent != Sent::Arrived && word().decides && text != NEUTRAL {
        hold();
    }
    PHASE.store(ANSWERED, Ordering::SeqCst);
    sent
}

/// Extends the deadline, if there is one, by `longer`.
#[allow(unsafe_code)]
pub fn allow(longer: Duration) {
    // SAFETY: it only stops this process's timer.
    let left = unsafe { libc::alarm(0) };
    if left > 0 {
        set_deadline(Some(longer.max(Duration::from_secs(left.into()))));
    }
}

/// Restarts the deadline; whole seconds, rounded up.
#[allow(unsafe_code)]
fn set_deadline(deadline: Option<Duration>) {
    let seconds = deadline.map_or(0, |time| time.as_millis().div_ceil(1000));
    // SAFETY: it only sets this process's timer, which children do not inherit.
    unsafe { libc::alarm(seconds.try_into().unwrap_or(libc::c_uint::MAX)) };
}

/// For a person's command: restores the usual signal handling; nothing is prepared any more.
#[allow(unsafe_code)]
pub fn stand_down() {
    if !is_prepared() {
        return;
    }
    PHASE.store(NOTHING_PREPARED, Ordering::SeqCst);
    set_deadline(None);
    // SAFETY: plain data that is filled before it is used, and signals that exist.
    unsafe {
        for signal in FAULTS.into_iter().chain(ENDS) {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// A variable of the environment, before the environment has been parsed.
#[allow(unsafe_code)]
pub fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: none of our code changes the environment, so the pointer stays valid.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    }
}

/// Makes this program call `$prepare` before `main` and before the standard library starts, which
/// allocates: a limit on memory may make that fail.
#[macro_export]
macro_rules! before_main {
    ($prepare:path) => {
        const _: () = {
            extern "C" fn early() {
                $prepare();
            }
            // The C library calls every function in this section, whatever its arguments. SAFETY:
            // the section holds pointers to such functions.
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

#[allow(unsafe_code)]
fn know_surroundings() {
    // SAFETY: plain calls that change nothing.
    unsafe {
        OWNER.store(libc::getpid(), Ordering::SeqCst);
        HOST.store(libc::getppid(), Ordering::SeqCst);
        let has_output = libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) != -1;
        NO_OUTPUT.store(!has_output, Ordering::SeqCst);
    }
}

#[allow(unsafe_code)]
fn take_signals() {
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = end_of_call;
    // What arrives before its handler is there waits for it.
    block_all_but(std::iter::empty());
    // SAFETY: all structures are plain data for which zero is valid; the stack is static, and the
    // handler is async-signal-safe.
    unsafe {
        // The standard library ignores it only when it starts, which is later.
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        let mut stack: libc::stack_t = std::mem::zeroed();
        stack.ss_sp = STACK.0.get().cast();
        stack.ss_size = size_of::<HandlerStack>();
        libc::sigaltstack(&raw const stack, std::ptr::null_mut());
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        for signal in FAULTS.into_iter().chain(ENDS) {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
    // Every other signal that could end the call stays blocked, also the one for a write beyond a
    // limit (SIGXFSZ), which then is an ordinary error. The deadline, which our parent may have
    // blocked, is not.
    block_all_but(FAULTS.into_iter().chain(ENDS).chain(LEFT_ALONE));
    #[cfg(target_os = "linux")]
    end_before_kill();
}

#[allow(unsafe_code)]
fn block_all_but(meant: impl Iterator<Item = libc::c_int>) {
    // The C libraries' functions leave out signals of their own (32 to 34), which end the process
    // too, so this calls the kernel, with one bit for each signal.
    #[cfg(target_os = "linux")]
    // SAFETY: the kernel reads the given number of bytes of a number that outlives the call.
    unsafe {
        let waiting = meant.fold(u64::MAX, |all, signal| all & !(1 << (signal - 1)));
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const waiting,
            std::ptr::null_mut::<u64>(),
            size_of::<u64>(),
        );
    }
    #[cfg(not(target_os = "linux"))]
    // SAFETY: plain data that is filled before it is used, and signals that exist.
    unsafe {
        let mut waiting = std::mem::zeroed();
        libc::sigfillset(&raw mut waiting);
        for signal in meant {
            libc::sigdelset(&raw mut waiting, signal);
        }
        libc::sigprocmask(libc::SIG_SETMASK, &raw const waiting, std::ptr::null_mut());
    }
}

/// Beyond the hard limit of processor time the kernel sends SIGKILL, without a warning if both
/// limits are equal. A timer fires shortly before.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn end_before_kill() {
    // SAFETY: both structures are plain data for which zero is valid and outlive the calls.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_CPU, &raw mut limit) != 0
            || limit.rlim_max == libc::RLIM_INFINITY
        {
            return;
        }
        // The kernel treats a limit of 0 as one second.
        let time =
            Duration::from_secs(limit.rlim_max.clamp(1, 1 << 30)).saturating_sub(BEFORE_KILL);
        let mut timer: libc::itimerval = std::mem::zeroed();
        timer.it_value.tv_sec = time.as_secs().try_into().unwrap_or(1);
        timer.it_value.tv_usec = time.subsec_micros().into();
        libc::setitimer(libc::ITIMER_PROF, &raw const timer, std::ptr::null_mut());
    }
}

#[allow(unsafe_code)]
extern "C" fn end_of_call(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: a plain call.
    if unsafe { libc::getpid() } != OWNER.load(Ordering::SeqCst) {
        leave(127);
    }
    // SAFETY: the kernel fills it for the handler. A signal sent by a process, including our own
    // `abort`, has a code of 0 or less; the interrupted code is then sound.
    let is_from_kernel = unsafe { (*info).si_code } > 0;
    end(is_from_kernel && FAULTS.contains(&signal));
}

/// Sends the prepared answer if nothing was sent yet, and exits. Returns if it interrupted
/// something that must finish and can.
fn end(is_fault: bool) {
    let turn = PHASE.compare_exchange(PREPARED, ANSWERING, Ordering::SeqCst, Ordering::SeqCst);
    match turn {
        Ok(_) => {
            let word = word();
            let sent = write_all(word.answer.as_bytes());
            if sent != Sent::Arrived && word.decides && word.answer != NEUTRAL {
                hold();
            }
            leave(0)
        }
        Err(ANSWERING | HOLDING) if !is_fault => {}
        Err(ANSWERING | HOLDING) => leave(1),
        Err(_) => leave(0),
    }
}

#[allow(unsafe_code)]
fn word() -> LastWord {
    const NONE: LastWord = LastWord {
        answer: "",
        decides: false,
    };
    // SAFETY: null, or what `replace` was given, which is static.
    unsafe { WORD.load(Ordering::SeqCst).as_ref() }.map_or(NONE, |word| *word)
}

/// Writes all bytes to standard output.
#[allow(unsafe_code)]
fn write_all(mut bytes: &[u8]) -> Sent {
    if NO_OUTPUT.load(Ordering::SeqCst) {
        return Sent::Lost;
    }
    while !bytes.is_empty() {
        // SAFETY: a slice with its length.
        let written =
            unsafe { libc::write(libc::STDOUT_FILENO, bytes.as_ptr().cast(), bytes.len()) };
        let error = io::Error::last_os_error().raw_os_error();
        match (usize::try_from(written), error) {
            (Ok(0), _) => return Sent::Lost,
            (Ok(written), _) => bytes = bytes.get(written..).unwrap_or_default(),
            (Err(_), Some(libc::EINTR)) => {}
            (Err(_), Some(libc::EAGAIN)) => wait(Some(libc::STDOUT_FILENO)),
            (Err(_), Some(libc::EPIPE)) => return Sent::Unread,
            (Err(_), _) => return Sent::Lost,
        }
    }
    Sent::Arrived
}

/// Stays until the host is gone: a host that gets no answer goes on with the call, and one that
/// waits does not. The newer host gives up the run after 30 seconds; the user can interrupt either.
#[allow(unsafe_code)]
fn hold() -> ! {
    PHASE.store(HOLDING, Ordering::SeqCst);
    set_deadline(None);
    let told = "agent-skills: the answer that refuses this call could not be written, so the call is \
                held back: interrupt chibi, and make room where its output goes\n";
    // SAFETY: plain calls, one with a text and its length.
    unsafe {
        libc::write(libc::STDERR_FILENO, told.as_ptr().cast(), told.len());
        while libc::getppid() == HOST.load(Ordering::SeqCst) {
            wait(None);
        }
    }
    leave(1)
}

/// Waits a moment, or until a descriptor is writable.
#[allow(unsafe_code)]
fn wait(writable: Option<libc::c_int>) {
    let mut entry = libc::pollfd {
        fd: writable.unwrap_or(-1),
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: one valid entry, and the count says one; `poll` skips a negative descriptor.
    unsafe { libc::poll(&raw mut entry, 1, 100) };
}
