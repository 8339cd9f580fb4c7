//! A skill with one script in a temporary directory, for the tests of this room.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Jobs, RunLimits, ScriptOutcome, ScriptRequest, ScriptRun, ScriptSettings, run};
use crate::error::Result;
use crate::skill::Skill;
use crate::sys::Env;
use crate::sys::process::ProcessId;

crate::sys::signals::before_main!(supervise);

/// Lets the test binary be started as a supervisor.
fn supervise() {
    crate::sys::signals::ignore_pipe();
    if super::supervise(std::env::args_os()).is_some() {
        std::process::exit(0);
    }
}

/// A script that a test is about to run.
pub struct Fixture {
    dir: tempfile::TempDir,
    name: String,
    args: Vec<String>,
    stdin: Vec<u8>,
    env: Vec<(String, String)>,
    limit: Duration,
    wait: Option<Duration>,
    /// The process with which the script ends.
    pub host: Option<ProcessId>,
    /// The environment from which the script is run.
    pub base: Env,
}

impl Fixture {
    /// A skill with a bash script.
    pub fn bash(content: &str) -> Self {
        Self::file("script.sh", content)
    }

    /// A skill with a script of that file name.
    pub fn file(name: &str, content: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(name), content).unwrap();
        let project = [("CHIBI_PROJECT_ROOT".into(), dir.path().into())];
        let base = Env::new(std::env::vars_os().chain(project), dir.path());
        Self {
            dir,
            name: name.to_owned(),
            args: Vec::new(),
            stdin: Vec::new(),
            env: Vec::new(),
            limit: Duration::from_secs(20),
            wait: None,
            host: None,
            base,
        }
    }

    /// Sets the arguments.
    pub fn args(mut self, args: &[&str]) -> Self {
        self.args = args.iter().map(|arg| (*arg).to_owned()).collect();
        self
    }

    /// Sets the standard input.
    pub fn stdin(mut self, stdin: Vec<u8>) -> Self {
        self.stdin = stdin;
        self
    }

    /// Adds a variable.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the time limit.
    pub fn limit(mut self, millis: u64) -> Self {
        self.limit = Duration::from_millis(millis);
        self
    }

    /// Sets how long the call waits before the script becomes a job.
    pub fn wait(mut self, millis: u64) -> Self {
        self.wait = Some(Duration::from_millis(millis));
        self
    }

    /// Its jobs.
    pub fn jobs(&self) -> Jobs {
        Jobs::new(self.path(""))
    }

    /// The path of a file of the skill.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs it in the skill's directory.
    pub fn run(&self) -> Result<ScriptOutcome> {
        self.run_in(&self.path(""))
    }

    /// Runs it in a directory.
    pub fn run_in(&self, workdir: &Path) -> Result<ScriptOutcome> {
        self.start_in(workdir).map(|ran| ran.outcome)
    }

    /// Starts it and releases the job it becomes.
    pub fn start(&self) -> ScriptOutcome {
        let ran = self.start_in(&self.path("")).unwrap();
        ran.release.unwrap().release();
        ran.outcome
    }

    /// Runs or starts it in a directory.
    pub fn start_in(&self, workdir: &Path) -> Result<ScriptRun> {
        let skill = Skill {
            parsed: skill_format::Skill::parse("fixture", b"").unwrap(),
            dir: self.dir.path().to_owned(),
            file: self.path("SKILL.md"),
            digest: String::new(),
        };
        run(&ScriptRequest {
            skill: &skill,
            script: &self.path(&self.name),
            label: &self.name,
            workdir: Some(workdir),
            args: &self.args,
            stdin: &self.stdin,
            env: &self.env,
            settings: &ScriptSettings::default(),
            limits: &RunLimits {
                limit: self.limit,
                wait: self.wait,
                jobs: self.jobs(),
                owner: "session:test".to_owned(),
                host: self.host,
            },
            base: &self.base,
        })
    }

    /// The process whose id the script wrote to that file.
    pub fn process(&self, file: &str) -> ProcessId {
        let pid = fs::read_to_string(self.path(file)).unwrap();
        ProcessId {
            pid: pid.trim().parse().unwrap(),
            start: 0,
        }
    }
}

/// Waits for `condition`, and panics after 10 seconds.
pub fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
