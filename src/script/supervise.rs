//! The process between the plugin and a script: this program, started anew as `__supervise`. It
//! owns the script's process tree and copies its outputs to two files that it was given, or to those
//! of a job. It ends the tree when the script exits, times out or is stopped, or when the plugin or
//! the host is gone; once the plugin has made the script a job, it survives both. It adopts orphans:
//! what a killed process has started becomes its own child, to be killed in the next round. It has one
//! thread, and accepts its specification only from its lifeline.

use super::prelude::*;
use std::io::{PipeReader, Seek};
use std::os::unix::ffi::OsStrExt;
use std::process::{ExitCode, Stdio};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, kill_process_group,
    wait, waitid, waitpid,
};
use rustix::stdio::{stderr, stdin, stdout};

use super::exec;
use crate::sys::process::{die_with, pid_of};

/// The argument with which this program starts itself; for nobody else.
pub const VERB: &str = "__supervise";

/// The exit status of a script that could not be executed, as in shells.
const NOT_EXECUTED: i32 = 127;
/// What the script's standard error says then: for a job that nobody waits for, all that is told.
const NOT_EXECUTED_TEXT: &[u8] = b"agent-skills: the interpreter could not be executed\n";

/// Supervises a script, if these are a supervisor's arguments and standard input is a socket.
/// Otherwise returns `None`, as if this verb did not exist.
pub fn supervise(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let has_lifeline = || rustix::net::sockopt::socket_type(stdin()).is_ok();
    if !args.into_iter().skip(1).eq([VERB]) || !has_lifeline() {
        return None;
    }
    // An error means that the plugin is gone or out of resources; it notices our exit.
    Some(run().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

fn run() -> io::Result<()> {
    let lifeline = UnixStream::from(stdin().try_clone_to_owned()?);
    let stdout = stdout().try_clone_to_owned()?;
    let stderr = stderr().try_clone_to_owned()?;
    // Leaves terminal, session and process group, which cannot fail in a new process.
    let _ = rustix::process::setsid();
    // If the kernel cannot make descendants ours whose parents die, the script's process group can still
    // be killed.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
    let children = signals::on_child_end()?;
    let (process, conditions, input) = ProcessSpec::receive(&lifeline)?;
    let mut supervisor = Supervisor {
        began: Instant::now(),
        conditions,
        lifeline: Lifeline::new(lifeline)?,
        host: None,
        outputs: [stdout, stderr].map(|file| Spool::new(file.into())),
        job: None,
        is_released: false,
        children,
        input,
    };
    supervisor.supervise(process);
    Ok(())
}

struct Supervisor {
    began: Instant,
    conditions: Conditions,
    lifeline: Lifeline,
    /// Ready when the host has ended; `None` where the system cannot tell.
    host: Option<OwnedFd>,
    /// Standard output and standard error.
    outputs: [Spool; 2],
    /// The job that the script has become.
    job: Option<SupervisedJob>,
    /// Whether the job's id has been printed: lifeline and host no longer matter.
    is_released: bool,
    /// Readable when a child has ended.
    children: PipeReader,
    /// What the script reads.
    input: Vec<u8>,
}

impl Supervisor {
    fn supervise(&mut self, process: ProcessSpec) {
        match self.conditions.host.map(watch_process).transpose() {
            Ok(host) => self.host = host.flatten(),
            Err(failure) => return self.lifeline.tell(SupervisorMessage::Failed(failure)),
        }
        loop {
            if self.follow_orders() {
                return;
            }
            if !self.conditions.at_once || self.job.is_some() {
                break;
            }
            if poll([self.lifeline.poll_target()], self.conditions.limit).is_err() {
                return;
            }
        }
        let ended = match self.start_script(process) {
            Ok(script) => {
                let mut ended = self.watch(script);
                (ended.status, ended.survivors) = end(script, &self.children);
                ended
            }
            Err(failure) => {
                self.lifeline.tell(SupervisorMessage::Failed(failure));
                self.outputs[1].push(NOT_EXECUTED_TEXT);
                ScriptExit {
                    status: NOT_EXECUTED << 8,
                    ..ScriptExit::default()
                }
            }
        };
        for output in &mut self.outputs {
            output.drain(&mut [0; CHUNK]);
        }
        if let Some(job) = self.job.take() {
            job.finish(ended, millis(self.began.elapsed()));
        }
        self.lifeline.tell(SupervisorMessage::Ended(ended));
    }

    /// Follows the plugin's orders; `true` if the script is to end.
    fn follow_orders(&mut self) -> bool {
        // What was sent before the plugin's end counts: a job may have been released.
        while !self.is_released {
            match self.lifeline.hear() {
                Some(CallMessage::Adopt(dir)) => {
                    let adopted = SupervisedJob::adopt(dir.as_ref(), &mut self.outputs);
                    let told = adopted.map(|job| self.job = Some(job));
                    let told = told.map_err(|error| errno(&error));
                    self.lifeline.tell(SupervisorMessage::Adopted(told));
                }
                Some(CallMessage::Release) if self.job.is_some() => self.is_released = true,
                Some(CallMessage::Release | CallMessage::End) => return true,
                None => return !self.lifeline.is_open,
            }
        }
        false
    }

    /// Starts the script.
    fn start_script(&mut self, process: ProcessSpec) -> Result<Pid, StartFailure> {
        let no_process = |error: io::Error| StartFailure::NotExecuted(errno(&error));
        let lifeline = self.lifeline.try_clone().map_err(no_process)?;
        // The script inherits our working directory when it starts.
        std::env::set_current_dir(&process.workdir)
            .map_err(|error| StartFailure::NoWorkdir(errno(&error)))?;
        let mut command = Command::new(OsStr::from_bytes(process.args[0].to_bytes()));
        command.process_group(0);
        command.stdin(input(&std::mem::take(&mut self.input)).map_err(no_process)?);
        command.stdout(self.outputs[0].open().map_err(no_process)?);
        command.stderr(self.outputs[1].open().map_err(no_process)?);
        let supervisor = getpid();
        signals::before_exec(&mut command, move || {
            die_with(supervisor);
            // Sent before the script can start anything: if we are lost, the plugin knows what to
            // kill.
            lifeline.tell(SupervisorMessage::Started(std::process::id()));
            let confined = process.sandbox.as_ref().map_or(Ok(()), Sandbox::enter);
            let failure = match confined {
                Ok(()) => StartFailure::NotExecuted(exec::execute(&process.args, &process.env)),
                Err(errno) => StartFailure::NotConfined(errno),
            };
            lifeline.tell(SupervisorMessage::Failed(failure));
            let _ = rustix::io::write(stderr(), NOT_EXECUTED_TEXT);
            signals::leave(NOT_EXECUTED)
        });
        let script = command.spawn().map_err(no_process)?;
        pid_of(script.id()).ok_or(StartFailure::NotExecuted(0))
    }

    /// Waits for the script's end or a reason to end it, and copies its outputs. Returns the
    /// reason.
    fn watch(&mut self, script: Pid) -> ScriptExit {
        let mut ended = ScriptExit::default();
        let deadline = self.began + self.conditions.limit;
        let mut buffer = [0; CHUNK];
        while !has_ended(script) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                ended.timed_out = true;
                break;
            }
            let Ok([child, host, stop, stdout, stderr, _]) = poll(self.interests(), left) else {
                ended.stopped = true;
                break;
            };
            if child {
                reap_orphans(script, &self.children);
            }
            for (output, is_ready) in self.outputs.iter_mut().zip([stdout, stderr]) {
                if is_ready {
                    output.pump(&mut buffer);
                }
            }
            if stop || self.follow_orders() || (host && !self.is_released) {
                // Somebody stopped it, or the plugin or the host is gone.
                ended.stopped = true;
                break;
            }
        }
        ended
    }

    fn interests(&self) -> [Interest<'_>; 6] {
        let host = self.host.as_ref().filter(|_| !self.is_released);
        let [stdout, stderr] = &self.outputs;
        [
            Some((self.children.as_fd(), PollFlags::IN)),
            host.map(|host| (host.as_fd(), PollFlags::IN)),
            self.job.as_ref().map(SupervisedJob::stop),
            stdout.poll_target(),
            stderr.poll_target(),
            self.lifeline.poll_target().filter(|_| !self.is_released),
        ]
    }
}

/// The script's standard input: a pipe that holds all of it, or a file if there is more.
fn input(bytes: &[u8]) -> io::Result<Stdio> {
    if bytes.is_empty() {
        return Ok(Stdio::null());
    }
    let (reader, mut writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(&writer, true)?;
    let written = writer.write(bytes);
    if written.is_ok_and(|written| written == bytes.len()) {
        return Ok(reader.into());
    }
    let mut file = files::unnamed()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(0)
}

/// A descriptor that is ready when the process has ended; `None` where the system cannot (Linux
/// before 5.3, other systems) or does not report when processes started.
fn watch_process(process: ProcessId) -> Result<Option<OwnedFd>, StartFailure> {
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
        Err(StartFailure::HostGone)
    }
}

/// How often a tree being killed is examined again if no child's end wakes us.
const KILL_AGAIN: Duration = Duration::from_millis(10);

/// Whether the script has ended. It stays a zombie, so that neither its id nor its group's is
/// reused.
pub fn has_ended(script: Pid) -> bool {
    let flags = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(script), flags), Ok(None))
}

/// Reaps orphans that have ended; `children` is what [`signals::on_child_end`] returned.
///
/// [`signals::on_child_end`]: crate::sys::signals::on_child_end
pub fn reap_orphans(script: Pid, mut children: &PipeReader) {
    // It never blocks, and its content does not matter.
    let _ = children.read(&mut [0; 64]);
    for child in our_children() {
        if child != script {
            let _ = waitpid(Some(child), WaitOptions::NOHANG);
        }
    }
}

/// Kills `script`, its group and every child of ours, until none is left or [`limits::REAP`] has
/// passed. Returns the script's wait status, and whether any of them survived.
pub fn end(script: Pid, mut children: &PipeReader) -> (i32, bool) {
    let began = Instant::now();
    // The status to report if the script has changed to another user and survives the wait.
    let mut status = Signal::KILL.as_raw();
    let _ = kill_process_group(script, Signal::KILL);
    loop {
        for child in our_children() {
            let _ = kill_process(child, Signal::KILL);
        }
        if reap(script, &mut status) {
            return (status, false);
        }
        if began.elapsed() >= limits::REAP {
            return (status, true);
        }
        let _ = poll([Some((children.as_fd(), PollFlags::IN))], KILL_AGAIN);
        let _ = children.read(&mut [0; 64]);
    }
}

/// Reaps all that have ended; `true` when no child is left.
fn reap(script: Pid, status: &mut i32) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, its))) if pid == script => *status = its.as_raw(),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// The children of this process, which has one thread (Linux; elsewhere none).
fn our_children() -> Vec<Pid> {
    let listed = files::kernel_text("/proc/thread-self/children");
    let numbers = listed.split_ascii_whitespace();
    let pid = |number: &str| Pid::from_raw(number.parse().ok()?);
    numbers.filter_map(pid).collect()
}
