//! What a call and the supervisor of its script say to each other, over a socket with one JSON value
//! in each line, and how each notices that the other is gone.

use super::prelude::*;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;

use rustix::event::{PollFd, Timespec};
use serde::de::DeserializeOwned;

/// One end of the socket.
#[derive(Debug)]
pub struct Lifeline {
    socket: UnixStream,
    /// What was read beyond the last message.
    begun: Vec<u8>,
    /// Whether the other end may still say something.
    pub is_open: bool,
}

impl Lifeline {
    /// An end over which the script was sent already; from now on it does not block.
    ///
    /// # Errors
    /// When the system refuses that.
    pub fn new(socket: UnixStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            begun: Vec::new(),
            is_open: true,
        })
    }

    /// The same end, for another process.
    ///
    /// # Errors
    /// When the system refuses a descriptor.
    pub fn try_clone(&self) -> io::Result<Self> {
        Self::new(self.socket.try_clone()?)
    }

    /// What to wait for.
    pub fn poll_target(&self) -> Interest<'_> {
        self.is_open.then(|| (self.socket.as_fd(), PollFlags::IN))
    }

    /// Sends a message. An error means that the other end is gone, and shows when it is read.
    pub fn tell(&self, message: impl Serialize) {
        let line = serde_json::to_string(&message).map(|message| message + "\n");
        let _ = (&self.socket).write(line.unwrap_or_default().as_bytes());
    }

    /// The next message that has arrived. What is no message closes this end.
    pub fn hear<M: DeserializeOwned>(&mut self) -> Option<M> {
        loop {
            if let Some(end) = self.begun.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.begun.drain(..=end).collect();
                let message = serde_json::from_slice(&line).ok();
                self.is_open &= message.is_some();
                return message;
            }
            let mut buffer = [0; 1024];
            match self.socket.read(&mut buffer) {
                Ok(length) if length > 0 => self.begun.extend_from_slice(&buffer[..length]),
                Err(error) if not_now(&error) => return None,
                _ => {
                    self.is_open = false;
                    return None;
                }
            }
        }
    }
}

/// Whether an error of a non-blocking call means "not now".
pub fn not_now(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// What the call says.
#[derive(Debug, Serialize, Deserialize)]
pub enum CallMessage {
    /// The script becomes the job with this directory.
    Adopt(OsString),
    /// The job's id has been printed: from now on the job survives the call.
    Release,
    /// The script is to end.
    End,
}

/// What the supervisor says, or the script's process before its `exec`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SupervisorMessage {
    /// The script's process id, which is also its process group.
    Started(u32),
    /// The script never ran.
    Failed(StartFailure),
    /// The script is a job, whose output is in its directory; or the error number of what was in the
    /// way.
    Adopted(Result<(), i32>),
    /// It is over, and every killable process is gone.
    Ended(ScriptExit),
}

/// Why a script never ran, with the system's error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StartFailure {
    /// The working directory could not be entered.
    NoWorkdir(i32),
    /// Its process could not be created, or the interpreter not be executed.
    NotExecuted(i32),
    /// The sandbox could not be entered.
    NotConfined(i32),
    /// The host is gone already.
    HostGone,
}

/// How a script ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptExit {
    /// Its wait status.
    pub status: i32,
    /// It was killed at its time limit.
    pub timed_out: bool,
    /// It was killed on request.
    pub stopped: bool,
    /// Some processes could not be killed: another user's, through setuid.
    pub survivors: bool,
}

impl ScriptExit {
    /// The exit status of the script, if it exited on its own.
    pub fn exit_code(self) -> Option<i32> {
        ExitStatus::from_raw(self.status).code()
    }
}

/// A descriptor, and the events to wait for; `None` for an unused place.
pub type Interest<'fd> = Option<(BorrowedFd<'fd>, PollFlags)>;

/// Waits until one of `fds` is ready or `limit` has passed, and returns which are ready. After an
/// interruption, none is.
///
/// # Errors
/// When the system call fails.
pub fn poll<const N: usize>(fds: [Interest; N], limit: Duration) -> io::Result<[bool; N]> {
    let entry = |&(fd, flags)| PollFd::from_borrowed_fd(fd, flags);
    let mut entries: Vec<PollFd> = fds.iter().flatten().map(entry).collect();
    let limit = Timespec::try_from(limit).ok();
    match rustix::event::poll(&mut entries, limit.as_ref()) {
        Ok(_) => {
            let mut ready = entries.iter().map(|entry| !entry.revents().is_empty());
            Ok(fds.map(|fd| fd.is_some() && ready.next().unwrap_or_default()))
        }
        Err(Errno::INTR) => Ok([false; N]),
        Err(error) => Err(error.into()),
    }
}

/// A program with its arguments, environment, directory and sandbox.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProcessSpec {
    /// Its path, absolute, and its arguments.
    pub args: Vec<CString>,
    /// Its environment, each variable as `NAME=value`.
    pub env: Vec<CString>,
    /// Its working directory.
    pub workdir: OsString,
    /// Its confinement.
    pub sandbox: Option<Sandbox>,
}

/// The conditions under which it runs.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Conditions {
    /// How long it may take.
    pub limit: Duration,
    /// Whether it becomes a job at once: it begins only then.
    pub at_once: bool,
    /// The process with which it ends, unless it becomes a job.
    pub host: Option<ProcessId>,
}

impl ProcessSpec {
    /// The program, its further arguments, environment and working directory.
    ///
    /// # Errors
    /// When one of them contains a NUL byte.
    pub fn new(
        program: &Path,
        args: impl IntoIterator<Item = OsString>,
        env: impl IntoIterator<Item = (OsString, OsString)>,
        workdir: &Path,
    ) -> Result<Self> {
        let program = c_string("the interpreter's path", program.as_os_str());
        let args = args.into_iter().map(|arg| c_string("an argument", &arg));
        let variable = |(mut pair, value): (OsString, OsString)| {
            let what = format!("the environment variable `{}`", pair.display());
            pair.push("=");
            pair.push(value);
            c_string(&what, &pair)
        };
        Ok(Self {
            args: std::iter::once(program)
                .chain(args)
                .collect::<Result<_>>()?,
            env: env.into_iter().map(variable).collect::<Result<_>>()?,
            workdir: workdir.into(),
            sandbox: None,
        })
    }

    /// Sends it over the lifeline, followed by the script's standard input.
    ///
    /// # Errors
    /// When the supervisor does not accept it.
    pub fn send(
        &self,
        mut lifeline: &UnixStream,
        conditions: Conditions,
        stdin: &[u8],
    ) -> io::Result<()> {
        let json = serde_json::to_vec(&(self, conditions))?;
        for part in [&json[..], stdin] {
            lifeline.write_all(&part.len().to_le_bytes())?;
            lifeline.write_all(part)?;
        }
        Ok(())
    }

    /// Receives what [`ProcessSpec::send`] sends.
    ///
    /// # Errors
    /// When the plugin is gone or sent something else.
    pub fn receive(mut lifeline: &UnixStream) -> io::Result<(Self, Conditions, Vec<u8>)> {
        let mut part = || {
            let mut length = [0; size_of::<usize>()];
            lifeline.read_exact(&mut length)?;
            let mut part = vec![0; usize::from_le_bytes(length)];
            lifeline.read_exact(&mut part).map(|()| part)
        };
        let (process, conditions) = serde_json::from_slice(&part()?)?;
        Ok((process, conditions, part()?))
    }
}

fn c_string(what: &str, text: &OsStr) -> Result<CString> {
    CString::new(text.to_owned().into_vec()).map_err(|_| {
        let shown = quoted(&text.to_string_lossy());
        Error::new(format!("{what} contains a NUL byte: `{shown}`"))
            .hint("pass binary data through `stdin`")
    })
}
