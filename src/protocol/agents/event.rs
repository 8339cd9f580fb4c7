//! One call of an agent's hook, typed by the agent's table: what it tells, and where it comes from.

use crate::host::agent::table::{AgentProfile, EventKind};
use crate::protocol::prelude::*;
use crate::session::SessionKey;
use crate::sys::Dir;

/// The facts of a call of an agent, and what that agent is like.
#[derive(Debug, Clone, Copy)]
pub struct AgentContext<'a> {
    /// The facts.
    pub facts: &'a Facts,
    /// The agent's table.
    pub table: &'static AgentProfile,
}

impl AgentContext<'_> {
    /// The same call with more directories of skills, for as long as this process runs.
    pub fn with_skills_in(self, plugins: Vec<PathBuf>) -> &'static Facts {
        let mut run = self.facts.run.clone();
        let (cwd, project) = (run.env.cwd.clone(), run.project_dir());
        run.env = run.env.in_directory(cwd, Some(project));
        if let Some(calling) = &mut run.agent {
            calling.plugins = plugins;
        }
        Box::leak(Box::new(self.facts.within(run)))
    }

    /// These directories below the agent's home.
    pub fn in_home(self, dirs: Words) -> impl Iterator<Item = PathBuf> {
        let env = &self.facts.run.env;
        dirs.iter()
            .filter_map(move |dir| self.table.home.place(env, dir))
    }

    /// These directories of the project and of those between it and the working directory.
    pub fn in_project(self, dirs: Words) -> impl Iterator<Item = PathBuf> {
        let holders = self.facts.run.holders().into_iter();
        holders.flat_map(move |holder| dirs.iter().map(move |dir| holder.join(dir)))
    }
}

/// One call of an agent's hook.
#[derive(Debug)]
pub struct AgentEvent {
    /// What it is to us.
    pub kind: EventKind,
    /// The agent's name for the event.
    pub name: String,
    /// The session; of a subagent with one of its own, the session that started it.
    pub session: String,
    /// The subagent's own session, if it has one.
    pub own_session: Option<String>,
    /// Whether a subagent calls.
    pub is_subagents: bool,
    /// The identity of the user's prompt.
    pub prompt: Option<String>,
    /// The working directory, if it says one.
    pub cwd: Option<PathBuf>,
    /// The call of a tool.
    pub used: Option<ToolUse>,
    /// The agent's record of the session, and the identity of the call in it.
    pub record: Option<(PathBuf, String)>,
    /// The text of a prompt.
    pub text: Option<String>,
    /// A typed command's name and arguments.
    pub typed: Option<(String, String)>,
    /// The model, if the agent tells which.
    pub model: Option<String>,
    /// The agent's version, if it tells that.
    pub version: Option<String>,
    /// Whether it tells the result of a call, and that is no failure.
    pub has_succeeded: bool,
}

impl AgentEvent {
    /// The event in an agent's data; `None` if it does not matter here.
    ///
    /// # Errors
    /// If the data cannot be what the agent sends.
    pub fn read(
        table: &AgentProfile,
        data: Map<String, Value>,
    ) -> Result<Option<Self>, &'static str> {
        let keys = &table.keys;
        let mut data = EventData(data);
        let name = data.text(keys.event).ok_or("it names no event")?;
        let Some(kind) = table.event_kind(&name) else {
            // The event of another agent, before a tool: this one's table does not fit.
            let begins = ["Pre", "pre", "Before", "before"];
            if begins.iter().any(|begin| name.starts_with(begin)) && name.contains("Tool") {
                return Err("its event is not one of this agent's");
            }
            return Ok(None);
        };
        // Read before `session`, which becomes the parent's for a subagent.
        let is_subagents = data.has(keys.subagent) || data.has(keys.parent);
        let own = data.text(keys.session);
        let parent = data.text(keys.parent);
        let (session, own_session) = match parent {
            Some(parent) => (Some(parent), own),
            None => (own, None),
        };
        let used = match kind {
            EventKind::BeforeTool | EventKind::Asking | EventKind::AfterTool => Some(ToolUse {
                tool: data.text(keys.tool).ok_or("it names no tool")?,
                arguments: data.take(keys.arguments).map_or(Value::Null, parsed),
            }),
            _ => None,
        };
        let typed = data.text(keys.command).filter(|_| kind == EventKind::Typed);
        Ok(Some(Self {
            kind,
            name,
            session: session.ok_or("it names no session")?,
            own_session,
            is_subagents,
            prompt: data.text(keys.prompt),
            cwd: data.text(keys.cwd).map(PathBuf::from),
            used,
            record: (data.text("transcript_path").map(PathBuf::from)).zip(data.text("tool_use_id")),
            typed: typed.map(|name| (name, data.text(keys.command_arguments).unwrap_or_default())),
            // A prompt of images alone has an empty one.
            text: data
                .take(keys.text)
                .and_then(|text| Some(text.as_str()?.to_owned())),
            model: data.text("model"),
            version: data.text("cursor_version"),
            has_succeeded: data.has_succeeded(),
        }))
    }
}

/// The agent that really calls. Some run the hooks in Claude Code's settings as well, with data of
/// their own (docs/hosts.md#who-calls).
pub fn caller(agent: Agent, data: &Map<String, Value>) -> Agent {
    let has = |key: &str| data.contains_key(key);
    match agent {
        Agent::ClaudeCode if has("cursor_version") => Agent::Cursor,
        // Claude Code has no timestamp; it and Qwen Code name their transcript in each call, Copilot in
        // none. Should Claude Code get one, its prompts are still not numbered as Qwen Code's are.
        Agent::ClaudeCode if has("tool_call_id") || has("submitted_prompt") => Agent::QwenCode,
        Agent::ClaudeCode if has("timestamp") && has("transcript_path") => {
            let prompt = data.get("prompt_id").and_then(Value::as_str);
            let is_numbered = prompt.is_none_or(|prompt| prompt.contains("########"));
            if is_numbered { Agent::QwenCode } else { agent }
        }
        Agent::ClaudeCode if has("timestamp") => Agent::Copilot,
        other => other,
    }
}

/// Without blanks as JavaScript, in which agents are written, trims them: U+FEFF is one.
pub fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// A skill's name without blanks and without the sign of a command.
pub fn plain_name(written: &str) -> &str {
    trimmed(trimmed(written).trim_start_matches('/'))
}

/// Some releases send arguments as the text that the model wrote.
fn parsed(arguments: Value) -> Value {
    match &arguments {
        Value::String(text) => serde_json::from_str(text).unwrap_or(arguments),
        _ => arguments,
    }
}

struct EventData(Map<String, Value>);

impl EventData {
    /// Whether the result of a call is there, and neither it nor the event speaks of a failure, in
    /// whichever agent's words.
    fn has_succeeded(&self) -> bool {
        let mut results = ["tool_response", "tool_result", "output"].iter();
        let Some(result) = results.find_map(|key| self.0.get(*key)) else {
            return false;
        };
        let fails = |told: &Map<String, Value>| {
            told.iter().any(|(key, value)| match key.as_str() {
                "success" => *value != Value::Bool(true),
                "result_type" | "resultType" => *value != "success",
                "is_error" | "isError" | "is_interrupt" => *value != Value::Bool(false),
                "error" => !value.is_null(),
                _ => false,
            })
        };
        !result.is_null() && !fails(&self.0) && !result.as_object().is_some_and(fails)
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key).filter(|value| !value.is_null())
    }

    fn has(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|value| !value.is_null())
    }

    /// A text that is not empty.
    fn text(&mut self, key: &str) -> Option<String> {
        match self.take(key)? {
            Value::String(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }
}

/// How exactly it is recorded when an agent last called.
const MINUTE: Duration = Duration::from_mins(1);

/// The context of the call, for as long as this process runs: where it begins, and in which session.
pub fn context(
    env: Env,
    agent: Agent,
    mode: Option<HookMode>,
    event: &AgentEvent,
) -> &'static Facts {
    let table = agent.table();
    // A directory that a command changed to must not decide which project this is.
    let set = table
        .start_variables
        .iter()
        .filter_map(|name| env.path(name));
    let told = event.cwd.clone().filter(|_| table.call_directory_first);
    let mut known = set.chain(told).filter(|path| path.is_absolute());
    let begin = known.next().unwrap_or_else(|| env.cwd.clone());
    let calling = CallingAgent {
        session: event.session.clone(),
        mode,
        model: event.model.clone(),
        version: event.version.clone(),
        ..CallingAgent::of(agent)
    };
    let mut facts = Facts::of_agent(env.in_directory(begin, None), calling.clone());
    // The session that started this subagent may be a subagent's as well.
    if let Some(session) = main_session(&facts, agent, event) {
        facts = Facts::of_agent(facts.run.env, CallingAgent { session, ..calling });
    }
    Box::leak(Box::new(facts))
}

/// The main agent's session, if the one that started this subagent is another's. Records to which the
/// subagent's own belongs. An unreadable record refuses the call later.
fn main_session(facts: &Facts, agent: Agent, event: &AgentEvent) -> Option<String> {
    let own = event.own_session.as_deref()?;
    let store = facts.store();
    let above = store.session(facts.key()).ok()?.main;
    let main = above.as_deref().unwrap_or(&event.session);
    let key = SessionKey::of_agent(agent, own);
    let is_known = |session: Session| session.main.as_deref() == Some(main);
    if !store.session(&key).is_ok_and(is_known)
        && let Err(error) = store.belongs_to(&key, main)
    {
        warn(format_args!("{error}"));
    }
    above
}

/// Records when this agent last called, to the minute: by the time of a file, which `hosts` and
/// `doctor` show.
pub fn note_seen(facts: &Facts, agent: Agent) {
    const HOSTS: EntryName = EntryName::from_static("hosts");
    let name = format!("{agent}.seen");
    let noted = facts.state().join("hosts").join(&name).metadata();
    let noted = noted.and_then(|noted| noted.modified());
    if noted.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < MINUTE)) {
        return;
    }
    let Some(name) = EntryName::parse(std::ffi::OsStr::new(&name)) else {
        return;
    };
    // If this fails, it is only not known.
    let dir = Dir::make_anchor(facts.state()).and_then(|dir| dir.make_dir(&HOSTS));
    if let Ok((file, _)) = dir.and_then(|dir| dir.append(&name, 0o600)) {
        let _ = file.set_modified(std::time::SystemTime::now());
    }
}
