//! Systems that can confine nothing.

use super::{Kernel, Sandbox};

impl Sandbox {
    /// Fails.
    ///
    /// # Errors
    /// `ENOSYS`.
    pub fn enter(&self) -> Result<(), i32> {
        Err(libc::ENOSYS)
    }
}

impl Kernel {
    /// The running kernel.
    pub fn at_hand() -> Self {
        Self {
            landlock: 0,
            seccomp: false,
        }
    }
}
