//! A job's streams in the supervisor's hands: after the hand-over it copies output to the job's
//! spools and feeds the rest of the input. It runs after a fork: raw calls only.

use std::os::fd::RawFd;

use super::descriptor::{self, Moved};
use super::report::{Ended, Report};
use super::spool::{CHUNK, Writer};
use crate::sys::limits;

/// The descriptors of a hand-over, in sending order. The last one is missing if the script has had
/// all of its input.
#[derive(Debug, Clone, Copy)]
pub struct Handover {
    /// The job's directory.
    pub dir: RawFd,
    /// The FIFO on which any data requests the job's end.
    pub stop: RawFd,
    /// The script's standard output and standard error.
    pub outputs: [RawFd; 2],
    /// Their spools.
    pub spools: [RawFd; 2],
    /// The script's standard input, or -1.
    pub input: RawFd,
    /// How many bytes of the input the script has had.
    pub fed: u64,
    /// How many bytes each spool holds.
    pub spooled: [u64; 2],
}

impl Handover {
    const BYTES: usize = 24;

    /// Sends it to the supervisor behind `control`.
    ///
    /// # Errors
    /// When the supervisor is gone.
    pub fn send(&self, control: RawFd) -> std::io::Result<()> {
        let [out, err] = self.outputs;
        let [out_spool, err_spool] = self.spools;
        let fds = [
            self.dir, self.stop, out, err, out_spool, err_spool, self.input,
        ];
        let fds = if self.input < 0 { &fds[..6] } else { &fds[..] };
        let mut bytes = [0; Self::BYTES];
        let numbers = [self.fed, self.spooled[0], self.spooled[1]];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        descriptor::send_with(control, &bytes, fds)
    }

    /// Parses a message as a hand-over.
    fn of(bytes: &[u8], fds: [RawFd; descriptor::PASSED]) -> Option<Self> {
        let number = |index: usize| {
            let bytes = bytes.get(index * 8..index * 8 + 8)?;
            bytes.try_into().ok().map(u64::from_le_bytes)
        };
        let [dir, stop, out, err, out_spool, err_spool, input, _] = fds;
        (err_spool >= 0).then_some(Self {
            dir,
            stop,
            outputs: [out, err],
            spools: [out_spool, err_spool],
            input,
            fed: number(0)?,
            spooled: [number(1)?, number(2)?],
        })
    }
}

/// A message from the lifeline.
#[derive(Debug, Clone, Copy)]
pub enum Control {
    /// Nothing to read after all.
    Nothing,
    /// The plugin wants the script to become a job.
    HandOver(Handover),
    /// The job's id has been printed: from now on the job survives the plugin.
    Release,
    /// The plugin is gone, or wants the script to end.
    End,
}

/// Reads the lifeline.
pub fn listen(control: RawFd) -> Control {
    let mut bytes = [0; Handover::BYTES];
    match descriptor::receive_with(control, &mut bytes) {
        descriptor::Received::NotNow => Control::Nothing,
        descriptor::Received::Closed => Control::End,
        descriptor::Received::Message(length, fds) => match Handover::of(&bytes[..length], fds) {
            Some(handover) => Control::HandOver(handover),
            None if bytes[..length] == RELEASE => Control::Release,
            None => Control::End,
        },
    }
}

/// What the plugin writes to the lifeline once a job's id has been printed.
pub const RELEASE: [u8; 1] = *b"r";

/// One output and its spool.
struct Stream {
    pipe: Option<RawFd>,
    spool: Writer,
}

impl Stream {
    /// Moves what is available; `false` if there was nothing.
    fn pump(&mut self, buffer: &mut [u8; CHUNK]) -> bool {
        let Some(pipe) = self.pipe else {
            return false;
        };
        match descriptor::read(pipe, buffer) {
            Moved::Bytes(length) => {
                self.spool.append(&buffer[..length]);
                return true;
            }
            Moved::NotNow => {}
            Moved::Over => self.pipe = None,
        }
        false
    }
}

/// The streams of a job.
pub struct Relay<'a> {
    dir: RawFd,
    stop: RawFd,
    outputs: [Stream; 2],
    input: Option<RawFd>,
    rest: &'a [u8],
}

impl<'a> Relay<'a> {
    /// Takes over. `stdin` is all of the script's input, which the fork shares with its parent.
    pub fn new(handover: &Handover, stdin: &'a [u8]) -> Self {
        let fed = usize::try_from(handover.fed).unwrap_or(usize::MAX);
        let stream = |index: usize| Stream {
            pipe: Some(handover.outputs[index]),
            spool: Writer::new(handover.spools[index], handover.spooled[index]),
        };
        Self {
            dir: handover.dir,
            stop: handover.stop,
            outputs: [stream(0), stream(1)],
            input: (handover.input >= 0).then_some(handover.input),
            rest: stdin.get(fed..).unwrap_or_default(),
        }
    }

    /// What to poll for; the result goes to [`Relay::pump`].
    pub fn interests(&self) -> [libc::pollfd; 4] {
        [
            descriptor::interest(Some(self.stop), libc::POLLIN),
            descriptor::interest(self.outputs[0].pipe, libc::POLLIN),
            descriptor::interest(self.outputs[1].pipe, libc::POLLIN),
            descriptor::interest(self.input, libc::POLLOUT),
        ]
    }

    /// Moves everything that is ready; `true` when the job is to be stopped.
    pub fn pump(&mut self, ready: &[libc::pollfd], buffer: &mut [u8; CHUNK]) -> bool {
        let is_ready = |index: usize| ready.get(index).is_some_and(|fd| fd.revents != 0);
        for (index, output) in self.outputs.iter_mut().enumerate() {
            if is_ready(index + 1) {
                output.pump(buffer);
            }
        }
        if is_ready(3) {
            self.feed();
        }
        is_ready(0)
    }

    fn feed(&mut self) {
        let Some(input) = self.input else {
            return;
        };
        match descriptor::write(input, &self.rest[..self.rest.len().min(CHUNK)]) {
            Moved::Bytes(length) => self.rest = &self.rest[length..],
            Moved::NotNow => return,
            // A script may close its input.
            Moved::Over => self.rest = &[],
        }
        if self.rest.is_empty() {
            descriptor::close(input);
            self.input = None;
        }
    }

    /// Spools what is left in the pipes, then records how the job ended. A survivor that holds the
    /// pipes open is not waited for, and one that keeps writing is cut off.
    pub fn finish(mut self, ended: Ended, millis: u64, buffer: &mut [u8; CHUNK]) {
        for output in &mut self.outputs {
            for _ in 0..limits::SCRIPT_REST / CHUNK {
                if !output.pump(buffer) {
                    break;
                }
            }
        }
        let mut record = [0; RECORD];
        record[..Report::SIZE].copy_from_slice(&Report::Ended(ended).encode());
        record[Report::SIZE..].copy_from_slice(&millis.to_le_bytes());
        descriptor::put_file(self.dir, c"exit.tmp", c"exit", &record);
    }
}

/// The size of a job's exit file in bytes.
const RECORD: usize = Report::SIZE + 8;

/// Parses an exit file: how the job ended, and after how many milliseconds.
pub fn read_record(record: &[u8]) -> Option<(Ended, u64)> {
    let (report, millis) = record.split_at_checked(Report::SIZE)?;
    match Report::decode(report)? {
        Report::Ended(ended) => Some((ended, u64::from_le_bytes(millis.try_into().ok()?))),
        _ => None,
    }
}
