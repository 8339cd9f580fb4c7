//! The user's own `git` as a child process that cannot prompt, run hooks, outlive its deadline or
//! fill memory (MARKETPLACE.md §5). It knows nothing of skills.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use wait_timeout::ChildExt;

use super::git_failure::{Class, Failure};
use crate::sys::{Env, files, limits, process};

/// What a repository, a hostile one included, must not change about how git works here.
const SETTINGS: [&str; 9] = [
    "protocol.ext.allow=never",
    "protocol.file.allow=user",
    "core.symlinks=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "transfer.fsckObjects=true",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// Variables that would point git at another repository than the one it is told, or that belong
/// to the host's call and are nobody else's business.
const SCRUBBED: [&str; 23] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_QUARANTINE_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_EDITOR",
    "GIT_DEFAULT_HASH",
    "CHIBI_HOOK",
    "CHIBI_HOOK_DATA",
    "CHIBI_TOOL_NAME",
    "CHIBI_TOOL_ARGS",
    "AGENT_SKILLS_SESSION",
];

/// How often a running git's output is measured. Its end is seen at once.
const MEASURE: Duration = Duration::from_millis(100);
/// How much of standard error is read: the telling lines are its first.
const STDERR: u64 = 16 * 1024;

/// How to run git for one command of ours.
#[derive(Debug, Clone, Copy)]
pub struct Git<'a> {
    /// The environment it inherits, scrubbed.
    pub env: &'a Env,
    /// When the answer must be there; none for a person at a terminal.
    pub deadline: Option<Instant>,
    /// A directory of ours: git's working directory, and the place for its output.
    pub scratch: &'a Path,
}

/// One git command.
#[derive(Debug, Default)]
pub struct Call<'a> {
    /// The bare repository it works on.
    pub repo: Option<&'a Path>,
    /// Settings of this call, as `name=value`.
    pub settings: &'a [String],
    /// The subcommand and its arguments. What a user controls stands behind `--`.
    pub args: &'a [&'a str],
    /// Its standard input.
    pub input: &'a str,
    /// Never fetch missing objects one by one.
    pub no_lazy_fetch: bool,
}

impl Git<'_> {
    /// Runs git and answers its standard output, of at most `max` bytes, as a file at its
    /// beginning.
    pub fn run(&self, call: &Call, max: u64) -> Result<File, Failure> {
        let files = (|| Ok((self.anonymous()?, self.anonymous()?, self.anonymous()?)))();
        let (mut input, output, mut errors) = files.map_err(|e| self.local(&e))?;
        let given = input
            .write_all(call.input.as_bytes())
            .and_then(|()| input.seek(SeekFrom::Start(0)));
        given.map_err(|e| self.local(&e))?;

        let mut command = self.command(call);
        let clones = (|| Ok((output.try_clone()?, errors.try_clone()?)))();
        let (stdout, stderr) = clones.map_err(|e| self.local(&e))?;
        command
            .stdin(Stdio::from(input))
            .stdout(stdout)
            .stderr(stderr);
        let child = process::in_own_group(&mut command).spawn();
        let mut child = child.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failure::new(Class::GitMissing, "git was not found"),
            _ => Failure::new(Class::Other, format!("could not start git: {error}")),
        })?;
        let ended = self.wait(&mut child, &output, max);
        // Helpers that git left behind go with it.
        process::kill_group(child.id());
        let status = ended?;
        if !status.success() {
            let mut text = Vec::new();
            let read = errors
                .seek(SeekFrom::Start(0))
                .and_then(|_| errors.take(STDERR).read_to_end(&mut text));
            read.map_err(|e| self.local(&e))?;
            return Err(Failure::from_stderr(&String::from_utf8_lossy(&text)));
        }
        let mut output = output;
        output
            .seek(SeekFrom::Start(0))
            .map_err(|e| self.local(&e))?;
        Ok(output)
    }

    /// As [`Git::run`], and reads the answer.
    pub fn read(&self, call: &Call, max: u64) -> Result<Vec<u8>, Failure> {
        let output = self.run(call, max)?;
        files::read_all_capped(output, max).map_err(|e| self.local(&e))
    }

    fn command(&self, call: &Call) -> Command {
        let mut command = Command::new("git");
        command.env_clear();
        command.envs(self.env.vars().filter(|(name, _)| {
            let name = name.to_string_lossy();
            !SCRUBBED.contains(&name.as_ref()) && !name.starts_with("GIT_TRACE")
        }));
        command.env("LC_ALL", "C");
        command.env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_LFS_SKIP_SMUDGE", "1");
        command.env("GIT_OPTIONAL_LOCKS", "0");
        // The plugin directory may lie in somebody's repository, which is none of ours.
        command.env(
            "GIT_CEILING_DIRECTORIES",
            self.scratch.parent().unwrap_or(self.scratch),
        );
        if self.env.os("GIT_SSH_COMMAND").is_none() && self.env.os("GIT_SSH").is_none() {
            command.env("GIT_SSH_COMMAND", "ssh -oBatchMode=yes");
        }
        if call.no_lazy_fetch {
            command.env("GIT_NO_LAZY_FETCH", "1");
        }
        command.current_dir(self.scratch);
        for setting in SETTINGS
            .into_iter()
            .chain(call.settings.iter().map(String::as_str))
        {
            command.args(["-c", setting]);
        }
        if let Some(repo) = call.repo {
            command.arg("--git-dir").arg(repo);
        }
        command.args(call.args);
        command
    }

    fn wait(&self, child: &mut Child, output: &File, max: u64) -> Result<ExitStatus, Failure> {
        let person = Instant::now() + Duration::from_secs(limits::GIT_SECONDS);
        let deadline = self
            .deadline
            .map_or(person, |deadline| deadline.min(person));
        let stopped = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match child.wait_timeout(left.min(MEASURE)) {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if left.is_zero() => {
                    break Failure::new(Class::TimedOut, "git did not finish in time");
                }
                Ok(None) => {}
                Err(error) => break self.local(&error),
            }
            if output.metadata().is_ok_and(|metadata| metadata.len() > max) {
                let text = format!("git answered with more than {max} bytes");
                break Failure::new(Class::TooLarge, text);
            }
        };
        process::kill_group(child.id());
        // Killed, so this does not wait; it keeps the dead child from staying around.
        let _ = child.wait();
        Err(stopped)
    }

    /// A file that nobody else sees and that is gone when it is closed.
    fn anonymous(&self) -> io::Result<File> {
        let path = files::temp_sibling(&self.scratch.join("git"));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    }

    fn local(&self, error: &io::Error) -> Failure {
        let class = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Class::DiskFull,
            io::ErrorKind::FileTooLarge => Class::TooLarge,
            _ => Class::Other,
        };
        let text = format!("could not work in `{}`: {error}", self.scratch.display());
        Failure::new(class, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git_in<T>(vars: &[(&str, &str)], test: impl FnOnce(Git) -> T) -> T {
        let dir = tempfile::tempdir().unwrap();
        let path = std::env::var("PATH").unwrap();
        let vars = vars.iter().copied().chain([("PATH", path.as_str())]);
        let env = Env::new(
            vars.collect::<std::collections::HashMap<_, _>>(),
            dir.path(),
        );
        test(Git {
            env: &env,
            deadline: None,
            scratch: dir.path(),
        })
    }

    fn alias(script: &str) -> Vec<String> {
        vec![format!("alias.x=!{script}")]
    }

    #[test]
    fn the_host_and_the_callers_repository_do_not_reach_git() {
        let vars = [
            ("GIT_DIR", "/x"),
            ("CHIBI_HOOK", "pre_tool"),
            ("GIT_TRACE2", "1"),
            ("KEPT", "k"),
        ];
        let settings = alias("env");
        let call = Call {
            settings: &settings,
            args: &["x"],
            ..Call::default()
        };
        let output = git_in(&vars, |git| git.read(&call, 1 << 20)).unwrap();
        let output = String::from_utf8(output).unwrap();
        for gone in ["GIT_DIR=", "CHIBI_HOOK", "GIT_TRACE2"] {
            assert!(!output.contains(gone), "{gone} in {output}");
        }
        for there in [
            "KEPT=k",
            "LC_ALL=C",
            "GIT_TERMINAL_PROMPT=0",
            "ssh -oBatchMode=yes",
        ] {
            assert!(output.contains(there), "{there} not in {output}");
        }
    }

    #[test]
    fn a_git_that_does_not_finish_is_killed_with_its_children() {
        let settings = alias("sleep 50 & sleep 50");
        let call = Call {
            settings: &settings,
            args: &["x"],
            ..Call::default()
        };
        let started = Instant::now();
        let failure = git_in(&[], |git| {
            let deadline = Some(Instant::now() + Duration::from_millis(200));
            Git { deadline, ..git }.run(&call, 10).unwrap_err()
        });
        assert_eq!(failure.class, Class::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn endless_output_is_cut_off() {
        let settings = alias("yes");
        let call = Call {
            settings: &settings,
            args: &["x"],
            ..Call::default()
        };
        let failure = git_in(&[], |git| git.run(&call, 1000).unwrap_err());
        assert_eq!(failure.class, Class::TooLarge);
    }

    #[test]
    fn a_missing_git_is_named() {
        let failure = git_in(&[("PATH", "/nowhere")], |git| {
            let env = Env::new([("PATH", "/nowhere")], git.scratch);
            Git { env: &env, ..git }
                .run(&Call::default(), 10)
                .unwrap_err()
        });
        assert_eq!(failure.class, Class::GitMissing);
    }
}
