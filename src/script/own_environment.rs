//! The environment in a supervisor's memory. The supervisor does not need it, but
//! `/proc/$PPID/environ` would show a privileged script variables that no setting passes on.

/// The addresses of the values to erase. Found before the fork, because it allocates.
#[derive(Debug)]
pub struct Environment(Vec<(*mut u8, usize)>);

impl Environment {
    /// Finds the values of all variables.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    pub fn find() -> Self {
        use std::ffi::{CStr, c_char};

        unsafe extern "C" {
            static mut environ: *const *mut c_char;
        }
        let mut found = Vec::new();
        // SAFETY: `environ` is null or a list of C strings that a null pointer ends. Nothing in
        // this program changes its environment, so no other thread does so now.
        unsafe {
            let mut next = environ;
            while !next.is_null() && !(*next).is_null() {
                let variable = *next;
                let bytes = CStr::from_ptr(variable).to_bytes();
                if let Some(equals) = bytes.iter().position(|byte| *byte == b'=') {
                    let value = variable.cast::<u8>().add(equals + 1);
                    found.push((value, bytes.len() - equals - 1));
                }
                next = next.add(1);
            }
        }
        Self(found)
    }

    /// No other system shows a process's environment in a file.
    #[cfg(not(target_os = "linux"))]
    pub fn find() -> Self {
        Self(Vec::new())
    }

    /// Overwrites them with zeros. Allocates nothing.
    ///
    /// # Safety
    /// Only in a fork with one thread: nobody else reads its memory meanwhile.
    #[allow(unsafe_code)]
    pub unsafe fn wipe(&self) {
        for (value, length) in &self.0 {
            // SAFETY: `find` took the range from a C string of the environment, which is writable
            // and does not move; the caller guarantees the rest. Zeros keep it a C string.
            unsafe { value.write_bytes(0, *length) };
        }
    }
}
