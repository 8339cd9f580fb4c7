//! The calls around the execution of a program that have no safe form. Only this file and `sys/signals.rs` may
//! contain `unsafe`: one call in each block, with its proof.

use std::ffi::CString;
use std::{fs, io, ptr};

/// Closes every descriptor from 3 on: the host may have left some open, including locks and pipes.
///
/// To be called before this process opens any.
#[expect(clippy::disallowed_methods, reason = "no file system of others")]
pub fn close_inherited() {
    let numbers: Vec<i32> = match fs::read_dir("/dev/fd") {
        Ok(names) => names
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect(),
        Err(_) => (3..1024).collect(),
    };
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // SAFETY: this process has not opened any descriptor that is still open, so nothing uses
        // this one. Closing a closed one does nothing.
        unsafe { libc::close(number) };
    }
}

/// Has every descriptor from 3 on closed when a program is executed (Linux 5.11; elsewhere and
/// before, nothing): an open file or directory is out of reach for what confines the program.
pub fn close_at_exec() {
    #[cfg(target_os = "linux")]
    // SAFETY: the call changes a flag of descriptors, and no memory.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
}

/// Executes a program; returns only on failure, with the error number.
///
/// The standard library's `exec` uses `execvp`, which in some C libraries passes a file of unknown
/// format to a shell.
pub fn execute(program: &CString, args: &[CString], env: &[CString]) -> i32 {
    let list = |strings: &[CString]| -> Vec<_> {
        let pointers = strings.iter().map(|string| string.as_ptr());
        pointers.chain([ptr::null()]).collect()
    };
    let (args, env) = (list(args), list(env));
    // SAFETY: both lists are C strings that outlive the call, and end in a null pointer.
    unsafe { libc::execve(program.as_ptr(), args.as_ptr(), env.as_ptr()) };
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
