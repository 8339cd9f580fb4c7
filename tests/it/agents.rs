//! Other agents, played by what the real ones sent (`payloads/`, by agent and release): one file per
//! agent, and what holds for all of them here.

pub mod all;
pub mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod modes;
mod naming;
mod opencode;
mod qwen_code;
mod required;
mod signing;
mod steps;
mod suggesting;

use std::ffi::OsString;
use std::fmt::Debug;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use agent_skills::host::Agent;
use agent_skills::host::agent::table::EventKind;
use agent_skills::protocol::Input;
use agent_skills::sys::Env;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host::{by_a_person, finish, write_at};

/// What one release of an agent sends.
pub struct Form {
    pub agent: Agent,
    /// The directory of its recorded payloads.
    pub release: &'static str,
    /// A recorded call of its shell, with the tool's name.
    pub shell: (&'static str, &'static str),
    /// Where its user's skills are.
    pub skills: &'static str,
    /// A recorded call of its tool for skills, if it has one.
    pub skill: &'static str,
    /// What it calls a tool that writes a file, and the key of the file.
    pub write: (&'static str, &'static str),
    /// The key of the session, of the user's prompt and of the directory.
    pub keys: [&'static str; 3],
}

/// A machine with an agent on it.
pub struct World {
    pub form: &'static Form,
    root: TempDir,
    pub session: String,
    pub prompt: String,
    pub mode: Option<&'static str>,
    variables: Vec<(&'static str, PathBuf)>,
}

/// An answer of the hook.
pub use crate::host::Ran as Answer;

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or(Value::Null)
    }

    /// The decision and its reason, whatever the agent's form; `allow` for silence.
    pub fn decision(&self) -> (String, String) {
        let answer = self.json();
        let of_tool = &answer["hookSpecificOutput"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let decision = text(&of_tool["permissionDecision"])
            .or_else(|| text(&answer["decision"]))
            .or_else(|| text(&answer["permission"]));
        let reason = text(&of_tool["permissionDecisionReason"])
            .or_else(|| text(&answer["reason"]))
            .or_else(|| text(&answer["agent_message"]));
        let silent = if self.status == 0 {
            "silence"
        } else {
            "failed"
        };
        let decision = decision.unwrap_or_else(|| silent.to_owned());
        (decision, reason.unwrap_or_default())
    }

    pub fn is_denied(&self) -> bool {
        let (decision, reason) = self.decision();
        assert!(self.status == 0 || self.stdout.is_empty(), "{self:?}");
        ["deny", "block"].contains(&decision.as_str()) && !reason.is_empty()
    }

    pub fn is_silent(&self) -> bool {
        self.decision().0 == "silence"
    }

    /// It must be silence; `about` is told where it is not.
    #[track_caller]
    pub fn passes(&self, about: impl Debug) {
        assert!(self.is_silent(), "{about:?}: {self:?}");
    }

    /// It must be a refusal.
    #[track_caller]
    pub fn stops(&self, about: impl Debug) {
        assert!(self.is_denied(), "{about:?}: {self:?}");
    }
}

impl World {
    pub fn of(form: &'static Form) -> Self {
        let root = tempfile::tempdir_in("/tmp").unwrap();
        let real = root.path().canonicalize().unwrap();
        let data = "home/.chibi/plugins/agent-skills/skills";
        for dir in [data, "project/.git", "project/sub", "policy"] {
            fs::create_dir_all(real.join(dir)).unwrap();
        }
        Self {
            form,
            root,
            session: "s1".to_owned(),
            prompt: "p1".to_owned(),
            mode: None,
            variables: Vec::new(),
        }
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    pub fn data(&self) -> PathBuf {
        self.home().join(".chibi/plugins/agent-skills")
    }

    /// Writes a file below the root, as `home/…` or `project/…`.
    pub fn file(&self, path: &str, text: &str) {
        write_at(self.root.path().join(path), text);
    }

    /// A skill in a directory below the root; `more` is further frontmatter, or empty.
    pub fn skill_in(&self, dir: &str, name: &str, more: &str) {
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n{more}\n---\n# Do\n");
        self.file(&format!("{dir}/SKILL.md"), &text);
    }

    /// A skill of the user's, where the agent looks for them.
    pub fn skill(self, name: &str, more: &str) -> Self {
        let dir = format!("home/{}/{name}", self.form.skills);
        self.skill_in(&dir, name, more);
        self
    }

    /// The same, which has become active.
    pub fn using(self, name: &str, more: &str) -> Self {
        let world = self.skill(name, more);
        world.activate(name).passes(name);
        world
    }

    pub fn config(self, text: &str) -> Self {
        self.file("home/.chibi/plugins/agent-skills/config.toml", text);
        self
    }

    /// With a variable that the agent has and its hooks inherit.
    pub fn with_variable(mut self, name: &'static str, path: PathBuf) -> Self {
        self.variables.push((name, path));
        self
    }

    pub fn in_mode(mut self, mode: &'static str) -> Self {
        self.mode = Some(mode);
        self
    }

    /// A recorded payload, in this world's directories, session and prompt.
    pub fn payload(&self, name: &str) -> Value {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/agents/payloads");
        let path = dir.join(self.form.release).join(format!("{name}.json"));
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let root = self.root.path().display().to_string();
        let text = text.replace("/work/project", &format!("{root}/project"));
        let text = text.replace("/home/u", &format!("{root}/home"));
        self.here(serde_json::from_str(&text).unwrap())
    }

    fn here(&self, mut payload: Value) -> Value {
        let [session, prompt, cwd] = self.form.keys;
        payload[session] = json!(self.session);
        if !prompt.is_empty() {
            payload[prompt] = json!(self.prompt);
        }
        payload[cwd] = json!(self.project());
        payload
    }

    pub fn hook(&self, payload: &Value) -> Answer {
        self.hook_with(payload.to_string().as_bytes(), &|_| {})
    }

    /// As [`World::hook`], by the entry in another agent's settings.
    pub fn hook_as(&self, agent: Agent, payload: &Value) -> Answer {
        self.answer(agent, payload.to_string().as_bytes(), &|_| {})
    }

    pub fn hook_with(&self, stdin: &[u8], change: &dyn Fn(&mut Command)) -> Answer {
        self.answer(self.form.agent, stdin, change)
    }

    fn answer(&self, agent: Agent, stdin: &[u8], change: &dyn Fn(&mut Command)) -> Answer {
        let mut command = self.command();
        command.args(["hook", agent.as_str()]);
        command.args(self.mode.iter().flat_map(|mode| ["--mode", mode]));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env(
            "AGENT_SKILLS_ENTERPRISE_DIR",
            self.root.path().join("policy"),
        );
        command.envs(self.variables.iter().map(|(name, path)| (name, path)));
        change(&mut command);
        finish(&mut command, stdin)
    }

    /// The program as it is called on this machine.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-skills"));
        command.env_clear().env("HOME", self.home());
        command.env("PATH", "/usr/bin:/bin");
        command.env("AGENT_SKILLS_HOME", self.data());
        command.current_dir(self.project());
        command
    }

    /// As [`World::hook`], in this process, for many calls.
    pub fn hook_here(&self, payload: &Value) -> Answer {
        let vars = [
            ("HOME", self.home()),
            ("AGENT_SKILLS_HOME", self.data()),
            ("PATH", "/usr/bin:/bin".into()),
        ];
        let words = ["hook", self.form.agent.as_str()];
        let answer = agent_skills::run(Input {
            args: words.map(OsString::from).to_vec(),
            env: Env::new(vars, &self.project()),
            stdin: Box::new(Cursor::new(payload.to_string())),
        });
        Answer {
            status: answer.status.into(),
            stdout: answer.stdout,
            stderr: String::new(),
        }
    }

    /// A call of the agent's tool with these arguments, in the form of its recorded shell call.
    pub fn calling(&self, tool: &str, arguments: Value) -> Value {
        let table = self.form.agent.table();
        let mut payload = self.payload(self.form.shell.0);
        payload[table.keys.tool] = json!(tool);
        payload[table.keys.arguments] = arguments;
        payload
    }

    pub fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.hook(&self.calling(tool, arguments))
    }

    pub fn run(&self, command: &str) -> Answer {
        self.call(self.form.shell.1, json!({ "command": command }))
    }

    pub fn write(&self, path: &Path) -> Answer {
        let (tool, key) = self.form.write;
        if key == "patch" {
            let file = format!("*** Add File: {}\n+x\n", path.display());
            let changes = format!("*** Begin Patch\n{file}*** End Patch");
            return self.call(tool, json!({ "command": changes }));
        }
        self.call(tool, json!({ key: path, "content": "x" }))
    }

    /// The event of a prompt with this text, in the identity that is this world's.
    pub fn prompted(&self, text: &str) -> Answer {
        let table = self.form.agent.table();
        let mut events = table.events.iter();
        let event = events.find(|(_, moment)| *moment == EventKind::Prompt);
        let mut payload = self.here(json!({ table.keys.event: event.unwrap().0 }));
        payload[table.keys.text] = json!(text);
        self.hook(&payload)
    }

    /// The agent's tool for skills is called, or, where there is none, the `SKILL.md` is read.
    pub fn activate(&self, name: &str) -> Answer {
        if self.form.skill.is_empty() {
            let dir = self.home().join(self.form.skills).join(name);
            return self.run(&format!("cat {}/SKILL.md", dir.display()));
        }
        let mut payload = self.payload(self.form.skill);
        let arguments = self.form.agent.table().keys.arguments;
        for key in ["skill", "name"] {
            if payload[arguments].get(key).is_some() {
                payload[arguments][key] = json!(name);
            }
        }
        self.hook(&payload)
    }

    /// What a command of a person prints.
    pub fn person(&self, words: &[&str]) -> String {
        let ran = by_a_person(self.command().args(words));
        assert_eq!(ran.status, 0, "{words:?}: {ran:?}");
        ran.stdout
    }

    pub fn audit(&self) -> String {
        fs::read_to_string(self.data().join("audit.jsonl")).unwrap_or_default()
    }
}
