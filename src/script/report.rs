//! The reports sent over the lifeline, by the supervisor and by the script's process before its
//! `exec`. A job's exit file begins with one.

/// One report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// The script's process id, which is also its process group.
    Started(i32),
    /// The script never ran.
    Failed(Failure),
    /// It is over, and every killable process is gone.
    Ended(Ended),
    /// The script has become a job: the supervisor now reads its output.
    Adopted,
}

/// Why a script never ran, with the system's error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl Report {
    /// The size of one report in bytes.
    pub const SIZE: usize = 8;

    /// Encodes the report.
    pub fn encode(self) -> [u8; Self::SIZE] {
        let (kind, flags, value) = match self {
            Self::Started(pid) => (1, 0, pid),
            Self::Failed(Failure::NoProcess(errno)) => (2, 0, errno),
            Self::Failed(Failure::NoWorkdir(errno)) => (3, 0, errno),
            Self::Failed(Failure::NotExecuted(errno)) => (4, 0, errno),
            Self::Ended(ended) => {
                let flags = [ended.timed_out, ended.survivors, ended.stopped];
                let flags = flags
                    .iter()
                    .rev()
                    .fold(0, |all, &flag| all << 1 | u8::from(flag));
                (5, flags, ended.status)
            }
            Self::Failed(Failure::NotConfined(errno)) => (6, 0, errno),
            Self::Adopted => (7, 0, 0),
            Self::Failed(Failure::HostGone) => (8, 0, 0),
        };
        let [a, b, c, d] = value.to_le_bytes();
        [kind, flags, 0, 0, a, b, c, d]
    }

    /// Decodes a report; `None` if the bytes are not one.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let &[kind, flags, _, _, a, b, c, d] = bytes else {
            return None;
        };
        let value = i32::from_le_bytes([a, b, c, d]);
        Some(match kind {
            1 => Self::Started(value),
            2 => Self::Failed(Failure::NoProcess(value)),
            3 => Self::Failed(Failure::NoWorkdir(value)),
            4 => Self::Failed(Failure::NotExecuted(value)),
            5 => Self::Ended(Ended {
                status: value,
                timed_out: flags & 1 != 0,
                survivors: flags & 2 != 0,
                stopped: flags & 4 != 0,
            }),
            6 => Self::Failed(Failure::NotConfined(value)),
            7 => Self::Adopted,
            8 => Self::Failed(Failure::HostGone),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_the_way() {
        let ended = Ended {
            status: -1,
            timed_out: true,
            survivors: false,
            stopped: false,
        };
        for report in [
            Report::Started(i32::MAX),
            Report::Failed(Failure::NoProcess(11)),
            Report::Failed(Failure::NoWorkdir(2)),
            Report::Failed(Failure::NotExecuted(7)),
            Report::Failed(Failure::NotConfined(1)),
            Report::Failed(Failure::HostGone),
            Report::Adopted,
            Report::Ended(ended),
            Report::Ended(Ended {
                timed_out: false,
                survivors: true,
                ..ended
            }),
            Report::Ended(Ended {
                stopped: true,
                ..ended
            }),
        ] {
            assert_eq!(Report::decode(&report.encode()), Some(report));
        }
        assert_eq!(Report::decode(&[0; 8]), None);
        assert_eq!(Report::decode(&[1; 7]), None);
    }
}
