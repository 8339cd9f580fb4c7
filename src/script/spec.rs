//! What a supervisor runs and under which conditions, and how the plugin sends it: over the
//! lifeline, as JSON followed by the script's input. It makes none of these choices.

use std::ffi::{CString, OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::sandbox::Sandbox;
use crate::error::{Error, Result};
use crate::sys::process::ProcessId;
use crate::sys::text::quoted;

/// A program with its arguments, environment, directory and sandbox.
#[derive(Debug, Serialize, Deserialize)]
pub struct ProcessSpec {
    /// Its path, absolute, and its arguments.
    pub args: Vec<CString>,
    /// Its environment, each variable as `NAME=value`.
    pub env: Vec<CString>,
    /// Its working directory.
    pub workdir: OsString,
    /// Its confinement.
    pub sandbox: Option<Sandbox>,
}

/// The conditions under which it runs.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Conditions {
    /// How long it may take.
    pub limit: Duration,
    /// Whether it becomes a job at once: it begins only then.
    pub at_once: bool,
    /// The process with which it ends, unless it becomes a job.
    pub host: Option<ProcessId>,
}

impl ProcessSpec {
    /// The program, its further arguments, environment and working directory.
    ///
    /// # Errors
    /// When one of them contains a NUL byte.
    pub fn new(
        program: &Path,
        args: impl IntoIterator<Item = OsString>,
        env: impl IntoIterator<Item = (OsString, OsString)>,
        workdir: &Path,
    ) -> Result<Self> {
        let program = c_string("the interpreter's path", program.as_os_str());
        let args = args.into_iter().map(|arg| c_string("an argument", &arg));
        let variable = |(mut pair, value): (OsString, OsString)| {
            let what = format!("the environment variable `{}`", pair.display());
            pair.push("=");
            pair.push(value);
            c_string(&what, &pair)
        };
        Ok(Self {
            args: std::iter::once(program)
                .chain(args)
                .collect::<Result<_>>()?,
            env: env.into_iter().map(variable).collect::<Result<_>>()?,
            workdir: workdir.into(),
            sandbox: None,
        })
    }

    /// Sends it over the lifeline, followed by the script's standard input.
    ///
    /// # Errors
    /// When the supervisor does not accept it.
    pub fn send(
        &self,
        mut lifeline: &UnixStream,
        conditions: Conditions,
        stdin: &[u8],
    ) -> io::Result<()> {
        let json = serde_json::to_vec(&(self, conditions))?;
        for part in [&json[..], stdin] {
            lifeline.write_all(&part.len().to_le_bytes())?;
            lifeline.write_all(part)?;
        }
        Ok(())
    }

    /// Receives what [`ProcessSpec::send`] sends.
    ///
    /// # Errors
    /// When the plugin is gone or sent something else.
    pub fn receive(mut lifeline: &UnixStream) -> io::Result<(Self, Conditions, Vec<u8>)> {
        let mut part = || {
            let mut length = [0; size_of::<usize>()];
            lifeline.read_exact(&mut length)?;
            let mut part = vec![0; usize::from_le_bytes(length)];
            lifeline.read_exact(&mut part).map(|()| part)
        };
        let (process, conditions) = serde_json::from_slice(&part()?)?;
        Ok((process, conditions, part()?))
    }
}

fn c_string(what: &str, text: &OsStr) -> Result<CString> {
    CString::new(text.to_owned().into_vec()).map_err(|_| {
        let shown = quoted(&text.to_string_lossy());
        Error::new(format!("{what} contains a NUL byte: `{shown}`"))
            .hint("pass binary data through `stdin`")
    })
}
