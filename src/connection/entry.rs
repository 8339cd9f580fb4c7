//! One entry of ours: what an agent is to run, and recognising it again in an event's list of hooks,
//! whatever the file's format; and the script that opencode loads.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::error::{Error, Result, word};
use crate::host::agent::{Agent, HookMode};
use crate::sys::Env;

/// The name of our executable.
const NAME: &str = "agent-skills";

/// What an entry of ours runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The absolute path of our executable.
    pub program: String,
    /// The mode that the entry itself names; without one, the configuration decides.
    pub mode: Option<HookMode>,
}

impl Invocation {
    /// The program and its words.
    pub fn words(&self, agent: Agent) -> Vec<String> {
        let mode = self.mode.map(|mode| ["--mode", mode.as_str()]);
        let words = [&*self.program, "hook", agent.as_str()].into_iter();
        let words = words.chain(mode.into_iter().flatten());
        words.map(str::to_owned).collect()
    }

    /// The same as a shell reads it.
    pub fn shell(&self, agent: Agent) -> String {
        let words = self.words(agent);
        let words: Vec<String> = words.iter().map(|each| word(each)).collect();
        words.join(" ")
    }

    /// The entry in the form of the agent.
    pub fn entry(&self, agent: Agent) -> Map<String, Value> {
        let table = agent.table();
        let mut entry = Map::new();
        let mut put = |key: &str, value| entry.insert(key.to_owned(), value);
        if table.typed_entries {
            put("type", json!("command"));
        } else {
            put("failClosed", json!(true));
        }
        if table.named_entries {
            put("name", json!(NAME));
        }
        if let Some(key) = table.program_key {
            put(key, json!(self.program));
            put("args", json!(self.words(agent)[1..]));
        } else {
            put("command", json!(self.shell(agent)));
        }
        let (key, limit) = table.timeout;
        put(key, json!(limit));
        entry
    }

    /// What one event's list gets: the entry with its pattern, in a group where the agent wants one.
    pub fn item(&self, agent: Agent, matcher: Option<&str>) -> Value {
        let mut item = Map::new();
        if let Some(matcher) = matcher {
            item.insert("matcher".to_owned(), json!(matcher));
        }
        let entry = self.entry(agent);
        if agent.table().grouped {
            item.insert("hooks".to_owned(), json!([entry]));
        } else {
            item.extend(entry);
        }
        Value::Object(item)
    }

    /// What an entry runs, if it is one of ours for this agent: by its program and words, since an
    /// agent may refuse a mark of ours.
    pub fn of_entry(agent: Agent, entry: &Value) -> Option<Self> {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        let words = match entry.get("args").and_then(Value::as_array) {
            Some(args) => {
                let program = text("exec").or_else(|| text("command"))?;
                let args = args.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?;
                let words = std::iter::once(program).chain(args);
                words.map(str::to_owned).collect()
            }
            None => shlex::split(text("command").or_else(|| text("bash"))?)?,
        };
        Self::of_words(agent, &words)
    }

    /// The same of the words themselves.
    pub fn of_words(agent: Agent, words: &[String]) -> Option<Self> {
        let [program, hook, name, rest @ ..] = words else {
            return None;
        };
        let is_named = Path::new(program).file_name()? == NAME;
        if !is_named || hook != "hook" || name != agent.as_str() {
            return None;
        }
        let mode = match rest {
            [flag, mode, ..] if flag == "--mode" => Some(mode.as_str()),
            [joined, ..] => joined.strip_prefix("--mode="),
            [] => None,
        };
        Some(Self {
            program: program.clone(),
            mode: mode.and_then(|mode| mode.parse().ok()),
        })
    }
}

/// The path of this program that an agent is to run: the one on `PATH` if it leads here, since a link
/// that the user made outlives an update that puts the program elsewhere; else its own.
///
/// # Errors
/// When the path is not known, is not UTF-8, or does not end in our name, by which entries are found
/// again.
pub fn program(env: &Env) -> Result<String> {
    let own = env.exe.as_deref().and_then(|exe| exe.canonicalize().ok());
    let own = own.ok_or_else(|| {
        Error::new("where this program is installed is not known")
            .hint("run it from its place, as `/path/to/agent-skills hosts add …`")
    })?;
    let path = env.os("PATH").unwrap_or_default();
    let dirs = std::env::split_paths(path).filter(|dir| dir.is_absolute());
    let mut named = dirs.map(|dir| dir.join(NAME));
    let leads_here = |file: &PathBuf| file.canonicalize().is_ok_and(|real| real == own);
    let chosen = named.find(leads_here).unwrap_or(own);
    if chosen.file_name().is_none_or(|name| name != NAME) {
        let text = format!("this program is called `{}`", chosen.display());
        let next = "entries of it are found again by its name: call it `agent-skills`";
        return Err(Error::new(text).hint(next));
    }
    chosen.into_os_string().into_string().map_err(|path| {
        let shown = path.display();
        Error::new(format!("the path of this program, `{shown}`, is not UTF-8"))
            .hint("install it elsewhere")
    })
}

/// The script, with an empty command.
const SCRIPT: &str = include_str!("opencode.js");
/// The beginning of its line that names the command.
const COMMAND: &str = "const COMMAND = ";

/// The script that runs this.
pub fn script(wanted: &Invocation) -> String {
    let words = json!(wanted.words(Agent::OpenCode));
    SCRIPT.replacen(&format!("{COMMAND}[]"), &format!("{COMMAND}{words}"), 1)
}

/// What a script of ours runs; `None` for anybody else's.
pub fn invocation(script: &str) -> Option<Invocation> {
    let mut lines = script.lines();
    let line = lines.find_map(|line| line.strip_prefix(COMMAND)?.strip_suffix(';'))?;
    let words: Vec<String> = serde_json::from_str(line).ok()?;
    Invocation::of_words(Agent::OpenCode, &words)
}

/// A file with lists of hooks by event, in one format or another.
pub trait HookFile {
    /// The events that have a list.
    fn events(&self) -> Vec<String>;
    /// The items of an event's list.
    fn items(&self, event: &str) -> Vec<Value>;
    /// Puts an item in place of the one at a position of an event's list, or at its end.
    fn put(&mut self, event: &str, at: Option<usize>, item: &Value);
    /// Takes away the item at a position, or the entry at the second one in the group there, and what
    /// that leaves empty.
    fn remove(&mut self, event: &str, at: usize, inner: Option<usize>);
    /// Adds what the file needs besides entries that run `program`: its version where the agent wants
    /// one, or the directory of programs.
    fn complete(&mut self, is_versioned: bool, program: &Path);
    /// Whether nothing is left that anybody would miss.
    fn is_empty(&self) -> bool;
    /// The file's text.
    fn text(&self) -> String;
}

/// The entries of an item: those of a group, or itself.
fn entries(item: &Value) -> &[Value] {
    let group = item.get("hooks").and_then(Value::as_array);
    group.map_or(std::slice::from_ref(item), Vec::as_slice)
}

/// Our entries of an item, by their positions in it, with what each runs.
fn ours(agent: Agent, item: &Value) -> Vec<(usize, Invocation)> {
    let entries = entries(item).iter().enumerate();
    let found = entries.filter_map(|(at, entry)| Some((at, Invocation::of_entry(agent, entry)?)));
    found.collect()
}

/// Makes `wanted` the only item of ours in an event's list, or leaves none of ours if nothing is wanted;
/// whether that changed anything.
pub fn set_entry(
    file: &mut dyn HookFile,
    agent: Agent,
    event: &str,
    wanted: Option<&Value>,
) -> bool {
    let items = file.items(event);
    let all: Vec<_> = items.iter().map(|item| ours(agent, item)).collect();
    let is_whole = |at: usize| !all[at].is_empty() && all[at].len() == entries(&items[at]).len();
    let kept = (0..items.len()).find(|at| wanted.is_some() && is_whole(*at));
    let mut is_changed = false;
    // From the end, so that positions stay what they were.
    for (at, ours) in all.iter().enumerate().rev() {
        match wanted {
            _ if ours.is_empty() => continue,
            Some(wanted) if kept == Some(at) => {
                if items[at] == *wanted {
                    continue;
                }
                file.put(event, kept, wanted);
            }
            _ if is_whole(at) => file.remove(event, at, None),
            // Others in the group are somebody else's.
            _ => {
                let last_first = ours.iter().rev();
                last_first.for_each(|(inner, _)| file.remove(event, at, Some(*inner)));
            }
        }
        is_changed = true;
    }
    if let Some(wanted) = wanted.filter(|_| kept.is_none()) {
        file.put(event, None, wanted);
        is_changed = true;
    }
    is_changed
}

/// Our entries among these items, with what each runs.
pub fn ours_of(agent: Agent, items: &[Value]) -> Vec<(Value, Invocation)> {
    let each = items.iter().flat_map(|item| {
        let found = ours(agent, item).into_iter();
        found.map(|(at, ours)| (entries(item)[at].clone(), ours))
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_entry_is_recognised_and_only_as_its_agents() {
        for program in ["/a/agent-skills", "/with space/it's/agent-skills"] {
            for mode in [None, Some(HookMode::Both)] {
                let program = program.to_owned();
                let wanted = Invocation { program, mode };
                for agent in Agent::ALL {
                    if agent.table().is_plugin {
                        continue;
                    }
                    let entry = Value::Object(wanted.entry(agent));
                    for other in Agent::ALL {
                        let read = Invocation::of_entry(other, &entry);
                        let expected = (other == agent).then(|| wanted.clone());
                        assert_eq!(read, expected, "{entry}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_others_wrote_is_not_ours() {
        for entry in [
            json!({"command": "agent-skills"}),
            json!({"command": "/a/agent-skills-of-mine hook codex"}),
            json!({"command": "echo agent-skills hook codex"}),
            json!({"command": "/a/agent-skills check codex"}),
            json!({"command": "unclosed 'quote"}),
            json!({"command": "/a/agent-skills", "args": ["hook", 1]}),
            json!({"url": "http://localhost"}),
            json!("text"),
        ] {
            assert_eq!(Invocation::of_entry(Agent::Codex, &entry), None, "{entry}");
        }
    }

    #[test]
    fn entries_have_the_form_of_their_agent() {
        let ours = Invocation {
            program: "/a b/agent-skills".to_owned(),
            mode: Some(HookMode::Grant),
        };
        for (agent, expected) in [
            (
                Agent::ClaudeCode,
                json!({"matcher": "*", "hooks": [{"type": "command", "command": "/a b/agent-skills",
                    "args": ["hook", "claude-code", "--mode", "grant"], "timeout": 10}]}),
            ),
            (
                Agent::Copilot,
                json!({"matcher": "*", "type": "command", "exec": "/a b/agent-skills",
                    "args": ["hook", "copilot", "--mode", "grant"], "timeoutSec": 10}),
            ),
            (
                Agent::Gemini,
                json!({"matcher": "*", "hooks": [{"type": "command", "name": "agent-skills",
                    "command": "'/a b/agent-skills' hook gemini --mode grant", "timeout": 10000}]}),
            ),
            (
                Agent::Cursor,
                json!({"matcher": "*", "failClosed": true,
                    "command": "'/a b/agent-skills' hook cursor --mode grant", "timeout": 10}),
            ),
        ] {
            assert_eq!(ours.item(agent, Some("*")), expected, "{agent}");
        }
    }

    #[test]
    fn a_script_names_its_command_and_is_recognised_by_it() {
        let program = "/it's \"here\"/agent-skills".to_owned();
        let mode = Some(HookMode::Restrict);
        let wanted = Invocation { program, mode };
        assert_eq!(invocation(&script(&wanted)), Some(wanted));
        assert_eq!(invocation(SCRIPT), None);
        assert_eq!(invocation("export const Mine = async () => ({});\n"), None);
    }

    fn entry(program: &str) -> Value {
        json!({"type": "command", "command": format!("{program}/agent-skills hook codex")})
    }

    fn group(entries: &[&Value]) -> Value {
        json!({"matcher": "*", "hooks": entries})
    }

    /// A list of hooks, without a format.
    struct List(Vec<Value>);

    impl HookFile for List {
        fn events(&self) -> Vec<String> {
            vec!["Stop".to_owned()]
        }

        fn items(&self, _: &str) -> Vec<Value> {
            self.0.clone()
        }

        fn put(&mut self, _: &str, at: Option<usize>, item: &Value) {
            match at {
                Some(at) => self.0[at] = item.clone(),
                None => self.0.push(item.clone()),
            }
        }

        fn remove(&mut self, _: &str, at: usize, inner: Option<usize>) {
            match inner {
                Some(inner) => drop(self.0[at]["hooks"].as_array_mut().unwrap().remove(inner)),
                None => drop(self.0.remove(at)),
            }
        }

        fn complete(&mut self, _: bool, _: &Path) {}

        fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        fn text(&self) -> String {
            String::new()
        }
    }

    fn with(items: &[Value], wanted: Option<&Value>) -> (Vec<Value>, bool) {
        let mut list = List(items.to_vec());
        let is_changed = set_entry(&mut list, Agent::Codex, "Stop", wanted);
        (list.0, is_changed)
    }

    #[test]
    fn one_entry_of_ours_remains_and_others_stay() {
        let (old, new, other) = (entry("/old"), entry("/new"), json!({"command": "other"}));
        let (wanted, others) = (group(&[&new]), group(&[&other]));
        for (items, expected) in [
            (vec![], vec![&wanted]),
            (vec![wanted.clone()], vec![&wanted]),
            (vec![others.clone()], vec![&others, &wanted]),
            (vec![others.clone(), group(&[&old])], vec![&others, &wanted]),
            (vec![group(&[&old, &other, &new])], vec![&others, &wanted]),
            (vec![wanted.clone(), group(&[&old, &old])], vec![&wanted]),
            (
                vec![json!("text"), json!({"hooks": 1})],
                vec![&json!("text"), &json!({"hooks": 1}), &wanted],
            ),
        ] {
            let (after, is_changed) = with(&items, Some(&wanted));
            assert_eq!(after.iter().collect::<Vec<_>>(), expected);
            assert_eq!(is_changed, after != items);
        }
        let items = [group(&[&old]), group(&[&other, &old])];
        assert_eq!(with(&items, None), (vec![others], true));
        assert_eq!(ours_of(Agent::Codex, &items).len(), 2);
    }
}
