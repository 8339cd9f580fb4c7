//! The messages on the lifeline after the start, and how the supervisor copies a job's output to
//! its spools after the hand-over.

use std::fs::File;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
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
use super::report::{Ended, Report};
use super::spool::{CHUNK, Writer};
use crate::sys::{Interest, limits};

/// What the plugin writes once a job's id has been printed.
pub const RELEASE: [u8; 1] = *b"r";
/// What the plugin writes to stop the script.
pub const END: [u8; 1] = *b"e";
/// A hand-over: the number of bytes in each spool. Six descriptors are sent with it.
const HAND_OVER: usize = 16;

/// Whether an error of a non-blocking call means "not now".
pub fn not_now(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

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
    let bytes = spools.begun.map(u64::to_le_bytes);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(6))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    let parts = [IoSlice::new(bytes.as_flattened())];
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
    let mut bytes = [0; HAND_OVER];
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
        (_, Ok(fds)) if received == HAND_OVER => Control::HandOver(Relay::new(fds, bytes)),
        (message, _) if message == RELEASE => Control::Release,
        _ => Control::End,
    }
}

/// One output and its spool.
struct Stream {
    pipe: Option<File>,
    spool: Writer,
}

impl Stream {
    /// Moves what is available; `false` if there was nothing.
    fn pump(&mut self, buffer: &mut [u8; CHUNK]) -> bool {
        match self.pipe.as_mut().map(|pipe| pipe.read(buffer)) {
            Some(Ok(length)) if length > 0 => {
                self.spool.append(&buffer[..length]);
                return true;
            }
            Some(Err(error)) if not_now(&error) => {}
            _ => self.pipe = None,
        }
        false
    }

    fn interest(&self) -> Interest<'_> {
        self.pipe.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN))
    }
}

/// The streams of a job.
pub struct Relay {
    /// The job's directory.
    dir: OwnedFd,
    /// The FIFO on which any data requests the job's end. Holding it open shows that the job runs.
    stop: OwnedFd,
    outputs: [Stream; 2],
}

impl Relay {
    fn new(fds: [OwnedFd; 6], bytes: [u8; HAND_OVER]) -> Self {
        let [dir, stop, stdout, stderr, stdout_spool, stderr_spool] = fds;
        let (lengths, _) = bytes.as_chunks::<8>();
        let stream = |pipe: OwnedFd, spool: OwnedFd, length: usize| Stream {
            pipe: Some(pipe.into()),
            spool: Writer::new(spool.into(), u64::from_le_bytes(lengths[length])),
        };
        Self {
            dir,
            stop,
            outputs: [
                stream(stdout, stdout_spool, 0),
                stream(stderr, stderr_spool, 1),
            ],
        }
    }

    /// What to wait for: a request to stop the job, and its outputs, for [`Relay::pump`].
    pub fn interests(&self) -> [Interest<'_>; 3] {
        let [stdout, stderr] = &self.outputs;
        let stop = Some((self.stop.as_fd(), PollFlags::IN));
        [stop, stdout.interest(), stderr.interest()]
    }

    /// Copies what an output has available.
    pub fn pump(&mut self, output: usize, buffer: &mut [u8; CHUNK]) {
        self.outputs[output].pump(buffer);
    }

    /// Spools what is left in the pipes, then records how the job ended. A survivor that holds the
    /// pipes open is not waited for; one that keeps writing is cut off.
    pub fn finish(mut self, ended: Ended, millis: u64) {
        let mut buffer = [0; CHUNK];
        for output in &mut self.outputs {
            for _ in 0..limits::SCRIPT_REST / CHUNK {
                if !output.pump(&mut buffer) {
                    break;
                }
            }
        }
        // A job without a record counts as lost.
        let _ = record(&self.dir, ended, millis);
    }
}

/// The size of a job's exit file in bytes.
const RECORD: usize = Report::SIZE + 8;

/// Writes a job's exit file, whole or not at all.
fn record(dir: &OwnedFd, ended: Ended, millis: u64) -> io::Result<()> {
    let mut bytes = [0; RECORD];
    bytes[..Report::SIZE].copy_from_slice(&Report::Ended(ended).encode());
    bytes[Report::SIZE..].copy_from_slice(&millis.to_le_bytes());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let file = openat(dir, "exit.tmp", flags, Mode::RUSR | Mode::WUSR)?;
    File::from(file).write_all(&bytes)?;
    Ok(renameat(dir, "exit.tmp", dir, "exit")?)
}

/// Parses an exit file: how the job ended, and after how many milliseconds.
pub fn read_record(record: &[u8]) -> Option<(Ended, u64)> {
    let (report, millis) = record.split_at_checked(Report::SIZE)?;
    match Report::decode(report)? {
        Report::Ended(ended) => Some((ended, u64::from_le_bytes(millis.try_into().ok()?))),
        _ => None,
    }
}
