//! The process between the plugin and a script: this program, started anew as `__supervise`. It
//! owns the script's process tree and ends it when the script exits, times out or is stopped, or
//! when the plugin or the host is gone. Once the plugin has made the script a job, it survives both
//! and takes over the output ([`super::relay`]). It has one thread, and accepts its specification
//! only from its lifeline.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, Cursor, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::process::{Pid, getpid};

use super::relay::{self, Control, Relay};
use super::report::{Ended, Failure, Report};
use super::sandbox::{Prepared, Sandbox};
use super::spec::{Conditions, ProcessSpec};
use super::spool::CHUNK;
use super::stream::not_now;
use super::{exec, tree};
use crate::sys::process::{ProcessId, die_with, pid_of};
use crate::sys::{Interest, millis, poll, signals};

/// The argument with which this program starts itself; for nobody else.
pub const VERB: &str = "__supervise";

/// The exit status of a script that could not be executed, as in shells.
const NOT_EXECUTED: i32 = 127;

/// Supervises a script, if these are a supervisor's arguments and standard input is a socket.
/// Otherwise returns `None`, as if this verb did not exist.
pub fn supervise(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let has_lifeline = || rustix::net::sockopt::socket_type(rustix::stdio::stdin()).is_ok();
    if !args.into_iter().skip(1).eq([VERB]) || !has_lifeline() {
        return None;
    }
    // An error means that the plugin is gone or out of resources; it notices our exit.
    Some(run().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

#[expect(clippy::disallowed_methods, reason = "a device of the system")]
fn run() -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, open};
    use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stderr, stdin, stdout};

    let lifeline = UnixStream::from(stdin().try_clone_to_owned()?);
    let outputs = [
        stdout().try_clone_to_owned()?,
        stderr().try_clone_to_owned()?,
    ];
    // The host waits until nobody holds the plugin's stdout (docs/spec/hosts.md#time-limits), and
    // the plugin waits until nobody holds the script's.
    let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    // Leaves terminal, session and process group, which cannot fail in a new process.
    let _ = rustix::process::setsid();
    tree::adopt_orphans();
    let children = signals::on_child_end()?;
    let (process, conditions, input) = ProcessSpec::receive(&lifeline)?;
    lifeline.set_nonblocking(true)?;
    let mut supervisor = Supervisor {
        began: Instant::now(),
        conditions,
        lifeline,
        host: None,
        is_released: false,
        relay: None,
        children,
        input: Input {
            pipe: None,
            bytes: Cursor::new(input),
        },
    };
    supervisor.supervise(process, outputs);
    Ok(())
}

struct Supervisor {
    began: Instant,
    conditions: Conditions,
    lifeline: UnixStream,
    /// Ready when the host has ended; `None` where the system cannot tell.
    host: Option<OwnedFd>,
    /// Whether the job's id has been printed: lifeline and host no longer matter.
    is_released: bool,
    /// The streams of a job.
    relay: Option<Relay>,
    /// Readable when a child has ended.
    children: PipeReader,
    input: Input,
}

impl Supervisor {
    fn supervise(&mut self, process: ProcessSpec, outputs: [OwnedFd; 2]) {
        match self.conditions.host.map(watch_process).transpose() {
            Ok(host) => self.host = host.flatten(),
            Err(failure) => return tell(&self.lifeline, Report::Failed(failure)),
        }
        loop {
            if self.heed() {
                return;
            }
            if !self.conditions.at_once || self.relay.is_some() {
                break;
            }
            let fds = [Some((self.lifeline.as_fd(), PollFlags::IN)), self.host()];
            if matches!(poll(fds, self.conditions.limit), Ok([_, true]) | Err(_)) {
                return;
            }
        }
        let ended = match self.begin(process, outputs) {
            Ok(script) => {
                let mut ended = self.watch(script);
                (ended.status, ended.survivors) = tree::end(script, &self.children);
                ended
            }
            Err(failure) => {
                tell(&self.lifeline, Report::Failed(failure));
                Ended {
                    status: NOT_EXECUTED << 8,
                    ..Ended::default()
                }
            }
        };
        if let Some(relay) = self.relay.take() {
            relay.finish(ended, millis(self.began.elapsed()));
        }
        tell(&self.lifeline, Report::Ended(ended));
    }

    /// Follows the plugin's messages; `true` if the script is to end.
    fn heed(&mut self) -> bool {
        // Messages sent before the plugin's end count: a job may have been released.
        while !self.is_released {
            match relay::listen(&self.lifeline) {
                Control::Nothing => break,
                Control::HandOver(relay) => {
                    self.relay = Some(relay);
                    tell(&self.lifeline, Report::Adopted);
                }
                Control::Release if self.relay.is_some() => self.is_released = true,
                Control::Release | Control::End => return true,
            }
        }
        false
    }

    fn host(&self) -> Interest<'_> {
        let host = self.host.as_ref().filter(|_| !self.is_released);
        host.map(|host| (host.as_fd(), PollFlags::IN))
    }

    /// Starts the script.
    fn begin(&mut self, process: ProcessSpec, outputs: [OwnedFd; 2]) -> Result<Pid, Failure> {
        let [stdout, stderr] = outputs;
        let no_process = |error: io::Error| Failure::NotExecuted(errno(&error));
        let mut told = File::from(stderr.try_clone().map_err(no_process)?);
        let lifeline = self.lifeline.try_clone().map_err(no_process)?;
        let mut message = move |failure| {
            // For a job that nobody waits for, this is the only message.
            let _ = told.write(b"agent-skills: the interpreter could not be executed\n");
            failure
        };
        let sandbox = process.sandbox.as_ref().map(Sandbox::prepare).transpose();
        let mut sandbox = sandbox.map_err(|errno| message(Failure::NotConfined(errno)))?;
        // The script inherits our working directory when it starts.
        std::env::set_current_dir(&process.workdir)
            .map_err(|error| message(Failure::NoWorkdir(errno(&error))))?;
        let mut command = Command::new(OsStr::from_bytes(process.program.to_bytes()));
        command.process_group(0).stdout(stdout).stderr(stderr);
        command.stdin(self.input.open().map_err(no_process)?);
        let supervisor = getpid();
        signals::before_exec(&mut command, move || {
            die_with(supervisor);
            // Sent before the script can start anything: if we are lost, the plugin knows what to
            // kill.
            tell(&lifeline, Report::Started(std::process::id()));
            let confined = sandbox.take().map_or(Ok(()), Prepared::enter);
            let failure = match confined {
                Ok(()) => Failure::NotExecuted(exec::execute(
                    &process.program,
                    &process.args,
                    &process.env,
                )),
                Err(errno) => Failure::NotConfined(errno),
            };
            tell(&lifeline, Report::Failed(message(failure)));
            signals::leave(NOT_EXECUTED)
        });
        let script = command.spawn().map_err(no_process)?;
        let _ = std::env::set_current_dir("/");
        pid_of(script.id()).ok_or(Failure::NotExecuted(0))
    }

    /// Waits for the script's end or a reason to end it, and copies a job's streams. Returns the
    /// reason.
    fn watch(&mut self, script: Pid) -> Ended {
        // Somebody stopped it, or the plugin or the host is gone.
        let stopped = Ended {
            stopped: true,
            ..Ended::default()
        };
        let deadline = self.began + self.conditions.limit;
        let mut buffer = [0; CHUNK];
        while !tree::has_ended(script) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ended {
                    timed_out: true,
                    ..Ended::default()
                };
            }
            let Ok([child, host, input, stop, stdout, stderr, _]) = poll(self.interests(), left)
            else {
                return stopped;
            };
            if child {
                tree::reap_orphans(script, &self.children);
            }
            if input {
                self.input.feed();
            }
            if let Some(relay) = &mut self.relay {
                relay.pump([stdout, stderr], &mut buffer);
            }
            if stop || self.heed() || (host && !self.is_released) {
                return stopped;
            }
        }
        Ended::default()
    }

    fn interests(&self) -> [Interest<'_>; 7] {
        let [stop, stdout, stderr] = self.relay.as_ref().map_or([None; 3], Relay::interests);
        let lifeline = (self.lifeline.as_fd(), PollFlags::IN);
        [
            Some((self.children.as_fd(), PollFlags::IN)),
            self.host(),
            self.input.interest(),
            stop,
            stdout,
            stderr,
            Some(lifeline).filter(|_| !self.is_released),
        ]
    }
}

/// The script's standard input.
struct Input {
    pipe: Option<PipeWriter>,
    bytes: Cursor<Vec<u8>>,
}

impl Input {
    /// The script's end of it.
    fn open(&mut self) -> io::Result<Stdio> {
        if self.bytes.get_ref().is_empty() {
            return Ok(Stdio::null());
        }
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        self.pipe = Some(writer);
        Ok(reader.into())
    }

    fn interest(&self) -> Interest<'_> {
        self.pipe
            .as_ref()
            .map(|pipe| (pipe.as_fd(), PollFlags::OUT))
    }

    fn feed(&mut self) {
        let rest = self.bytes.fill_buf().unwrap_or_default();
        match self.pipe.as_mut().map(|pipe| pipe.write(rest)) {
            Some(Ok(written)) if written < rest.len() => {
                self.bytes.consume(written);
            }
            Some(Err(error)) if not_now(&error) => {}
            // All of it was read, or the script has closed its input.
            _ => self.pipe = None,
        }
    }
}

/// Sends a report; errors do not matter, since they mean that the plugin is gone.
fn tell(mut lifeline: &UnixStream, report: Report) {
    let line = serde_json::to_string(&report).map(|report| report + "\n");
    let _ = lifeline.write(line.unwrap_or_default().as_bytes());
}

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(0)
}

/// A descriptor that is ready when the process has ended; `None` where the system cannot (Linux
/// before 5.3, other systems) or does not report when processes started.
fn watch_process(process: ProcessId) -> Result<Option<OwnedFd>, Failure> {
    #[cfg(target_os = "linux")]
    use rustix::process::{PidfdFlags, pidfd_open};

    if process.start == 0 {
        return Ok(None);
    }
    #[cfg(target_os = "linux")]
    let opened = pid_of(process.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    #[cfg(not(target_os = "linux"))]
    let opened = None;
    // Checked after opening: if the process is alive now, it was alive then, and the descriptor is
    // its own, even if its id has been reused before.
    if process.is_alive() {
        Ok(opened)
    } else {
        Err(Failure::HostGone)
    }
}
