//! The reports sent over the lifeline, one JSON value in each line, by the supervisor and by the
//! script's process before its `exec`; and the form in which a job's end is stored.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};

/// One report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The script's process id, which is also its process group.
    Started(u32),
    /// The script never ran.
    Failed(Failure),
    /// It is over, and every killable process is gone.
    Ended(Ended),
    /// The script has become a job: the supervisor now reads its output.
    Adopted,
}

/// Why a script never ran, with the system's error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// Its process could not be created.
    NoProcess(i32),
    /// The working directory could not be entered.
    NoWorkdir(i32),
    /// The interpreter could not be executed.
    NotExecuted(i32),
    /// The sandbox could not be entered.
    NotConfined(i32),
    /// The host is gone already.
    HostGone,
}

/// How a script ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its wait status.
    pub status: i32,
    /// It was killed at its time limit.
    pub timed_out: bool,
    /// It was killed on request.
    pub stopped: bool,
    /// Some processes could not be killed: another user's, through setuid.
    pub survivors: bool,
}

/// The first byte of a job's exit file.
const VERSION: u8 = 1;

impl Ended {
    /// The exit status of the script, if it exited on its own.
    pub fn exit_code(self) -> Option<i32> {
        ExitStatus::from_raw(self.status).code()
    }

    /// The content of a job's exit file: this, and after how many milliseconds it was.
    pub fn record(self, millis: u64) -> [u8; 16] {
        let flags = [self.timed_out, self.survivors, self.stopped].map(u8::from);
        let mut record = [0; 16];
        record[0] = VERSION;
        record[1] = flags[0] | flags[1] << 1 | flags[2] << 2;
        record[4..8].copy_from_slice(&self.status.to_le_bytes());
        record[8..].copy_from_slice(&millis.to_le_bytes());
        record
    }

    /// Parses what [`Ended::record`] returned.
    pub fn from_record(record: &[u8]) -> Option<(Self, u64)> {
        let (&[VERSION, flags, _, _, a, b, c, d], millis) = record.split_first_chunk()? else {
            return None;
        };
        let ended = Self {
            status: i32::from_le_bytes([a, b, c, d]),
            timed_out: flags & 1 != 0,
            survivors: flags & 2 != 0,
            stopped: flags & 4 != 0,
        };
        Some((ended, u64::from_le_bytes(millis.try_into().ok()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_an_end_says_all_of_it() {
        let ended = Ended {
            status: -1,
            ..Ended::default()
        };
        for ended in [
            ended,
            Ended {
                timed_out: true,
                ..ended
            },
            Ended {
                survivors: true,
                ..ended
            },
            Ended {
                stopped: true,
                ..ended
            },
        ] {
            let record = ended.record(u64::MAX);
            assert_eq!(Ended::from_record(&record), Some((ended, u64::MAX)));
            assert_eq!(Ended::from_record(&record[..15]), None);
        }
        assert_eq!(Ended::from_record(&[0; 16]), None);
    }
}
