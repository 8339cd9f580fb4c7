//! A chibi to test against: plays either protocol generation of the host against the real
//! executable, with a home directory of its own.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use agent_skills::catalog::Catalog;
use agent_skills::facts::Facts;
use agent_skills::protocol::Input;
use agent_skills::sys::Env;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host_process::HostProcess;

/// Which generation of the host is played (docs/hosts.md#generations).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Up to 0.6: data in environment variables, standard input inherited.
    Environment,
    /// From 0.7: data on standard input.
    Stdin,
}

/// One host process with its own home directory.
pub struct Host {
    generation: Generation,
    home: TempDir,
    session: String,
    vars: Vec<(String, String)>,
    cwd: PathBuf,
    /// Those that make no call now.
    processes: Mutex<Vec<HostProcess>>,
}

/// What a person's command did.
#[derive(Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub status: i32,
}

impl Ran {
    fn of(output: Output) -> Self {
        Self {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            status: output.status.code().unwrap_or(-1),
        }
    }

    #[track_caller]
    pub fn ends(&self, status: i32) -> &Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

impl Host {
    pub fn stdin() -> Self {
        Self::of(Generation::Stdin)
    }

    pub fn environment() -> Self {
        Self::of(Generation::Environment)
    }

    /// One host of each generation: what holds for one must hold for the other.
    pub fn both() -> [Self; 2] {
        [Self::environment(), Self::stdin()]
    }

    fn of(generation: Generation) -> Self {
        // Always of the same length: by that lines are broken.
        let home = tempfile::tempdir_in("/tmp").unwrap();
        let plugin = home.path().join(".chibi/plugins/agent-skills");
        fs::create_dir_all(plugin.join("skills")).unwrap();
        let cwd = home.path().join("project");
        fs::create_dir_all(cwd.join(".git")).unwrap();
        Self {
            generation,
            home,
            session: "host".to_owned(),
            vars: Vec::new(),
            cwd,
            processes: Mutex::default(),
        }
    }

    pub fn generation(&self) -> Generation {
        self.generation
    }

    pub fn plugin_dir(&self) -> PathBuf {
        self.home.path().join(".chibi/plugins/agent-skills")
    }

    pub fn skills_dir(&self) -> PathBuf {
        self.plugin_dir().join("skills")
    }

    /// The catalog that a person has here.
    pub fn catalog(&self) -> Catalog {
        let vars = [
            ("AGENT_SKILLS_HOME", self.plugin_dir()),
            ("HOME", self.home().to_owned()),
        ];
        Catalog::of(&Facts::new(Env::new(vars, &self.cwd), None))
    }

    /// The user's project, where every call runs.
    pub fn project(&self) -> &Path {
        &self.cwd
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Adds a skill with a description; `more` is further frontmatter lines, or empty.
    pub fn skill(self, name: &str, more: &str, body: &str) -> Self {
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n{more}\n---\n{body}\n");
        self.file(&format!("{name}/SKILL.md"), text)
    }

    /// Writes a file below the skills directory.
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        write_at(self.skills_dir().join(path), content);
        self
    }

    /// A host under this policy of an administrator's.
    pub fn policy(self, text: &str) -> Self {
        let file = self.home().join("policy.toml");
        fs::write(&file, text).unwrap();
        self.var("AGENT_SKILLS_POLICY", file.to_str().unwrap())
    }

    pub fn configured(self, text: &str) -> Self {
        self.config(text);
        self
    }

    /// Writes the user's configuration.
    pub fn config(&self, text: impl AsRef<[u8]>) {
        write_at(self.plugin_dir().join("config.toml"), text);
    }

    pub fn lockfile(&self) -> Value {
        let path = self.plugin_dir().join("skills.lock.json");
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    pub fn var(mut self, name: &str, value: &str) -> Self {
        self.vars.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The id of its process. It must have made a call.
    pub fn pid(&self) -> u32 {
        self.processes.lock().unwrap()[0].id()
    }

    /// Another host process with the same home.
    pub fn session(&mut self, name: &str) -> &mut Self {
        name.clone_into(&mut self.session);
        self
    }

    /// Starts the host elsewhere.
    pub fn cwd(&mut self, dir: &Path) -> &mut Self {
        dir.clone_into(&mut self.cwd);
        self
    }

    /// The executable in this host's surroundings, not yet told which call it is.
    pub fn command(&self) -> Command {
        self.surround(Command::new(assert_cmd::cargo::cargo_bin!("agent-skills")))
    }

    /// Another program in them.
    pub fn surround(&self, mut command: Command) -> Command {
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CHIBI_") {
                command.env_remove(name);
            }
        }
        command
            .env("HOME", self.home.path())
            .env("AGENT_SKILLS_HOME", self.plugin_dir())
            .env("AGENT_SKILLS_SESSION", &self.session)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            // A test that starts the user's editor would wait for it forever.
            .env_remove("VISUAL")
            .env("EDITOR", "true")
            .env_remove("XDG_STATE_HOME")
            .envs(self.vars.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// A hook or tool call with its data as raw text, which need not be JSON. Panics unless the
    /// status is 0, as every host call's must be.
    #[track_caller]
    pub fn raw(&self, kind: &str, name: &str, data: &str) -> String {
        self.call(kind, name, data).stdout
    }

    #[track_caller]
    fn call(&self, kind: &str, name: &str, data: &str) -> Ran {
        let mut command = self.command();
        let (name_var, data_var) = match kind {
            "hook" => ("CHIBI_HOOK", "CHIBI_HOOK_DATA"),
            _ => ("CHIBI_TOOL_NAME", "CHIBI_TOOL_ARGS"),
        };
        command.env(name_var, name);
        let stdin = match self.generation {
            Generation::Environment => {
                command.env(data_var, data);
                ""
            }
            Generation::Stdin => data,
        };
        let idle = self.processes.lock().unwrap().pop();
        let mut process = idle.unwrap_or_else(HostProcess::start);
        let ran = process.call(&command, stdin);
        self.processes.lock().unwrap().push(process);
        assert_eq!(ran.status, 0, "{kind} {name}: {ran:?}");
        ran
    }

    #[track_caller]
    pub fn schema(&self) -> Vec<Value> {
        let ran = finish(self.command().arg("--schema"), b"");
        assert_eq!(ran.status, 0, "{ran:?}");
        serde_json::from_str(&ran.stdout).unwrap()
    }

    /// The names in the schema, in order.
    #[track_caller]
    pub fn tool_names(&self) -> Vec<String> {
        names(&self.schema())
    }

    /// The part of the schema that is about skills' own tools.
    #[track_caller]
    pub fn skill_schema(&self) -> Vec<Value> {
        let mut tools = self.schema();
        tools.retain(|tool| {
            let name = tool["name"].as_str().unwrap();
            name.starts_with("skill_") && !["skill_marketplace", "skill_session"].contains(&name)
        });
        tools
    }

    /// The names in it, in order.
    #[track_caller]
    pub fn skill_tools(&self) -> Vec<String> {
        names(&self.skill_schema())
    }

    /// A hook's answer, which must be one JSON value.
    #[track_caller]
    pub fn hook(&self, name: &str, data: &Value) -> Value {
        let answer = self.raw("hook", name, &data.to_string());
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    /// A hook's answer, and what it tells the user.
    #[track_caller]
    pub fn hook_with_stderr(&self, name: &str, data: &Value) -> (Value, String) {
        let ran = self.call("hook", name, &data.to_string());
        (serde_json::from_str(&ran.stdout).unwrap(), ran.stderr)
    }

    /// What `pre_tool` answers, in this process, for many calls.
    pub fn pre_tool_here(&self, tool: &str, arguments: &Value) -> Value {
        let vars = [
            ("HOME", self.home().to_owned()),
            ("AGENT_SKILLS_HOME", self.plugin_dir()),
            ("AGENT_SKILLS_SESSION", self.session.clone().into()),
            ("CHIBI_HOOK", "pre_tool".into()),
            ("PATH", "/usr/bin:/bin".into()),
        ];
        let data = json!({"tool_name": tool, "arguments": arguments}).to_string();
        let answer = agent_skills::run(Input {
            args: Vec::new(),
            env: Env::new(vars, &self.cwd),
            stdin: Box::new(Cursor::new(data)),
        });
        serde_json::from_str(&answer.stdout).unwrap()
    }

    #[track_caller]
    pub fn starts(&self) -> &Self {
        assert_eq!(self.hook("on_start", &json!({})), json!({}));
        self
    }

    /// The text injected into the system prompt, empty if none.
    #[track_caller]
    pub fn prompt(&self) -> String {
        let answer = self.hook("post_system_prompt", &json!({"context_name": "default"}));
        answer["inject"].as_str().unwrap_or_default().to_owned()
    }

    /// A tool call as `-P` makes it: without `pre_tool`.
    #[track_caller]
    pub fn tool(&self, name: &str, arguments: &Value) -> String {
        self.raw("tool", name, &arguments.to_string())
    }

    /// The model calls a skill's tool: `pre_tool`, then the tool.
    #[track_caller]
    pub fn activates(&self, skill: &str) -> &Self {
        let tool = format!("skill_{skill}");
        self.allows(&tool, &json!({}));
        self.tool(&tool, &json!({})).begins("<skill_content name=");
        self
    }

    #[track_caller]
    pub fn pre_tool(&self, tool: &str, arguments: &Value) -> Value {
        self.hook(
            "pre_tool",
            &json!({"tool_name": tool, "arguments": arguments}),
        )
    }

    #[track_caller]
    pub fn allows(&self, tool: &str, arguments: &Value) -> &Self {
        let answer = self.pre_tool(tool, arguments);
        // A path may be handed back as it was judged.
        let permits = answer == json!({}) || answer.get("arguments").is_some_and(Value::is_object);
        assert!(
            permits && answer["block"].is_null(),
            "{tool} {arguments}: {answer}"
        );
        self
    }

    /// A skill's tool is called and there is none: nothing becomes active.
    #[track_caller]
    pub fn knows_not(&self, skill: &str) -> &Self {
        let tool = format!("skill_{skill}");
        self.allows(&tool, &json!({}));
        let answer = self.tool(&tool, &json!({}));
        // With a configuration that cannot be read, that is the reason.
        let reasons = ["Error: there is no tool", "Error: no skill is offered"];
        assert!(
            reasons.iter().any(|reason| answer.starts_with(reason)),
            "{answer}"
        );
        self
    }

    /// The message of a refusal, which must be one.
    #[track_caller]
    pub fn blocks(&self, tool: &str, arguments: &Value) -> String {
        let answer = self.pre_tool(tool, arguments);
        assert_eq!(answer["block"], json!(true), "{tool} {arguments}: {answer}");
        answer["message"].as_str().unwrap().to_owned()
    }

    /// A person's command: they sit at a terminal, and read what it tells them from files.
    pub fn person(&self, args: &[&str]) -> Ran {
        by_a_person(self.command().args(args))
    }

    /// A person's command without a terminal, as a script of theirs runs it, or a model's shell.
    pub fn unattended(&self, args: &[&str]) -> Ran {
        let mut command = assert_cmd::Command::from_std(self.command());
        Ran::of(command.args(args).output().unwrap())
    }

    /// A person's command that must succeed; its standard output.
    #[track_caller]
    pub fn succeeds(&self, args: &[&str]) -> String {
        let ran = self.person(args);
        assert_eq!(ran.status, 0, "{args:?}: {ran:?}");
        ran.stdout
    }

    /// What a person's command answers as JSON, whatever its status.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let ran = self.person(args);
        let answer: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        assert_eq!(answer["schema"], json!(1), "{args:?}: {answer}");
        answer
    }

    /// A person's command that must fail; its standard error.
    #[track_caller]
    pub fn fails(&self, args: &[&str]) -> String {
        let ran = self.person(args);
        assert_eq!(ran.status, 1, "{args:?}: {ran:?}");
        ran.stderr
    }
}

fn names(tools: &[Value]) -> Vec<String> {
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    tools.iter().map(name).collect()
}

/// Starts a command, feeds it and waits for its end.
pub fn finish(command: &mut Command, stdin: &[u8]) -> Ran {
    if stdin.is_empty() {
        return Ran::of(command.output().unwrap());
    }
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let (mut pipe, stdin) = (child.stdin.take().unwrap(), stdin.to_owned());
    // A program that answers without reading all of it closes the pipe.
    let feeder = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    Ran::of(output)
}

/// The same, as a person at a terminal starts it.
pub fn by_a_person(command: &mut Command) -> Ran {
    let (_ours, theirs) = crate::terminal::terminal(0);
    finish(command.stdin(theirs), b"")
}

/// What each item of a list in JSON has under this key.
#[track_caller]
pub fn each<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    let items = list.as_array().unwrap().iter();
    items.map(|item| item[key].as_str().unwrap()).collect()
}

/// Makes a pipe that has a name.
pub fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// Writes a file, and makes its directory.
#[track_caller]
pub fn write_at(path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// What a text must be like, one thing after the other.
pub trait Has {
    fn has(&self, part: &str) -> &Self;
    fn lacks(&self, part: &str) -> &Self;
    fn begins(&self, part: &str) -> &Self;
    fn finishes(&self, part: &str) -> &Self;
}

impl Has for str {
    #[track_caller]
    fn has(&self, part: &str) -> &Self {
        assert!(self.contains(part), "{part:?} is missing: {self}");
        self
    }

    #[track_caller]
    fn lacks(&self, part: &str) -> &Self {
        assert!(!self.contains(part), "{part:?} is there: {self}");
        self
    }

    #[track_caller]
    fn begins(&self, part: &str) -> &Self {
        assert!(self.starts_with(part), "not first {part:?}: {self}");
        self
    }

    #[track_caller]
    fn finishes(&self, part: &str) -> &Self {
        assert!(self.ends_with(part), "not last {part:?}: {self}");
        self
    }
}
