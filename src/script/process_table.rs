//! The kernel's information on other processes, read after a fork: raw calls only, no allocation
//! and no lock. Linux only; elsewhere nothing is found.

use super::process::Pid;

#[cfg(target_os = "linux")]
pub use linux::each_child;

/// No such information here.
#[cfg(not(target_os = "linux"))]
pub fn each_child(_: Pid, _: impl FnMut(Pid)) {}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::RawFd;

    use super::Pid;
    use crate::script::descriptor::{self, Moved};

    /// A NUL-terminated path below `/proc`.
    struct ProcPath {
        bytes: [u8; 64],
        length: usize,
    }

    impl ProcPath {
        fn new() -> Self {
            let path = Self {
                bytes: [0; 64],
                length: 0,
            };
            path.text(b"/proc/")
        }

        /// Appends text, truncated at the capacity, which no path below reaches.
        fn text(mut self, text: &[u8]) -> Self {
            for byte in text {
                if self.length + 1 < self.bytes.len() {
                    self.bytes[self.length] = *byte;
                    self.length += 1;
                }
            }
            self
        }

        fn number(self, number: Pid) -> Self {
            let mut digits = [0; 10];
            let mut rest = number.unsigned_abs();
            let mut first = digits.len();
            loop {
                first -= 1;
                // A remainder modulo ten is one digit.
                digits[first] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
                rest /= 10;
                if rest == 0 {
                    return self.text(&digits[first..]);
                }
            }
        }

        #[allow(unsafe_code)]
        fn open(&self) -> Option<RawFd> {
            let flags = libc::O_RDONLY | libc::O_CLOEXEC;
            // SAFETY: a NUL-terminated string.
            let fd = unsafe { libc::open(self.bytes.as_ptr().cast(), flags) };
            (fd >= 0).then_some(fd)
        }
    }

    /// Calls `found` for the children of a process, whichever of its threads started them.
    pub fn each_child(pid: Pid, mut found: impl FnMut(Pid)) {
        let Some(tasks) = ProcPath::new().number(pid).text(b"/task").open() else {
            return;
        };
        let mut entries = [0; 2048];
        loop {
            let length = read_directory(tasks, &mut entries);
            if length == 0 {
                break;
            }
            let mut rest = &entries[..length];
            while let Some((thread, after)) = first_entry(rest) {
                rest = after;
                if let Some(thread) = thread {
                    each_child_of_thread(pid, thread, &mut found);
                }
            }
        }
        descriptor::close(tasks);
    }

    fn each_child_of_thread(pid: Pid, thread: Pid, found: &mut impl FnMut(Pid)) {
        let path = ProcPath::new().number(pid).text(b"/task/");
        let Some(fd) = path.number(thread).text(b"/children").open() else {
            return;
        };
        let mut text = [0; 4096];
        let mut child: Pid = 0;
        while let Moved::Bytes(length) = descriptor::read(fd, &mut text) {
            for byte in &text[..length] {
                // Each number is followed by a space.
                if byte.is_ascii_digit() {
                    child = child.wrapping_mul(10).wrapping_add(Pid::from(byte - b'0'));
                } else {
                    found(child);
                    child = 0;
                }
            }
        }
        descriptor::close(fd);
    }

    #[allow(unsafe_code)]
    fn read_directory(directory: RawFd, entries: &mut [u8]) -> usize {
        let (start, length) = (entries.as_mut_ptr(), entries.len());
        // SAFETY: a buffer with its length.
        let read = unsafe { libc::syscall(libc::SYS_getdents64, directory, start, length) };
        usize::try_from(read).unwrap_or(0)
    }

    /// The first entry's name if it is a number, and the entries after it. In `struct
    /// linux_dirent64`, bytes 16 and 17 are the entry's length and the name starts at 19.
    fn first_entry(entries: &[u8]) -> Option<(Option<Pid>, &[u8])> {
        let length = usize::from(u16::from_ne_bytes([*entries.get(16)?, *entries.get(17)?]));
        let name = entries.get(19..length)?;
        let mut number: Option<Pid> = None;
        for byte in name.iter().take_while(|byte| **byte != 0) {
            if !byte.is_ascii_digit() {
                return Some((None, &entries[length..]));
            }
            let digits = number.unwrap_or(0).wrapping_mul(10);
            number = Some(digits.wrapping_add(Pid::from(byte - b'0')));
        }
        Some((number, &entries[length..]))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn children_of_every_thread_are_found() {
        let start = || {
            let mut sleep = Command::new("sleep");
            sleep.arg("60").stdin(Stdio::null()).spawn().unwrap()
        };
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            tell.send(start()).unwrap();
            // If this thread ended, its children would move to another one.
            let _ = wait.recv();
        });
        let mut children = [start(), told.recv().unwrap()];
        let mut found = Vec::new();
        each_child(std::process::id().try_into().unwrap(), |child| {
            found.push(child.unsigned_abs());
        });
        for child in &mut children {
            assert!(found.contains(&child.id()), "{found:?}");
            child.kill().unwrap();
            child.wait().unwrap();
        }
        drop(done);
        thread.join().unwrap();
    }
}
