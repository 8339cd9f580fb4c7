//! Runs the user's own `git` in such a way that it never prompts, runs hooks or trusts the
//! configuration of a repository (docs/spec/references.md#git). It knows nothing about skills.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use crate::marketplace::fetch::{Failure, Tool};
use crate::marketplace::reference::CommitId;
use crate::sys::files;

/// Settings that no repository may override, since it may be hostile.
const SETTINGS: [&str; 9] = [
    "protocol.ext.allow=never",
    "protocol.file.allow=user",
    "core.symlinks=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    // Nothing is checked out, and what is read of a tree is checked where it is read. An old commit
    // with a bad date stops nobody.
    "fetch.fsckObjects=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// Variables that would point git at another repository.
const REPOSITORY: &str = "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY \
     GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_CONFIG GIT_NAMESPACE GIT_PREFIX \
     GIT_SHALLOW_FILE GIT_GRAFT_FILE GIT_REPLACE_REF_BASE GIT_QUARANTINE_PATH \
     GIT_TEMPLATE_DIR GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_DEFAULT_HASH";

/// Git, and how to run it during one of our commands.
#[derive(Debug, Clone, Copy)]
pub struct Git<'a>(pub Tool<'a>);

/// One git command.
#[derive(Debug, Default)]
pub struct Call<'a> {
    /// The bare repository to work on.
    pub repo: Option<&'a Path>,
    /// Settings for this call, as `name=value`.
    pub settings: &'a [String],
    /// The subcommand and its arguments, of which those from the user come after `--`.
    pub args: &'a [&'a str],
    /// What it gets on standard input.
    pub input: &'a str,
}

impl<'a> Call<'a> {
    /// A subcommand with its arguments and settings, without a repository and input.
    pub fn new(settings: &'a [String], args: &'a [&'a str]) -> Self {
        Self {
            settings,
            args,
            ..Self::default()
        }
    }
}

impl Git<'_> {
    /// Creates an empty bare repository for commits with ids like this one.
    pub fn init(&self, repo: &Path, like: &CommitId) -> Result<(), Failure> {
        let format = like.object_format();
        let args = ["init", "--quiet", "--bare", "--template=", format];
        let call = Call {
            repo: Some(repo),
            ..Call::new(&[], &args)
        };
        self.run(&call, 4096).map(drop)
    }

    /// Runs git and returns its standard output, at most `max` bytes, as a file positioned at its
    /// start.
    pub fn run(&self, call: &Call, max: u64) -> Result<File, Failure> {
        let ran = self.0.run(self.command(call), call.input, max)?;
        if ran.status.success() {
            return Ok(ran.output);
        }
        Err(self.0.tried(Failure::from_stderr(&ran.errors)))
    }

    /// As [`Git::run`], but reads the output into memory.
    pub fn read(&self, call: &Call, max: u64) -> Result<Vec<u8>, Failure> {
        let output = self.run(call, max)?;
        files::read_all_capped(output, max).map_err(|e| self.0.local(&e))
    }

    fn command(&self, call: &Call) -> Command {
        let Tool { env, scratch, .. } = self.0;
        let mut command = self.0.command("git");
        for (name, _) in env.vars() {
            let text = name.to_string_lossy();
            if REPOSITORY.split(' ').any(|one| one == text) || text.starts_with("GIT_TRACE") {
                command.env_remove(name);
            }
        }
        command.env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_LFS_SKIP_SMUDGE", "1");
        command.env("GIT_OPTIONAL_LOCKS", "0");
        // The plugin directory may lie inside an unrelated git repository.
        let scratch = scratch.path();
        command.env(
            "GIT_CEILING_DIRECTORIES",
            scratch.parent().unwrap_or(scratch),
        );
        if env.os("GIT_SSH_COMMAND").is_none() && env.os("GIT_SSH").is_none() {
            command.env("GIT_SSH_COMMAND", "ssh -oBatchMode=yes");
        }
        let settings = call.settings.iter().map(String::as_str);
        for setting in SETTINGS.into_iter().chain(settings) {
            command.args(["-c", setting]);
        }
        if let Some(repo) = call.repo {
            command.arg("--git-dir").arg(repo);
        }
        command.args(call.args);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::fetch::Class;
    use crate::sys::Dir;
    use crate::sys::Env;
    use std::time::{Duration, Instant};

    fn git_in<T>(vars: &[(&str, &str)], test: impl FnOnce(Git) -> T) -> T {
        let dir = tempfile::tempdir().unwrap();
        let path = std::env::var("PATH").unwrap();
        let vars = vars.iter().copied().chain([("PATH", path.as_str())]);
        let env = Env::new(
            vars.collect::<std::collections::HashMap<_, _>>(),
            dir.path(),
        );
        test(Git(Tool {
            env: &env,
            deadline: None,
            scratch: &Dir::anchor(dir.path()).unwrap(),
            progress: None,
        }))
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
            Git(Tool { deadline, ..git.0 }).run(&call, 10).unwrap_err()
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
            let env = Env::new([("PATH", "/nowhere")], git.0.scratch.path());
            Git(Tool { env: &env, ..git.0 })
                .run(&Call::default(), 10)
                .unwrap_err()
        });
        assert_eq!(failure.class, Class::Missing);
    }
}
