//! Runs a program once as the host does: time, answer, and peak memory.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The two generations of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Environment,
    Stdin,
}

impl Protocol {
    pub const ALL: [Self; 2] = [Self::Environment, Self::Stdin];
}

/// One call of the host.
#[derive(Debug, Clone)]
pub struct Call {
    /// `AGENT_SKILLS_HOME`.
    pub home: PathBuf,
    /// The user's home and working directory.
    pub user: PathBuf,
    pub what: What,
}

#[derive(Debug, Clone)]
pub enum What {
    Schema,
    Hook(&'static str, String),
    Tool(String, String),
    /// A hook of Claude Code.
    Agent(String),
}

#[derive(Debug, Clone)]
pub struct Run {
    pub time: Duration,
    pub answer: String,
    pub peak_kb: u64,
}

#[derive(Debug)]
pub struct Program(PathBuf);

impl Program {
    /// A copy in `dir`, as install.sh makes one. The kernel maps a file that was written in one go with
    /// fewer page faults than one that a linker wrote piece by piece.
    pub fn installed(executable: &Path, dir: &Path) -> Self {
        let path = dir.join("installed");
        std::fs::copy(executable, &path).unwrap();
        Self(path)
    }

    /// An empty program with the compiler's default settings.
    pub fn empty(dir: &Path) -> Self {
        let source = dir.join("empty.rs");
        std::fs::write(&source, "fn main() {}\n").unwrap();
        let path = dir.join("linked");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut compile = Command::new(rustc);
        // Without symbols, like a release built by cargo; the loader does not read them anyway.
        compile
            .args(["-O", "-Cstrip=symbols", "-o"])
            .args([&path, &source]);
        assert!(compile.status().unwrap().success());
        let empty = dir.join("empty");
        std::fs::copy(&path, &empty).unwrap();
        Self(empty)
    }

    pub fn run(&self, call: &Call, protocol: Protocol) -> Run {
        let mut command = Command::new(&self.0);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            // Cargo's library paths would slow down dynamically linked programs.
            if ["CHIBI_", "AGENT_SKILLS_", "XDG_", "CARGO", "LD_"]
                .iter()
                .any(|ours| text.starts_with(ours))
            {
                command.env_remove(&name);
            }
        }
        command
            .env("AGENT_SKILLS_HOME", &call.home)
            .env("HOME", &call.user);
        command.current_dir(&call.user).stdin(Stdio::null());
        let (name, value, data, payload) = match &call.what {
            What::Schema => {
                command.arg("--schema");
                return timed(&mut command);
            }
            What::Agent(data) => {
                // Elsewhere the user's skills would be the project's.
                command.current_dir(call.user.join("project"));
                command.args(["hook", "claude-code"]).stdin(file_with(data));
                return timed(&mut command);
            }
            What::Hook(hook, data) => ("CHIBI_HOOK", *hook, "CHIBI_HOOK_DATA", data),
            What::Tool(tool, arguments) => (
                "CHIBI_TOOL_NAME",
                tool.as_str(),
                "CHIBI_TOOL_ARGS",
                arguments,
            ),
        };
        command.env(name, value);
        match protocol {
            Protocol::Environment => command.env(data, payload),
            Protocol::Stdin => command.stdin(file_with(payload)),
        };
        timed(&mut command)
    }
}

fn file_with(text: &str) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.rewind().unwrap();
    file
}

// `reap` waits for the child.
#[allow(clippy::zombie_processes)]
fn timed(command: &mut Command) -> Run {
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut answer = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut answer)
        .unwrap();
    let (status, peak_kb) = reap(child.id());
    let time = start.elapsed();
    assert_eq!(status, 0, "{command:?} answered {answer}");
    Run {
        time,
        answer,
        peak_kb,
    }
}

/// Waits for the child; returns its status and its peak memory.
#[allow(unsafe_code)]
fn reap(pid: u32) -> (i32, u64) {
    let mut status = 0;
    // SAFETY: all zeros is a valid rusage, which only contains numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let pid = libc::pid_t::try_from(pid).unwrap();
    // SAFETY: both pointers are to our own variables; the child is ours and has not been waited
    // for.
    let reaped = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    assert_eq!(reaped, pid);
    let unit = if cfg!(target_os = "macos") { 1024 } else { 1 };
    (status, usage.ru_maxrss.unsigned_abs() / unit)
}
