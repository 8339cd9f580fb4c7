//! The host's part: one fresh process of this program for each hook and tool call, with the data
//! where that generation puts it (HOST.md §2), in a home of its own that is gone afterwards.

use std::fs::{self, DirBuilder, File};
use std::io::{Seek, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use wait_timeout::ChildExt;

use super::script::Script;
use crate::author::skills_at;
use crate::error::{Error, Result};
use crate::sys::{Env, files, limits, process};

/// A generation of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// Up to 0.6: data in environment variables.
    Environment,
    /// From 0.7: data on standard input.
    Stdin,
}

impl Generation {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Stdin => "stdin",
        }
    }
}

/// A host on a stage of its own.
pub struct Host<'a> {
    pub generation: Generation,
    env: &'a Env,
    exe: &'a Path,
    stage: Stage,
}

impl<'a> Host<'a> {
    /// Sets the stage: the skills, the project's files, the configuration.
    pub fn new(
        env: &'a Env,
        exe: &'a Path,
        generation: Generation,
        script: &Script,
        beside: &Path,
    ) -> Result<Self> {
        let stage = Stage::new()?;
        for written in &script.skills {
            let path = beside.join(written);
            let dirs = skills_at(&path);
            if dirs.is_empty() {
                let text = format!("`{}` has no skill", path.display());
                return Err(Error::new(text)
                    .hint("`skills` lists directories relative to the conversation's file"));
            }
            for dir in dirs {
                let real = dir
                    .canonicalize()
                    .map_err(|error| Error::io("open directory", &dir, &error))?;
                let name = real.file_name().unwrap_or_default().to_owned();
                copy(&real, &stage.skills().join(name), 0)?;
            }
        }
        for (path, text) in &script.files {
            if path
                .components()
                .any(|part| !matches!(part, Component::Normal(_)))
            {
                let text = format!("`files` has the path `{}`", path.display());
                return Err(Error::new(text).hint("name files of the project, relative to it"));
            }
            write(&stage.project().join(path), text.as_bytes())?;
        }
        if !script.config.is_empty() {
            write(
                &stage.plugin().join("config.toml"),
                script.config.as_bytes(),
            )?;
        }
        // Where an installation has the program; skills may look for it there.
        let program = stage.plugin().join("agent-skills");
        std::os::unix::fs::symlink(exe, &program)
            .map_err(|error| Error::io("write", &program, &error))?;
        Ok(Self {
            generation,
            env,
            exe,
            stage,
        })
    }

    /// `--schema`.
    pub fn schema(&self) -> Result<Value> {
        let mut command = self.command();
        command.arg("--schema");
        let answer = self.run(command, b"")?;
        serde_json::from_str(&answer)
            .map_err(|error| Error::new(format!("--schema answered no JSON: {error}")))
    }

    /// A hook's answer.
    pub fn hook(&self, name: &str, data: &Value) -> Result<Value> {
        let answer = self.call(["CHIBI_HOOK", "CHIBI_HOOK_DATA"], name, data)?;
        // As the host has it: what is no JSON has no effect.
        Ok(serde_json::from_str(&answer).unwrap_or(json!({})))
    }

    /// A tool's answer.
    pub fn tool(&self, name: &str, arguments: &Value) -> Result<String> {
        self.call(["CHIBI_TOOL_NAME", "CHIBI_TOOL_ARGS"], name, arguments)
    }

    /// A text without what differs from play to play.
    pub fn settled(&self, text: &str) -> String {
        text.replace(&self.stage.0.display().to_string(), "<stage>")
    }

    /// Whether a path lies in the project.
    pub fn is_in_project(&self, path: &str) -> bool {
        let project = self.stage.project();
        project.join(path).starts_with(&project) && !path.contains("..")
    }

    fn call(
        &self,
        [name_variable, data_variable]: [&str; 2],
        name: &str,
        data: &Value,
    ) -> Result<String> {
        let mut command = self.command();
        command.env(name_variable, name);
        let data = data.to_string();
        match self.generation {
            Generation::Environment => {
                command.env(data_variable, &data);
                self.run(command, b"")
            }
            Generation::Stdin => self.run(command, data.as_bytes()),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.exe);
        let is_ours = |name: &str| {
            let starts = ["CHIBI_", "AGENT_SKILLS_", "XDG_"];
            starts.iter().any(|start| name.starts_with(start))
        };
        // An administrator's word counts on every stage.
        let policy = ["AGENT_SKILLS_POLICY", "AGENT_SKILLS_ENTERPRISE_DIR"];
        let left_out = |name: &str| is_ours(name) && !policy.contains(&name);
        command.env_clear();
        command.envs(
            self.env
                .vars()
                .filter(|(name, _)| !left_out(&name.to_string_lossy())),
        );
        command
            .env("HOME", self.stage.home())
            .env("AGENT_SKILLS_HOME", self.stage.plugin())
            .env("AGENT_SKILLS_SESSION", "simulate")
            .current_dir(self.stage.project());
        if self.generation == Generation::Stdin {
            command.env("CHIBI_PROJECT_ROOT", self.stage.project());
        }
        command
    }

    /// Runs one call to its end. Files, not pipes: a call that writes much never waits for us.
    fn run(&self, mut command: Command, input: &[u8]) -> Result<String> {
        let failed = |error: std::io::Error| Error::io("run", self.exe, &error);
        let scratch = |name: &str| {
            let path = self.stage.0.join(name);
            File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(path)
                .map_err(failed)
        };
        let (mut given, mut told, mut remarks) =
            (scratch("stdin")?, scratch("stdout")?, scratch("stderr")?);
        given
            .write_all(input)
            .and_then(|()| given.rewind())
            .map_err(failed)?;
        let streams = (|| Ok((told.try_clone()?, remarks.try_clone()?)))();
        let (stdout, stderr) = streams.map_err(failed)?;
        command
            .stdin(Stdio::from(given))
            .stdout(stdout)
            .stderr(stderr);
        let mut child = process::in_own_group(&mut command)
            .spawn()
            .map_err(failed)?;
        let ended = child.wait_timeout(limits::SIMULATED_CALL);
        // Also after its end: a host's call leaves nothing behind.
        process::kill_group(child.id());
        let Some(status) = ended.map_err(failed)? else {
            let _ = child.wait();
            let text = format!(
                "a call did not end within {} s",
                limits::SIMULATED_CALL.as_secs()
            );
            return Err(Error::new(text)
                .hint("give the script a timeout_secs, or run it in the background"));
        };
        let read = |file: &mut File| {
            file.rewind()?;
            let bytes = files::read_all_capped(&mut *file, limits::SIMULATED_ANSWER)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        if !status.success() {
            let remarks = read(&mut remarks).unwrap_or_default();
            return Err(
                Error::new(format!("a call ended with {status}: {}", remarks.trim()))
                    .hint("a host's call never ends so: please report it, with the conversation"),
            );
        }
        read(&mut told).map_err(failed)
    }
}

/// A directory that is gone when the play is over.
struct Stage(PathBuf);

impl Stage {
    fn new() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("agent-skills-stage-{}-{count}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        let made = DirBuilder::new().mode(0o700).create(&dir);
        made.map_err(|error| {
            Error::io("create directory", &dir, &error).hint("remove it, or set TMPDIR")
        })?;
        let real = dir
            .canonicalize()
            .map_err(|error| Error::io("open directory", &dir, &error));
        let stage = Self(real.inspect_err(|_| drop(fs::remove_dir(&dir)))?);
        for dir in [stage.skills(), stage.project().join(".git")] {
            fs::create_dir_all(&dir)
                .map_err(|error| Error::io("create directory", &dir, &error))?;
        }
        Ok(stage)
    }

    fn home(&self) -> PathBuf {
        self.0.join("home")
    }

    fn plugin(&self) -> PathBuf {
        self.home().join(".chibi/plugins/agent-skills")
    }

    fn skills(&self) -> PathBuf {
        self.plugin().join("skills")
    }

    fn project(&self) -> PathBuf {
        self.0.join("project")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, bytes))
        .map_err(|error| Error::io("write", path, &error))
}

/// Copies a skill's regular files; links are not followed.
fn copy(from: &Path, to: &Path, depth: usize) -> Result<()> {
    let failed = |error| Error::io("copy", from, &error);
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        let target = to.join(entry.file_name());
        if kind.is_dir() && entry.file_name() != ".git" && depth < limits::DIGEST_DEPTH {
            copy(&entry.path(), &target, depth + 1)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target).map_err(failed)?;
        }
    }
    Ok(())
}
