//! The raw calls on descriptors. As in [`super::process`], all of them may run between `fork` and
//! `exec`: they allocate nothing, take no lock and cannot panic. They know nothing of scripts.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;
use std::{io, ptr};

/// Where the kernel has no `close_range` (before Linux 5.9), descriptors beyond this are not
/// closed; the host opens three.
const CLOSED_BY_HAND: RawFd = 1024;
/// The most descriptors one message carries.
pub const PASSED: usize = 8;

/// Makes `to` a duplicate of `from` that stays open across `exec`.
#[allow(unsafe_code)]
pub fn redirect(from: RawFd, to: RawFd) {
    // SAFETY: numbers only; both belong to this freshly forked process.
    unsafe { libc::dup2(from, to) };
}

/// Closes one descriptor.
#[allow(unsafe_code)]
pub fn close(fd: RawFd) {
    // SAFETY: as for `redirect`.
    unsafe { libc::close(fd) };
}

/// Closes every descriptor from 3 on except those given: a fork would hold copies of its parent's
/// locks and pipes open.
pub fn close_all_but<const N: usize>(mut keep: [RawFd; N]) {
    keep.sort_unstable();
    let mut from = 3;
    for fd in keep {
        close_range(from, fd.saturating_sub(1));
        from = fd.saturating_add(1).max(3);
    }
    close_range(from, RawFd::MAX);
}

#[allow(unsafe_code)]
fn close_range(first: RawFd, last: RawFd) {
    if first > last {
        return;
    }
    // SAFETY: numbers only; as for `redirect`.
    #[cfg(target_os = "linux")]
    if unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } == 0 {
        return;
    }
    for fd in first..=last.min(CLOSED_BY_HAND) {
        close(fd);
    }
}

/// Writes `bytes` in one call; ignores errors, since a reader that is gone needs no report.
#[allow(unsafe_code)]
pub fn tell(fd: RawFd, bytes: &[u8]) {
    // SAFETY: a buffer with its length.
    unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
}

/// Makes reads and writes on `fd` non-blocking.
#[allow(unsafe_code)]
pub fn set_nonblocking(fd: BorrowedFd) -> io::Result<()> {
    let fd = fd.as_raw_fd();
    // SAFETY: changes a flag of a descriptor that is open while it is borrowed.
    match unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK)
    } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// `poll(2)`; an interruption counts as nothing ready.
#[allow(unsafe_code)]
pub fn poll(fds: &mut [libc::pollfd], limit: Duration) -> io::Result<()> {
    // Rounded up: rounding down would busy-wait through the last millisecond.
    let millis = limit
        .as_nanos()
        .div_ceil(1_000_000)
        .try_into()
        .unwrap_or(i32::MAX);
    let count = libc::nfds_t::try_from(fds.len()).unwrap_or(0);
    // SAFETY: a slice with its length.
    if unsafe { libc::poll(fds.as_mut_ptr(), count, millis) } == -1 {
        let error = io::Error::last_os_error();
        for fd in fds {
            fd.revents = 0;
        }
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(())
}

/// An entry for `poll`, which ignores it if `fd` is `None`.
pub fn interest(fd: Option<RawFd>, events: i16) -> libc::pollfd {
    libc::pollfd {
        fd: fd.unwrap_or(-1),
        events,
        revents: 0,
    }
}

/// The result of one read or write on a non-blocking descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// This many bytes, at least one.
    Bytes(usize),
    /// Nothing for now.
    NotNow,
    /// End of file or an error: nothing will ever come.
    Over,
}

impl Moved {
    fn of(result: isize) -> Self {
        match usize::try_from(result) {
            Ok(0) => Self::Over,
            Ok(length) => Self::Bytes(length),
            Err(_) => match io::Error::last_os_error().raw_os_error() {
                Some(libc::EAGAIN | libc::EINTR) => Self::NotNow,
                _ => Self::Over,
            },
        }
    }
}

/// `read(2)`.
#[allow(unsafe_code)]
pub fn read(fd: RawFd, buffer: &mut [u8]) -> Moved {
    // SAFETY: a buffer with its length.
    Moved::of(unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) })
}

/// `write(2)`.
#[allow(unsafe_code)]
pub fn write(fd: RawFd, bytes: &[u8]) -> Moved {
    // SAFETY: a buffer with its length.
    Moved::of(unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) })
}

/// Writes all of `bytes` at `offset` of a file; `false` on failure, such as a full disk.
#[allow(unsafe_code)]
pub fn write_at(fd: RawFd, mut bytes: &[u8], mut offset: u64) -> bool {
    while !bytes.is_empty() {
        let Ok(at) = libc::off_t::try_from(offset) else {
            return false;
        };
        // SAFETY: a buffer with its length.
        let written = unsafe { libc::pwrite(fd, bytes.as_ptr().cast(), bytes.len(), at) };
        let Some(rest) = usize::try_from(written).ok().and_then(|n| bytes.get(n..)) else {
            return false;
        };
        offset += (bytes.len() - rest.len()) as u64;
        bytes = rest;
    }
    true
}

/// Creates the file `name` with `bytes` in the directory `dir`, atomically, through the temporary
/// name `temp`.
#[allow(unsafe_code)]
pub fn put_file(dir: RawFd, temp: &CStr, name: &CStr, bytes: &[u8]) {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_CLOEXEC;
    // SAFETY: C strings by their type; the descriptor is closed where it was opened.
    unsafe {
        let fd = libc::openat(dir, temp.as_ptr(), flags, 0o600 as libc::c_uint);
        if write_at(fd, bytes, 0) {
            libc::renameat(dir, temp.as_ptr(), dir, name.as_ptr());
        }
        libc::close(fd);
    }
}

/// The result of receiving from a socket.
#[derive(Debug, Clone, Copy)]
pub enum Received {
    /// The number of bytes, and the descriptors; those not sent are -1.
    Message(usize, [RawFd; PASSED]),
    /// Nothing for now.
    NotNow,
    /// The peer has closed the socket.
    Closed,
}

/// Space for a control message, aligned as its header requires.
#[repr(C)]
union Ancillary {
    _align: libc::cmsghdr,
    bytes: [u8; 64],
}

/// The size of all descriptors of one message.
const PASSED_BYTES: usize = PASSED * size_of::<RawFd>();

/// Sends `bytes` and copies of at most [`PASSED`] descriptors in one message.
///
/// # Errors
/// Whatever the system reports, usually that the peer has closed the socket.
#[allow(unsafe_code)]
#[allow(clippy::cast_possible_truncation)] // lengths are at most `PASSED_BYTES`
pub fn send_with(socket: RawFd, bytes: &[u8], fds: &[RawFd]) -> io::Result<()> {
    let fds = &fds[..fds.len().min(PASSED)];
    let length = size_of_val(fds).min(PASSED_BYTES);
    let mut ancillary = Ancillary { bytes: [0; 64] };
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: all structures are initialised (zero is valid for the header) and outlive the call;
    // the control message is as long as `CMSG_SPACE` says, for which 64 bytes are enough.
    let sent = unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = (&raw mut ancillary).cast();
        header.msg_controllen = libc::CMSG_SPACE(length as libc::c_uint) as _;
        let message = libc::CMSG_FIRSTHDR(&raw const header);
        (*message).cmsg_level = libc::SOL_SOCKET;
        (*message).cmsg_type = libc::SCM_RIGHTS;
        (*message).cmsg_len = libc::CMSG_LEN(length as libc::c_uint) as _;
        ptr::copy_nonoverlapping(fds.as_ptr().cast(), libc::CMSG_DATA(message), length);
        libc::sendmsg(socket, &raw const header, NO_SIGNAL)
    };
    match sent {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Sending to a closed socket returns an error instead of killing us. Rust ignores `SIGPIPE`, but a
/// forked process may not.
#[cfg(target_os = "linux")]
const NO_SIGNAL: libc::c_int = libc::MSG_NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const NO_SIGNAL: libc::c_int = 0;

/// Programs that we execute do not inherit received descriptors.
#[cfg(target_os = "linux")]
const CLOSE_ON_EXEC: libc::c_int = libc::MSG_CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const CLOSE_ON_EXEC: libc::c_int = 0;

/// Receives one message and its descriptors without blocking.
#[allow(unsafe_code)]
#[allow(clippy::cast_possible_truncation)] // as in `send_with`
pub fn receive_with(socket: RawFd, bytes: &mut [u8]) -> Received {
    let mut fds = [-1; PASSED];
    let mut ancillary = Ancillary { bytes: [0; 64] };
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: as in `send_with`; the number of bytes copied is what the kernel reports, cut to the
    // array's size.
    let received = unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = (&raw mut ancillary).cast();
        header.msg_controllen = libc::CMSG_SPACE(PASSED_BYTES as libc::c_uint) as _;
        let received = libc::recvmsg(socket, &raw mut header, libc::MSG_DONTWAIT | CLOSE_ON_EXEC);
        let message = libc::CMSG_FIRSTHDR(&raw const header);
        if received > 0 && !message.is_null() && (*message).cmsg_type == libc::SCM_RIGHTS {
            #[allow(clippy::unnecessary_cast)] // its type differs between systems
            let length = (*message).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
            let target = fds.as_mut_ptr().cast();
            ptr::copy_nonoverlapping(libc::CMSG_DATA(message), target, length.min(PASSED_BYTES));
        }
        received
    };
    match Moved::of(received) {
        Moved::Bytes(length) => Received::Message(length, fds),
        Moved::NotNow => Received::NotNow,
        Moved::Over => Received::Closed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::FromRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    #[allow(unsafe_code)]
    fn descriptors_and_bytes_arrive_together() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        send_with(ours.as_raw_fd(), b"hello", &[writer.as_raw_fd()]).unwrap();
        drop(writer);
        let mut bytes = [0; 16];
        let Received::Message(5, fds) = receive_with(theirs.as_raw_fd(), &mut bytes) else {
            panic!("no message");
        };
        assert_eq!((&bytes[..5], fds[1]), (&b"hello"[..], -1));
        // SAFETY: a descriptor that was just received, owned by nobody else.
        let mut sent = unsafe { io::PipeWriter::from(std::os::fd::OwnedFd::from_raw_fd(fds[0])) };
        sent.write_all(b"through").unwrap();
        drop(sent);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
        assert!(matches!(
            receive_with(theirs.as_raw_fd(), &mut bytes),
            Received::NotNow
        ));
        drop(ours);
        assert!(matches!(
            receive_with(theirs.as_raw_fd(), &mut bytes),
            Received::Closed
        ));
    }

    #[test]
    fn a_file_is_put_whole_and_a_full_disk_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let handle = std::fs::File::open(dir.path()).unwrap();
        put_file(handle.as_raw_fd(), c"x.tmp", c"x", b"content");
        assert_eq!(std::fs::read(dir.path().join("x")).unwrap(), b"content");
        assert!(!dir.path().join("x.tmp").exists());
        let full = std::fs::File::options().write(true).open("/dev/full");
        if let Ok(full) = full {
            assert!(!write_at(full.as_raw_fd(), b"x", 0));
        }
    }
}
