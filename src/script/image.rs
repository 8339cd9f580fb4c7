//! The program, arguments, environment and directory of the script's process, converted for
//! `execve` while memory may still be allocated. It chooses none of them.

use std::ffi::{CStr, CString, OsStr, OsString, c_char};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::ptr;

use super::process;
use super::sandbox::Sandbox;
use crate::error::{Error, Result};

/// A program ready to be executed by a forked process.
pub struct ProcessSpec {
    program: CString,
    workdir: CString,
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
    sandbox: Option<Sandbox>,
    /// What the pointers above point to; never modified.
    _strings: Vec<CString>,
}

impl ProcessSpec {
    /// Builds an image from the program (also argument zero), its further arguments, environment
    /// and working directory.
    ///
    /// # Errors
    /// When one of them contains a NUL byte.
    pub fn new(
        program: &Path,
        args: impl IntoIterator<Item = OsString>,
        env: impl IntoIterator<Item = (OsString, OsString)>,
        workdir: &Path,
    ) -> Result<Self> {
        let program = c_string("the interpreter's path", program.as_os_str())?;
        let workdir = c_string("the working directory", workdir.as_os_str())?;
        let mut strings = vec![program.clone()];
        for arg in args {
            strings.push(c_string("an argument", &arg)?);
        }
        let env_from = strings.len();
        for (name, value) in env {
            let what = format!("the environment variable `{}`", name.display());
            let mut pair = name;
            pair.push("=");
            pair.push(value);
            strings.push(c_string(&what, &pair)?);
        }
        let pointers = |strings: &[CString]| {
            let each = strings.iter().map(|string| string.as_ptr());
            each.chain([ptr::null()]).collect()
        };
        Ok(Self {
            program,
            workdir,
            argv: pointers(&strings[..env_from]),
            envp: pointers(&strings[env_from..]),
            _strings: strings,
            sandbox: None,
        })
    }

    /// Sets the sandbox in which it is executed.
    #[must_use]
    pub fn confined(self, sandbox: Option<Sandbox>) -> Self {
        Self { sandbox, ..self }
    }

    /// The sandbox to enter first.
    pub fn sandbox(&self) -> Option<&Sandbox> {
        self.sandbox.as_ref()
    }

    /// The script's working directory.
    pub fn workdir(&self) -> &CStr {
        &self.workdir
    }

    /// Executes the program; returns only on failure, with the error number. Allocates nothing.
    #[allow(unsafe_code)]
    pub fn execute(&self) -> i32 {
        // SAFETY: both lists were built with a final null pointer from C strings kept beside them.
        unsafe { process::execute(&self.program, &self.argv, &self.envp) }
    }
}

fn c_string(what: &str, text: &OsStr) -> Result<CString> {
    CString::new(text.to_owned().into_vec()).map_err(|_| {
        let shown: String = String::from_utf8_lossy(text.as_bytes())
            .chars()
            .take(60)
            .collect();
        let text = format!("{what} contains a NUL byte: `{}`", shown.escape_debug());
        Error::new(text).hint("pass binary data through `stdin`")
    })
}
