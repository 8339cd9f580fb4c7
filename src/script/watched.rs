//! Watching another process for its end. Its id may have been reused, so processes are identified
//! by their start time.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::sys::process::ProcessId;

/// A descriptor that is ready when the process has ended.
#[derive(Debug)]
pub struct Watched(OwnedFd);

impl AsRawFd for Watched {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Watched {
    /// Watches `process`; `None` where the system cannot (Linux before 5.3, other systems) or does
    /// not report when processes started.
    ///
    /// # Errors
    /// When it has ended.
    pub fn watch(process: ProcessId) -> io::Result<Option<Self>> {
        if process.start == 0 {
            return Ok(None);
        }
        let opened = open(process.pid);
        // Checked after opening: if the process is alive now, it was alive then, and the descriptor
        // is its own.
        if !process.is_alive() {
            return Err(io::Error::other("the host is gone"));
        }
        Ok(opened.map(Self))
    }
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn open(pid: u32) -> Option<OwnedFd> {
    use std::os::fd::FromRawFd;

    // SAFETY: numbers only. The descriptor is closed on exec.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let fd = RawFd::try_from(fd).ok().filter(|fd| *fd >= 0)?;
    // SAFETY: just opened, and nobody else's.
    Some(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(not(target_os = "linux"))]
fn open(_: u32) -> Option<OwnedFd> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::script::descriptor;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn the_end_of_that_very_process_is_seen() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = ProcessId::of(child.id());
        let watched = Watched::watch(process).unwrap().unwrap();
        let ended = |millis| {
            let mut fds = [descriptor::interest(
                Some(watched.as_raw_fd()),
                libc::POLLIN,
            )];
            descriptor::poll(&mut fds, Duration::from_millis(millis)).unwrap();
            fds[0].revents != 0
        };
        assert!(!ended(0));
        let later = ProcessId {
            start: process.start + 1,
            ..process
        };
        assert!(Watched::watch(later).is_err(), "a recycled id");
        child.kill().unwrap();
        assert!(ended(10_000));
        child.wait().unwrap();
        assert!(Watched::watch(process).is_err());
        let unknown = ProcessId {
            start: 0,
            ..process
        };
        assert!(Watched::watch(unknown).unwrap().is_none());
    }
}
