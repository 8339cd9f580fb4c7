//! The messages on the lifeline after the start, and how the supervisor copies a job's output to
//! its spools after the hand-over.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::event::PollFlags;
use rustix::fs::{Mode, OFlags, openat, renameat};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use super::job::Spools;
use super::report::Ended;
use super::spool::{CHUNK, Writer};
use super::stream::{Stream, not_now};
use crate::sys::Interest;

/// What the plugin writes once a job's id has been printed.
pub const RELEASE: [u8; 1] = *b"r";
/// What the plugin writes to stop the script.
pub const END: [u8; 1] = *b"e";
/// What the plugin writes to hand a script over. Six descriptors are sent with it.
const HAND_OVER: [u8; 1] = *b"h";

/// Hands a script's outputs over to its supervisor, which stores them in `spools`.
///
/// # Errors
/// When the supervisor is gone.
pub fn hand_over(
    lifeline: &UnixStream,
    [stdout, stderr]: [BorrowedFd; 2],
    spools: &Spools,
) -> io::Result<()> {
    let [stdout_spool, stderr_spool] = &spools.files;
    let fds = [
        spools.dir.as_fd(),
        spools.stop.as_fd(),
        stdout,
        stderr,
        stdout_spool.as_fd(),
        stderr_spool.as_fd(),
    ];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(6))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    let parts = [IoSlice::new(&HAND_OVER)];
    sendmsg(lifeline, &parts, &mut ancillary, SendFlags::empty())?;
    Ok(())
}

/// A message from the plugin.
pub enum Control {
    /// Nothing could be read.
    Nothing,
    /// The plugin wants the script to become a job.
    HandOver(Relay),
    /// The job's id has been printed: from now on the job survives the plugin.
    Release,
    /// The plugin is gone, or wants the script to end.
    End,
}

/// Reads the lifeline.
pub fn listen(lifeline: &UnixStream) -> Control {
    let mut bytes = [0; 1];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(6))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let received = match recvmsg(lifeline, &mut parts, &mut ancillary, RecvFlags::empty()) {
        Ok(received) => received.bytes,
        Err(error) if not_now(&error.into()) => return Control::Nothing,
        Err(_) => 0,
    };
    let mut fds = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            fds.extend(received);
        }
    }
    for fd in &fds {
        // No process that we start may inherit them.
        let _ = rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC);
    }
    match (&bytes[..received], <[OwnedFd; 6]>::try_from(fds)) {
        (message, Ok(fds)) if message == HAND_OVER => {
            Relay::new(fds).map_or(Control::End, Control::HandOver)
        }
        (message, _) if message == RELEASE => Control::Release,
        _ => Control::End,
    }
}

/// The streams of a job.
pub struct Relay {
    /// The job's directory.
    dir: OwnedFd,
    /// The FIFO on which any data requests the job's end. Holding it open shows that the job runs.
    stop: OwnedFd,
    outputs: [Stream<Writer>; 2],
}

impl Relay {
    fn new(fds: [OwnedFd; 6]) -> io::Result<Self> {
        let [dir, stop, stdout, stderr, stdout_spool, stderr_spool] = fds;
        let stream = |pipe: OwnedFd, spool: OwnedFd| {
            Writer::resume(spool.into()).map(|writer| Stream::new(pipe.into(), writer))
        };
        Ok(Self {
            dir,
            stop,
            outputs: [stream(stdout, stdout_spool)?, stream(stderr, stderr_spool)?],
        })
    }

    /// What to wait for: a request to stop the job, and its outputs, for [`Relay::pump`].
    pub fn interests(&self) -> [Interest<'_>; 3] {
        let [stdout, stderr] = &self.outputs;
        let stop = Some((self.stop.as_fd(), PollFlags::IN));
        [stop, stdout.interest(), stderr.interest()]
    }

    /// Copies what the outputs that are ready have available.
    pub fn pump(&mut self, ready: [bool; 2], buffer: &mut [u8; CHUNK]) {
        for (output, is_ready) in self.outputs.iter_mut().zip(ready) {
            if is_ready {
                output.pump(buffer);
            }
        }
    }

    /// Spools what is left in the pipes, then records how the job ended.
    pub fn finish(mut self, ended: Ended, millis: u64) {
        for output in &mut self.outputs {
            output.drain(&mut [0; CHUNK]);
        }
        // A job without a record counts as lost.
        let _ = self.record(&serde_json::to_vec(&(ended, millis)).unwrap_or_default());
    }

    /// Writes the job's exit file, whole or not at all.
    fn record(&self, bytes: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        let file = openat(&self.dir, "exit.tmp", flags, Mode::RUSR | Mode::WUSR)?;
        File::from(file).write_all(bytes)?;
        Ok(renameat(&self.dir, "exit.tmp", &self.dir, "exit")?)
    }
}
