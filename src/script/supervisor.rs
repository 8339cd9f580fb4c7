//! The process between us and a script. It owns the script's process tree and ends it when the
//! script exits, times out or is stopped, or when the plugin or the host is gone. Once the plugin
//! has made it a job, it survives both and takes the output ([`relay`]). After the fork it uses
//! only prepared data and raw calls. It knows nothing of interpreters or environments.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::image::ProcessSpec;
use super::own_environment::Environment;
use super::process::{self, Pid};
use super::relay::{self, Control, Relay};
use super::report::{Ended, Failure, Report};
use super::sandbox::Sandbox;
use super::spool::CHUNK;
use super::watched::Watched;
use super::{descriptor, tree};
use crate::sys::process::{ProcessId, leave};

/// A script under supervision, as the plugin sees it. Dropping it ends the script.
pub struct Running {
    supervisor: Pid,
    /// Our end of the lifeline, on which reports arrive. The supervisor holds the other end.
    pub control: Option<UnixStream>,
    /// The script's standard input; `None` if it was started without.
    pub stdin: Option<PipeWriter>,
    /// The script's standard output.
    pub stdout: PipeReader,
    /// The script's standard error.
    pub stderr: PipeReader,
}

/// How a script is started.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// How long it may take.
    pub limit: Duration,
    /// Its standard input. The caller writes it, and the supervisor writes the rest when the script
    /// becomes a job.
    pub stdin: &'a [u8],
    /// Whether it becomes a job at once: it begins only after its streams have been handed over.
    pub at_once: bool,
    /// The process with which it ends, unless it becomes a job.
    pub host: Option<ProcessId>,
}

/// Starts `image` under a supervisor.
///
/// # Errors
/// When the system refuses pipes or a process, or the host is gone already.
#[allow(clippy::disallowed_methods, reason = "/dev/null")]
pub fn start(image: &ProcessSpec, start: Start) -> io::Result<Running> {
    let Start {
        limit,
        stdin,
        at_once,
        host,
    } = start;
    let host = host.map(Watched::watch).transpose()?.flatten();
    // Every descriptor created here is closed on exec; the script gets 0, 1 and 2.
    let null = File::options().read(true).write(true).open("/dev/null")?;
    let (control, theirs) = UnixStream::pair()?;
    control.set_nonblocking(true)?;
    let input = stdin;
    let stdin = if input.is_empty() {
        None
    } else {
        Some(io::pipe()?)
    };
    let (stdout, stdout_theirs) = io::pipe()?;
    let (stderr, stderr_theirs) = io::pipe()?;
    descriptor::set_nonblocking(stdout.as_fd())?;
    descriptor::set_nonblocking(stderr.as_fd())?;
    if let Some((_, writer)) = &stdin {
        descriptor::set_nonblocking(writer.as_fd())?;
    }
    // From here on we hold data that no script may read, and so does the fork.
    process::hide();
    let setup = Setup {
        image,
        host: host.as_ref().map(AsRawFd::as_raw_fd),
        environment: Environment::find(),
        input,
        at_once,
        began: Instant::now(),
        limit,
        control: theirs.as_raw_fd(),
        null: null.as_raw_fd(),
        stdio: [
            stdin
                .as_ref()
                .map_or(null.as_raw_fd(), |(reader, _)| reader.as_raw_fd()),
            stdout_theirs.as_raw_fd(),
            stderr_theirs.as_raw_fd(),
        ],
    };
    // SAFETY: `supervise` keeps to prepared data and the calls of `process`, and never returns.
    #[allow(unsafe_code)]
    let forked = unsafe { process::fork() }?;
    let Some(supervisor) = forked else {
        supervise(&setup);
    };
    Ok(Running {
        supervisor,
        control: Some(control),
        stdin: stdin.map(|(_, writer)| writer),
        stdout,
        stderr,
    })
}

impl Running {
    /// Kills a supervisor that did not answer, and the script's group if known. It misses processes
    /// that left the group.
    pub fn abandon(&self, script: Option<Pid>) {
        process::kill(self.supervisor);
        process::kill_group(script.unwrap_or(0));
    }

    /// The supervisor's process.
    pub fn supervisor(&self) -> Pid {
        self.supervisor
    }

    /// Asks the supervisor to end the script; its report tells when that is done.
    pub fn end(&self) {
        if let Some(control) = &self.control {
            descriptor::tell(control.as_raw_fd(), b"e");
        }
    }

    /// Leaves the script to a supervisor that has adopted it. Until the result is released, the
    /// script still ends with us.
    pub fn leave(mut self) -> Option<Release> {
        self.control.take().map(Release)
    }
}

/// The lifeline of a job whose id nobody knows yet. Dropping it ends the job.
#[derive(Debug)]
pub struct Release(UnixStream);

impl Release {
    /// The id is known: the job no longer depends on us.
    pub fn release(self) {
        descriptor::tell(self.0.as_raw_fd(), &relay::RELEASE);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The lifeline first: when it closes, the supervisor kills what is left and exits.
        if let Some(control) = self.control.take() {
            drop(control);
            process::wait(self.supervisor);
        }
    }
}

/// What the supervisor needs, all prepared before the fork.
struct Setup<'a> {
    image: &'a ProcessSpec,
    host: Option<RawFd>,
    environment: Environment,
    input: &'a [u8],
    at_once: bool,
    began: Instant,
    limit: Duration,
    control: RawFd,
    null: RawFd,
    stdio: [RawFd; 3],
}

/// Exits the process when dropped: a panic after the fork must not unwind into a copy of the
/// caller's code.
struct NeverReturn;

impl Drop for NeverReturn {
    fn drop(&mut self) {
        leave(127);
    }
}

fn supervise(setup: &Setup) -> ! {
    let _guard = NeverReturn;
    // SAFETY: this is a fork, and it has one thread.
    #[allow(unsafe_code)]
    unsafe {
        setup.environment.wipe();
    }
    process::block_signals();
    process::become_reaper();
    // The host waits until nobody holds the plugin's stdout (docs/spec/hosts.md#time-limits), so
    // neither we nor our descendants may hold it.
    for fd in 0..3 {
        descriptor::redirect(setup.null, fd);
    }
    let [stdin, stdout, stderr] = setup.stdio;
    let sandbox = setup.image.sandbox().and_then(Sandbox::descriptor);
    let sandbox = sandbox.unwrap_or(setup.control);
    let host = setup.host.unwrap_or(setup.control);
    descriptor::close_all_but([setup.control, stdin, stdout, stderr, sandbox, host]);
    let mut relay = None;
    while setup.at_once && relay.is_none() {
        let mut fds = [descriptor::interest(Some(setup.control), libc::POLLIN)];
        process::wait_event(&mut fds, setup.limit);
        match relay::listen(setup.control) {
            Control::Nothing => {}
            Control::HandOver(handover) => relay = Some(adopt(setup, &handover)),
            Control::Release | Control::End => leave(0),
        }
    }
    let supervisor = process::own_pid();
    // SAFETY: as in `start`; this process has one thread.
    #[allow(unsafe_code)]
    let script = match unsafe { process::fork() } {
        Ok(Some(script)) => script,
        Ok(None) => become_script(setup, supervisor),
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(0);
            descriptor::tell(
                setup.control,
                &Report::Failed(Failure::NoProcess(errno)).encode(),
            );
            leave(127);
        }
    };
    // On both sides of the fork, to avoid a race.
    process::lead_group(script);
    for fd in setup.stdio {
        descriptor::close(fd);
    }
    descriptor::tell(setup.control, &Report::Started(script).encode());
    let mut buffer = [0; CHUNK];
    let why = watch(setup, script, &mut relay, &mut buffer);
    let (status, survivors) = tree::end(script);
    let ended = Ended {
        status,
        timed_out: why == Why::Deadline,
        stopped: why == Why::Stopped,
        survivors,
    };
    if let Some(relay) = relay {
        let millis = setup.began.elapsed().as_millis();
        relay.finish(ended, millis.try_into().unwrap_or(u64::MAX), &mut buffer);
    }
    descriptor::tell(setup.control, &Report::Ended(ended).encode());
    leave(0);
}

fn become_script(setup: &Setup, supervisor: Pid) -> ! {
    process::lead_group(0);
    process::die_with(supervisor);
    for (from, to) in setup.stdio.into_iter().zip(0..) {
        descriptor::redirect(from, to);
    }
    process::fresh_signals();
    let failure = match process::enter(setup.image.workdir()) {
        Ok(()) => match setup.image.sandbox().map_or(Ok(()), Sandbox::enter) {
            Ok(()) => Failure::NotExecuted(setup.image.execute()),
            Err(errno) => Failure::NotConfined(errno),
        },
        Err(errno) => Failure::NoWorkdir(errno),
    };
    // For a job that nobody waits for, this is the only message.
    descriptor::tell(2, b"agent-skills: the interpreter could not be executed\n");
    descriptor::tell(setup.control, &Report::Failed(failure).encode());
    leave(127);
}

fn adopt<'a>(setup: &Setup<'a>, handover: &relay::Handover) -> Relay<'a> {
    descriptor::tell(setup.control, &Report::Adopted.encode());
    Relay::new(handover, setup.input)
}

/// Why watching ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// The script exited.
    Exited,
    /// Its time is over.
    Deadline,
    /// Somebody stopped it, or the plugin or the host is gone.
    Stopped,
}

/// Waits for the script's end or a reason to end it. When the plugin hands over the script's
/// streams, `relay` gets them.
fn watch<'a>(
    setup: &Setup<'a>,
    script: Pid,
    relay: &mut Option<Relay<'a>>,
    buffer: &mut [u8; CHUNK],
) -> Why {
    let deadline = setup.began + setup.limit;
    let mut control = Some(setup.control);
    let mut host = setup.host;
    while !process::has_ended(script) {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Why::Deadline;
        }
        let mut fds = [descriptor::interest(None, 0); 6];
        fds[0] = descriptor::interest(control, libc::POLLIN);
        fds[1] = descriptor::interest(host, libc::POLLIN);
        if let Some(relay) = relay {
            fds[2..].copy_from_slice(&relay.interests());
        }
        process::wait_event(&mut fds, left);
        if let Some(relay) = relay
            && relay.pump(&fds[2..], buffer)
        {
            return Why::Stopped;
        }
        // Everything sent before the plugin's end counts: a job may have been released.
        while let Some(lifeline) = control {
            match relay::listen(lifeline) {
                Control::Nothing => break,
                Control::HandOver(handover) => {
                    *relay = Some(adopt(setup, &handover));
                }
                Control::Release if relay.is_some() => (control, host) = (None, None),
                Control::Release | Control::End => return Why::Stopped,
            }
        }
        if host.is_some() && fds[1].revents != 0 {
            return Why::Stopped;
        }
    }
    Why::Exited
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
