//! Simulates the host: one new process of this program for each hook and tool call, with the data
//! where that generation puts it (docs/hosts.md#generations), in a temporary home.

use crate::author::prelude::*;
use std::ffi::OsStr;
use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::script::Conversation;
use crate::author::skills_at;
use crate::sys::process::{self, RunError};

/// One call by a simulated host: longer than any script may run.
const SIMULATED_CALL: Duration = Duration::from_secs(150);
/// The answer of one call to a simulated host.
const SIMULATED_ANSWER: u64 = 16 * 1024 * 1024;

/// Paths of the plugin directory and the project in the temporary directory.
const PLUGIN: &str = "home/.chibi/plugins/agent-skills";
const PROJECT: &str = "project";
/// Not copied with a skill.
const GIT: EntryName = EntryName::from_static(".git");

/// A host with its own temporary directory.
pub struct Host<'a> {
    pub generation: Protocol,
    env: &'a Env,
    exe: &'a Path,
    stage: TemporaryHome,
}

impl<'a> Host<'a> {
    /// Prepares the skills, the project's files and the configuration.
    pub fn new(
        played: &Conversation,
        exe: &'a Path,
        env: &'a Env,
        generation: Protocol,
    ) -> Result<Self> {
        let script = &played.script;
        let stage = TemporaryHome::new()?;
        for written in &script.skills {
            let path = env.cwd.join(&played.file).with_file_name(written);
            let dirs = skills_at(&path);
            if dirs.is_empty() {
                let text = format!("`{}` has no skill", path.display());
                return Err(Error::new(text)
                    .hint("`skills` lists directories relative to the conversation's file"));
            }
            for dir in dirs {
                let to = stage.make(&format!("{PLUGIN}/skills"))?;
                copy_skill(&dir, &to).map_err(|error| Error::io("copy", &dir, &error))?;
            }
        }
        for (path, text) in &script.files {
            let Some(below) = EntryPath::parse(path) else {
                let text = format!("`files` has the path `{}`", path.display());
                return Err(Error::new(text).hint("name files of the project, relative to it"));
            };
            write(&stage.make(PROJECT)?, &below, text.as_bytes())?;
        }
        let plugin = stage.make(PLUGIN)?;
        if !script.config.is_empty() {
            let config = EntryName::from_static("config.toml");
            write(&plugin, &config.into(), script.config.as_bytes())?;
        }
        // The program's place in an installation; skills may look for it there.
        let program = EntryName::from_static("agent-skills");
        let made = plugin.link_to(exe, &program);
        made.map_err(|error| plugin.error("write", &program, &error))?;
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
            .map_err(|error| Error::caused("--schema did not return JSON", error))
    }

    /// A hook's answer.
    pub fn hook(&self, name: &str, data: &Value) -> Result<Value> {
        let answer = self.call(["CHIBI_HOOK", "CHIBI_HOOK_DATA"], name, data)?;
        // Like the host: an answer that is not JSON has no effect.
        Ok(serde_json::from_str(&answer).unwrap_or(json!({})))
    }

    /// A tool's answer.
    pub fn tool(&self, name: &str, arguments: &Value) -> Result<String> {
        self.call(["CHIBI_TOOL_NAME", "CHIBI_TOOL_ARGS"], name, arguments)
    }

    /// The text with the name of the temporary directory, which differs between runs, replaced.
    pub fn settled(&self, text: &str) -> String {
        text.replace(&self.stage.dir.path().display().to_string(), "<stage>")
    }

    /// Arguments as an author writes them, with paths in the project relative to it.
    pub fn as_written(&self, arguments: &Value) -> Value {
        let project = self.stage.project();
        let mut written = arguments.clone();
        for (_, value) in written.as_object_mut().into_iter().flatten() {
            let path = value.as_str().map(Path::new);
            let below = path.and_then(|path| path.strip_prefix(&project).ok()?.to_str());
            if let Some(below) = below {
                *value = below.into();
            }
        }
        written
    }

    /// Whether a path is inside the project.
    pub fn is_in_project(&self, path: &str) -> bool {
        let project = self.stage.project();
        project.join(path).starts_with(&project) && !path.contains("..")
    }

    fn call(&self, [of_name, of_data]: [&str; 2], name: &str, data: &Value) -> Result<String> {
        let (mut command, mut data) = (self.command(), data.to_string());
        command.env(of_name, name);
        if self.generation == Protocol::Environment {
            command.env(of_data, std::mem::take(&mut data));
        }
        self.run(command, data.as_bytes())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.exe);
        let ours = ["CHIBI_", "AGENT_SKILLS_", "XDG_"];
        // An administrator's policy also applies here.
        let policy = ["AGENT_SKILLS_POLICY", "AGENT_SKILLS_ENTERPRISE_DIR"];
        let passes = |name: &OsStr| {
            let name = name.to_string_lossy();
            policy.contains(&&*name) || !ours.iter().any(|start| name.starts_with(start))
        };
        let stage = self.stage.dir.path();
        command
            .env_clear()
            .envs(self.env.vars().filter(|(name, _)| passes(name)))
            .env("HOME", stage.join("home"))
            .env("AGENT_SKILLS_HOME", stage.join(PLUGIN))
            .env("AGENT_SKILLS_SESSION", "simulate")
            .current_dir(self.stage.project());
        if self.generation == Protocol::Stdin {
            command.env("CHIBI_PROJECT_ROOT", self.stage.project());
        }
        command
    }

    /// Runs one call to its end.
    fn run(&self, mut command: Command, input: &[u8]) -> Result<String> {
        let failed = |error: io::Error| Error::io("run", self.exe, &error);
        let file = || self.stage.dir.create_unseen();
        let ran = process::run(
            &mut command,
            input,
            file,
            SIMULATED_CALL,
            SIMULATED_ANSWER,
            |_| {},
        );
        let (status, told, remarks) = ran.map_err(|error| match error {
            RunError::TimedOut => {
                let most = SIMULATED_CALL.as_secs();
                Error::new(format!("a call did not end within {most} s"))
                    .hint("give the script a timeout_secs, or run it in the background")
            }
            RunError::AnswerTooLarge => failed(io::ErrorKind::FileTooLarge.into()),
            RunError::NotStarted(error) | RunError::Own(error) => failed(error),
        })?;
        let read = |file: File| {
            let bytes = files::read_all_capped(file, SIMULATED_ANSWER)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        if !status.success() {
            let remarks = read(remarks).unwrap_or_default();
            let text = format!("a call ended with {status}: {}", remarks.trim());
            return Err(
                Error::new(text).hint("this is a bug: please report it, with the conversation")
            );
        }
        read(told).map_err(failed)
    }
}

/// A directory removed when the conversation ends.
struct TemporaryHome {
    parent: Dir,
    name: EntryName,
    dir: Dir,
}

impl TemporaryHome {
    fn new() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("agent-skills-stage-{}-{count}", std::process::id());
        let parent = std::env::temp_dir();
        let made = (|| {
            let parent = Dir::anchor(&parent.canonicalize()?)?;
            let name = EntryName::parse(name).ok_or(io::ErrorKind::InvalidFilename)?;
            let dir = parent.new_of_ours(&name)?;
            Ok(Self { parent, name, dir })
        })();
        let stage = made.map_err(|error: io::Error| {
            Error::io("create directory in", &parent, &error).hint("remove it, or set TMPDIR")
        })?;
        for dir in [format!("{PLUGIN}/skills"), format!("{PROJECT}/.git")] {
            stage.make(&dir)?;
        }
        Ok(stage)
    }

    /// A directory below it, created with its parents.
    fn make(&self, path: &str) -> Result<Dir> {
        let made = EntryPath::parse(path).ok_or(io::ErrorKind::InvalidFilename.into());
        let made = made.and_then(|path| self.dir.make_below(&path));
        made.map_err(|error| Error::io("create directory", &self.dir.path().join(path), &error))
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join(PROJECT)
    }
}

impl Drop for TemporaryHome {
    fn drop(&mut self) {
        let _ = self.parent.remove_ours(&self.name);
    }
}

fn write(dir: &Dir, path: &EntryPath, bytes: &[u8]) -> Result<()> {
    let file = dir.create_below(path, 0o644);
    let written = file.and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| Error::io("write a file in", dir.path(), &error))
}

/// Copies the skill in `dir` below `to`, with the name that its directory really has.
fn copy_skill(dir: &Path, to: &Dir) -> io::Result<()> {
    let real = dir.canonicalize()?;
    let name = real.file_name().and_then(EntryName::parse);
    let name = name.ok_or(io::ErrorKind::InvalidFilename)?;
    copy(&Dir::anchor(&real)?, &to.make_dir(&name)?, 0)
}

/// Copies a skill's regular files; links are not followed.
fn copy(from: &Dir, to: &Dir, depth: usize) -> io::Result<()> {
    for (name, kind) in from.entries()? {
        match kind {
            EntryKind::Dir if name != GIT && depth < limits::DIGEST_DEPTH => {
                copy(&from.open_dir(&name)?, &to.make_dir(&name)?, depth + 1)?;
            }
            EntryKind::File => {
                let (mut file, metadata) = from.open_file(&name)?;
                let mode = metadata.permissions().mode() & 0o777;
                io::copy(&mut file, &mut to.create(&name, mode)?)?;
            }
            _ => {}
        }
    }
    Ok(())
}
