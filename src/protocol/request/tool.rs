//! Tool calls and their arguments, typed.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use regex_lite::Regex;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Map;

use crate::protocol::prelude::*;
use crate::protocol::{Payload, schema};
use crate::sys::text::distinct;

/// A call of one of our tools.
#[derive(Debug, PartialEq)]
pub enum OwnToolCall {
    /// `agent-skills`, `skill_marketplace`: a command line.
    Command(Vec<String>),
    /// `read_skill_file`.
    ReadSkillFile(ReadSkillFile),
    /// `run_skill_script`.
    RunSkillScript(RunSkillScript),
    /// `skill`, `skill_marketplace` with the action `use`, and any other name: a skill's tool, if
    /// the catalog knows it.
    Activate(Activate),
    /// `skill_session`.
    SkillSession(SkillSession),
    /// `propose_skill_update`.
    ProposeSkillUpdate(ProposeSkillUpdate),
    /// `create_skill`.
    CreateSkill(CreateSkill),
}

/// Arguments of `read_skill_file`.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
pub struct ReadSkillFile {
    /// The skill's name; if absent, the most recently loaded skill.
    #[serde(default, deserialize_with = "name")]
    pub skill: Option<String>,
    /// The file, relative to the skill's directory.
    pub path: String,
    /// The first line to return, counted from 1.
    #[serde(default, deserialize_with = "count")]
    pub offset: Option<u64>,
    /// How many lines to return.
    #[serde(default, deserialize_with = "count")]
    pub limit: Option<u64>,
    /// A pattern: only lines that it matches are returned.
    #[serde(default, deserialize_with = "name")]
    pub pattern: Option<String>,
}

/// Arguments of `propose_skill_update`.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
pub struct ProposeSkillUpdate {
    /// The skill's name.
    pub skill: String,
    /// A unified diff against its files.
    pub diff: String,
    /// The reason for the change.
    pub justification: String,
    /// Evidence for the reason.
    #[serde(default, deserialize_with = "text")]
    pub evidence: Option<String>,
}

/// Arguments of `create_skill`.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
pub struct CreateSkill {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// Its instructions.
    pub body: String,
    /// The entries of `allowed-tools`; `None` restricts nothing.
    #[serde(default, deserialize_with = "list_or_text")]
    pub allowed_tools: Option<Vec<String>>,
}

/// The arguments of `skill_marketplace`.
#[derive(Deserialize)]
struct Marketplace {
    action: String,
    skill_ref: Option<String>,
    #[serde(alias = "arguments")]
    query: Option<String>,
}

impl OwnToolCall {
    /// Parses a call of the tool `name`.
    ///
    /// # Errors
    /// When the arguments are not what the tool takes; the hint shows a valid call.
    pub fn parse(name: &str, arguments: Payload) -> Result<Self> {
        let arguments = arguments.map_err(|reason| {
            let text = format!("the arguments of `{name}` could not be read: {reason}");
            Error::new(text).hint("pass one JSON object")
        })?;
        Ok(match name {
            ours::DIRECT => Self::Command(words(arguments.get("args"))?.unwrap_or_default()),
            ours::MARKETPLACE => match (words(arguments.get("args")), arguments.get("action")) {
                (Ok(None), _) => typed::<Marketplace>(name, arguments)?.call()?,
                (words, None) => {
                    let mut words = words?.unwrap_or_default();
                    // In this tool it lists what can be installed.
                    if let Some(verb) = words.first_mut().filter(|verb| *verb == "list") {
                        "search".clone_into(verb);
                    }
                    Self::Command(words)
                }
                (_, Some(_)) => return Err(wrong(name, "`action` and `args` both say what to do")),
            },
            ours::READ_FILE => Self::ReadSkillFile(typed(name, arguments)?),
            ours::RUN_SCRIPT => Self::RunSkillScript(RunSkillScript::parse(arguments)?),
            ours::PROPOSE => Self::ProposeSkillUpdate(typed(name, arguments)?),
            ours::CREATE => Self::CreateSkill(typed(name, arguments)?),
            ours::SESSION => Self::SkillSession(SkillSession::parse(arguments)?),
            _ => Self::Activate(Activate::parse(name, arguments)?),
        })
    }
}

impl Marketplace {
    /// The activation, or the equivalent command line: a call means the same for the model and for
    /// a person.
    fn call(self) -> Result<OwnToolCall> {
        let action = self.action.to_ascii_lowercase().replace('-', "_");
        let reference = self.skill_ref.as_deref().and_then(given);
        let query = self.query.as_deref().and_then(given);
        let needs = |what: &str, example: &str| {
            Error::new(format!("`{action}` needs {what}")).hint(format!(
                r#"for example {{"action": "{action}", "skill_ref": "{example}"}}"#
            ))
        };
        let words: Vec<&str> = match (action.as_str(), reference.or(query)) {
            ("use", _) => {
                let skill = reference.ok_or_else(|| needs("a skill's name", "pdf"))?;
                return Ok(OwnToolCall::Activate(Activate {
                    tool: ours::MARKETPLACE.to_owned(),
                    skill: Some(skill.trim().to_owned()),
                    arguments: self.query,
                }));
            }
            ("list", _) | ("search", None) => vec!["search"],
            ("list_installed", _) | ("search_installed", None) => vec!["list_installed"],
            ("update", None) => vec!["update"],
            ("install", None) => return Err(needs("the skill's reference", "owner/skill")),
            ("remove" | "info", None) => return Err(needs("a skill's name", "pdf")),
            // After `--`, nothing the model wrote can be an option.
            ("search" | "search_installed", Some(other)) => {
                let words = query.unwrap_or(other).split_whitespace();
                [&action, "--"].into_iter().chain(words).collect()
            }
            ("install" | "remove" | "update" | "info", Some(operand)) => {
                vec![&action, "--", operand]
            }
            _ => {
                let action = self.action.escape_debug();
                let text = format!("`{action}` is not an action of skill_marketplace");
                return Err(wrong(ours::MARKETPLACE, text));
            }
        };
        let words = words.into_iter().map(str::to_owned);
        Ok(OwnToolCall::Command(words.collect()))
    }
}

/// The words of a direct call. A text, or a lone word, is a whole command: hosts that do not split
/// the argument of `-p "install owner/skill"` hand it over so (docs/hosts.md#tool-calls).
///
/// It is split here and nowhere later, so that `pre_tool` decides on the words that are run.
fn words(args: Option<&Value>) -> Result<Option<Vec<String>>> {
    let words = match args {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(words)) => {
            let word = |word: &Value| word.as_str().map(str::to_owned);
            words.iter().map(word).collect()
        }
        Some(Value::String(line)) => Some(vec![line.clone()]),
        Some(_) => None,
    };
    let words: Vec<String> =
        words.ok_or_else(|| wrong(ours::DIRECT, "`args` is a list of words, each a string"))?;
    let [line] = &*words else {
        return Ok(Some(words));
    };
    let split = shlex::split(line).ok_or_else(|| {
        let text = format!("a quote in `{}` is not closed", quoted(line));
        Error::new(text).hint("close it, or write a backslash before it")
    });
    split.map(Some)
}

/// A call that activates a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activate {
    /// The tool that is called.
    pub tool: String,
    /// The skill as the caller wrote it; `None` when the tool is the skill's own.
    pub skill: Option<String>,
    /// The input for the skill, as text.
    pub arguments: Option<String>,
}

/// Keys under which callers give the skill's name; similar tools of other clients use different
/// ones.
pub const NAME: [&str; 5] = ["skill_name", "skill", "name", "skill_ref", "command"];
/// Keys under which callers give the arguments.
const ARGUMENTS: [&str; 2] = ["arguments", "args"];
/// Values of `action` that mean this call.
const ACTIONS: [&str; 4] = ["use", "activate", "load", "run"];

impl Activate {
    /// Parses a call of a skill's own tool, or of the common tool for all skills.
    ///
    /// # Errors
    /// When its arguments are not an object, contradict each other, or ask for something else, and
    /// when the common tool's name no skill or more than one.
    pub fn parse(tool: &str, arguments: Value) -> Result<Self> {
        let map = object(tool, arguments)?;
        // Another action, such as `unload`, means the opposite.
        let is_meant = |action: &Value| action.as_str().is_some_and(|it| ACTIONS.contains(&it));
        if let Some(other) = map.get("action").filter(|action| !is_meant(action)) {
            let text = format!("`{tool}` activates a skill, and has no action {other}");
            let end = r#"skill_session {"action": "unload", "names": ["pdf"]} ends one"#;
            return Err(Error::new(text).hint(end));
        }
        let mut skill = None;
        if tool == ours::SKILL {
            let named = one_of(&map, &NAME)?.and_then(Value::as_str).and_then(given);
            let named = named.ok_or_else(|| wrong(tool, "`skill` needs a skill's name"))?;
            skill = Some(named.trim().to_owned());
        }
        Ok(Self {
            tool: tool.to_owned(),
            skill,
            arguments: one_of(&map, &ARGUMENTS)?.map(as_text),
        })
    }
}

/// A model may send any JSON as arguments, and a direct call sends words.
fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(words) if words.iter().all(Value::is_string) => {
            let words = words.iter().filter_map(Value::as_str).map(as_word);
            words.collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

/// Quotes a word so that splitting the text again keeps it whole.
fn as_word(word: &str) -> String {
    match word {
        plain if !plain.is_empty() && !plain.contains(char::is_whitespace) => plain.to_owned(),
        quoted if quoted.contains('"') => format!("'{quoted}'"),
        spaced => format!("\"{spaced}\""),
    }
}

/// The value under any of these keys; several may be given if they are equal.
fn one_of<'a>(map: &'a Map<String, Value>, keys: &[&str]) -> Result<Option<&'a Value>> {
    let mut said = keys.iter().filter_map(|key| Some((*key, map.get(*key)?)));
    let Some((first, value)) = said.next() else {
        return Ok(None);
    };
    if let Some((other, _)) = said.find(|(_, other)| *other != value) {
        let text = format!("`{first}` and `{other}` contradict each other");
        return Err(Error::new(text).hint(format!("give `{}` only", keys[0])));
    }
    Ok(Some(value))
}

/// A call of `skill_session`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillSession {
    /// Make skills active, all or none.
    Load {
        /// Their names as the caller wrote them, at least one, in order.
        names: Vec<String>,
        /// Whether they are added to what is active already, or replace it.
        adds: bool,
    },
    /// Make these skills inactive; `None` means all.
    Unload(Option<Vec<String>>),
    /// Report what is active.
    Status,
}

impl SkillSession {
    /// Parses the arguments. Nulls, empty strings and empty lists count as absent.
    ///
    /// # Errors
    /// When one has the wrong type, or together they do not say what to do.
    pub fn parse(arguments: Value) -> Result<Self> {
        let arguments = object(ours::SESSION, arguments)?;
        let word = |key: &str| match arguments.get(key) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.trim().to_ascii_lowercase()),
            Some(_) => Err(invalid(format!("`{key}` is not a string"))),
        };
        let names = list_of_names(arguments.get("names"))?;
        let all = arguments.get("all").map(as_text);
        let all = all.is_some_and(|all| all.trim().eq_ignore_ascii_case("true"));
        let unknown = |said: &str, what: &str| {
            let said = said.escape_debug();
            invalid(format!("`{said}` is not {what} of `skill_session`"))
        };
        let adds = match word("mode")?.as_str() {
            "" | "replace" => false,
            "add" => true,
            other => return Err(unknown(other, "a mode")),
        };
        match (word("action")?.as_str(), names.is_empty(), all) {
            ("status", ..) => Ok(Self::Status),
            ("load", false, false) => Ok(Self::Load { names, adds }),
            ("load", true, false) => Err(invalid("`load` needs `names`: which skills")),
            ("load", _, true) => Err(invalid("`all` belongs to `unload`")),
            ("unload", false, false) => Ok(Self::Unload(Some(names))),
            ("unload", true, true) => Ok(Self::Unload(None)),
            ("unload", true, false) => Err(invalid("`unload` needs `names`, or `all`: true")),
            ("unload", false, true) => Err(invalid("`names` and `all` both say what to unload")),
            ("", ..) => Err(invalid("missing field `action`")),
            (other, ..) => Err(unknown(other, "an action")),
        }
    }
}

fn invalid(text: impl Into<String>) -> Error {
    wrong(ours::SESSION, text)
}

/// A list, a list encoded as JSON in a string, or a string of names separated by commas or spaces.
fn list_of_names(written: Option<&Value>) -> Result<Vec<String>> {
    let written: Option<Vec<String>> = match written {
        None => Some(Vec::new()),
        Some(Value::String(text)) if text.trim_start().starts_with('[') => {
            serde_json::from_str(text).ok()
        }
        Some(Value::String(text)) => {
            let has_commas = text.contains([',', '\n']);
            let ends = |c: char| matches!(c, ',' | '\n') || !has_commas && c.is_whitespace();
            let own = |part: &str| part.trim().trim_matches(['"', '\'']).to_owned();
            Some(text.split(ends).map(own).collect())
        }
        Some(other) => Vec::deserialize(other).ok(),
    };
    let written = written.ok_or_else(|| invalid("`names` is not a list of names"))?;
    let names = written.iter().map(|name| name.trim().to_owned());
    Ok(distinct(names.filter(|name| !name.is_empty())))
}

/// A call of `run_skill_script`.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RunSkillScript {
    /// Start a script.
    Start(StartScript),
    /// Wait for a job, or stop it.
    Job {
        /// Its id, as the caller wrote it.
        job: String,
        /// Whether to stop it.
        stop: bool,
    },
}

/// Which script, and how.
#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct StartScript {
    /// The skill's name; if absent, the most recently loaded skill.
    #[serde(deserialize_with = "name")]
    pub skill: Option<String>,
    /// The script, relative to the skill's directory.
    #[serde(skip)]
    pub script: String,
    /// Its arguments.
    #[serde(deserialize_with = "args")]
    pub args: Vec<String>,
    /// Its standard input.
    pub stdin: String,
    /// The file of the project that is its standard input instead.
    #[serde(deserialize_with = "name")]
    pub stdin_file: Option<String>,
    /// Where it runs: `skill`, `project`, `temp` (an empty directory of its own, removed after the
    /// run), or a directory of the skill.
    #[serde(deserialize_with = "workdir")]
    pub workdir: String,
    /// Further environment variables.
    pub env: BTreeMap<String, String>,
    /// Seconds after which it is stopped.
    pub timeout_secs: Option<f64>,
    /// Whether it becomes a job at once.
    pub background: bool,
}

/// The arguments as written.
#[derive(Deserialize)]
struct ScriptArguments {
    #[serde(default, deserialize_with = "name")]
    script: Option<String>,
    /// The name that `read_skill_file` uses.
    #[serde(default, deserialize_with = "name")]
    path: Option<String>,
    #[serde(default, deserialize_with = "name")]
    job: Option<String>,
    #[serde(default)]
    stop: bool,
    #[serde(flatten)]
    start: StartScript,
}

impl RunSkillScript {
    /// Parses the arguments.
    ///
    /// # Errors
    /// When one has the wrong type, or together they do not say what to do.
    pub fn parse(arguments: Value) -> Result<Self> {
        let wrong = |text| wrong(ours::RUN_SCRIPT, text);
        let written: ScriptArguments = typed(ours::RUN_SCRIPT, arguments)?;
        let script = match (written.script, written.path) {
            (Some(script), Some(path)) if script != path => {
                return Err(wrong("`script` and `path` name two different scripts"));
            }
            (script, path) => script.or(path),
        };
        let mut start = written.start;
        if start.workdir.is_empty() {
            "skill".clone_into(&mut start.workdir);
        }
        match (written.job, script) {
            (Some(job), script) if script.is_some() || start.background => {
                let text = "`job` names a running script, so it cannot be combined with `script` or `background`";
                let job = job.escape_debug();
                let alone =
                    format!(r#"to go on with the job, call it with {{"job": "{job}"}} alone"#);
                Err(Error::new(text).hint(alone))
            }
            (Some(job), _) => {
                let stop = written.stop;
                Ok(Self::Job { job, stop })
            }
            (None, _) if written.stop => {
                Err(wrong("`stop` needs `job`: which one is to be stopped"))
            }
            (None, None) => Err(wrong("missing field `script`")),
            (None, Some(_)) if start.stdin_file.is_some() && !start.stdin.is_empty() => {
                Err(wrong("`stdin` and `stdin_file` exclude each other"))
            }
            (None, Some(script)) => Ok(Self::Start(StartScript { script, ..start })),
        }
    }
}

/// Where a script runs, in one spelling. Skills assume their own directory.
fn workdir<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let written = String::deserialize(deserializer)?;
    Ok(match written.trim() {
        "." => "skill".to_owned(),
        word @ ("skill" | "project" | "temp") => word.to_owned(),
        _ => written,
    })
}

/// Arguments of a script: a list, or one string whose words are unambiguous.
fn args<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let unclear = "expected a list of strings, one for each argument";
    let items = match Value::deserialize(deserializer)? {
        Value::Array(items) => items,
        // Perhaps a list encoded as a string.
        Value::String(line) => match serde_json::from_str(&line) {
            Ok(Value::Array(items)) => items,
            _ => return split(&line).ok_or_else(|| D::Error::custom(unclear)),
        },
        _ => return Err(D::Error::custom(unclear)),
    };
    let word = |value| match value {
        Value::String(word) => Ok(word),
        Value::Number(number) => Ok(number.to_string()),
        other => {
            let text = format!("expected a string, found {other}");
            Err(D::Error::custom(text))
        }
    };
    items.into_iter().map(word).collect()
}

/// Splits a line into words; `None` if a quote is unclosed or a shell would do more than split,
/// because no shell runs.
fn split(line: &str) -> Option<Vec<String>> {
    let plain = r#"^(?:[^'"$`\\*?\[\]{}~|&;<>()!#\r\x0b\x0c]|'[^']*'|"[^"$`\\]*")*$"#;
    let is_plain = Regex::new(plain).is_ok_and(|plain| plain.is_match(line));
    is_plain.then(|| shlex::split(line))?
}

/// The arguments of `tool` as an object. Nulls count as absent, because some models fill in every
/// key they know. A key that it does not take is no argument to ignore: without `skill`, another
/// skill's script would run.
///
/// # Errors
/// When they are not an object, or have another key.
fn object(tool: &str, arguments: Value) -> Result<Map<String, Value>> {
    match arguments {
        Value::Null => Ok(Map::new()),
        Value::Object(mut map) => {
            map.retain(|_, value| !value.is_null());
            if let Some(known) = schema::arguments(tool)
                && let Some(other) = map.keys().find(|key| !known.contains(&key.as_str()))
            {
                let (other, known) = (quoted(other), known.join(", "));
                let text = format!("`{tool}` takes no `{other}`, but {known}");
                return Err(wrong(tool, text));
            }
            Ok(map)
        }
        _ => {
            let text = format!("the arguments of `{tool}` are one JSON object");
            Err(wrong(tool, text))
        }
    }
}

/// The arguments of `tool` as its type.
///
/// # Errors
/// When one is missing or has another type.
fn typed<T: DeserializeOwned>(tool: &str, arguments: Value) -> Result<T> {
    let arguments = Value::Object(object(tool, arguments)?);
    serde_json::from_value(arguments).map_err(|error| {
        let text = format!("the arguments of `{tool}` are invalid: {error}");
        wrong(tool, text)
    })
}

/// The error of a call of `tool`, with an example of a valid one.
fn wrong(tool: &str, text: impl Into<String>) -> Error {
    Error::new(text).hint(schema::example(tool))
}

/// A text that says something.
fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.trim().is_empty())
}

/// The skill that a call of `read_skill_file` or `run_skill_script` names.
pub fn written_skill(arguments: &Value) -> Option<&str> {
    given(arguments.get("skill")?.as_str()?)
}

/// A name; an empty one counts as absent.
fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let written = String::deserialize(deserializer)?;
    Ok(given(&written).map(str::to_owned))
}

/// Any JSON as text: models send lists and objects where text is expected.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Some(as_text(&Value::deserialize(deserializer)?)))
}

/// A list of strings, or one string in the list grammar of `allowed-tools`.
fn list_or_text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    Ok(Some(match Value::deserialize(deserializer)? {
        // Some models send a list encoded as a string.
        Value::String(text) => serde_json::from_str(&text).unwrap_or_else(|_| vec![text]),
        other => serde_json::from_value(other).map_err(D::Error::custom)?,
    }))
}

/// A count; models send some as strings.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = match &value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64(),
    };
    let wrong = || D::Error::custom(format!("`{value}` is not a whole number of lines"));
    number.ok_or_else(wrong).map(Some)
}
