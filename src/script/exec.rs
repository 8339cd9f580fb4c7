//! The calls around the execution of a program that have no safe form. Only this file and `sys/signals.rs` may
//! contain `unsafe`: one call in each block, with its proof.

use std::ffi::CString;
use std::{io, ptr};

/// Executes the program at `args[0]`; returns only on failure, with the error number.
///
/// The standard library's `exec` uses `execvp`, which in some C libraries passes a file of unknown
/// format to a shell.
pub fn execute(args: &[CString], env: &[CString]) -> i32 {
    let list = |strings: &[CString]| -> Vec<_> {
        let pointers = strings.iter().map(|string| string.as_ptr());
        pointers.chain([ptr::null()]).collect()
    };
    let (args, env) = (list(args), list(env));
    // SAFETY: both lists are C strings that outlive the call, and end in a null pointer.
    unsafe { libc::execve(args[0], args.as_ptr(), env.as_ptr()) };
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
