//! One parsed entry of an `allowed-tools` or `disallowed-tools` list: which of the host's tools
//! it speaks of, and which arguments.

use std::collections::BTreeSet;
use std::fmt;

use super::call::{Call, OurTool};
use super::command::CommandPattern;
use super::list::{self, Broken, Entry};
use super::template::Directories;
use crate::host::alias::{self, Capability, fold};
use crate::host::tools;

/// A remark on an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleNote {
    /// A word for programs, such as `unknown-tool`.
    pub code: &'static str,
    /// The sentence for people; it names the entry.
    pub message: String,
}

/// One entry, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    written: String,
    subject: Subject,
    test: Test,
}

/// Which tools a rule speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    /// All of them: a bare `*`.
    Everything,
    /// What other clients' names stand for.
    Capability(Capability),
    /// A tool of this name, folded; the host's own ones too.
    Named(String),
    /// Tools whose names begin so; never one that is reached by its own name only.
    Prefix(String),
    /// A tool of an MCP server, by the host's name for it, or a prefix of such names.
    Mcp { name: String, open: bool },
}

/// Which arguments a rule speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// All.
    Any,
    /// Commands like one of these.
    Command(Vec<CommandPattern>),
    /// Skills of these names.
    Skill(String),
    /// None: the entry is broken or asks for something this host does not have.
    Nothing,
}

/// Whether a list allows or denies: doubt falls to the safe side, which is another one for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// `allowed-tools`.
    Allow,
    /// `disallowed-tools`, configuration and policy.
    Deny,
}

/// Reads a whole list; every string of it is split by the grammar again.
pub fn read_list(
    entries: &[String],
    purpose: Purpose,
    directories: &Directories,
) -> (Vec<Rule>, Vec<RuleNote>) {
    let mut rules = Vec::new();
    let mut notes = Vec::new();
    for entry in entries.iter().flat_map(|entry| list::split(entry)) {
        match entry {
            Ok(entry) => rules.push(Rule::new(entry, purpose, directories, &mut notes)),
            Err(broken) => rules.push(Rule::broken(&broken, purpose, &mut notes)),
        }
    }
    (rules, notes)
}

fn note(code: &'static str, written: &str, text: &str) -> RuleNote {
    RuleNote {
        code,
        message: format!("`{written}`: {text}"),
    }
}

impl Rule {
    fn new(
        entry: Entry,
        purpose: Purpose,
        directories: &Directories,
        notes: &mut Vec<RuleNote>,
    ) -> Self {
        let Entry {
            written,
            mut name,
            mut body,
        } = entry;
        if name.eq_ignore_ascii_case("mcp") && body.is_some() {
            name = body.take().unwrap_or_default();
        }
        let mut remark = |code, text: &str| notes.push(note(code, &written, text));
        let (subject, programs) = Subject::of(&name);
        let body = body.filter(|body| body != "*");
        let test = match (&subject, body, programs) {
            (Subject::Everything, ..) => {
                remark("bare-star", "`*` means no restriction at all");
                Ok(Test::Any)
            }
            (Subject::Capability(Capability::NoCounterpart), ..) => Ok(Test::Nothing),
            (Subject::Capability(Capability::Skill), Some(skill), _) => {
                let skill = skill.strip_suffix('*').unwrap_or(&skill).trim_end();
                Ok(Test::Skill(skill.to_owned()))
            }
            (Subject::Capability(Capability::Shell), Some(body), None) => {
                if body.contains(',') {
                    remark("comma-in-pattern", "read as one pattern with a comma in it");
                }
                command_test(&body, directories)
            }
            (Subject::Capability(Capability::Shell), None, Some(programs)) => {
                let patterns = programs
                    .iter()
                    .map(|program| CommandPattern::program(program));
                Ok(Test::Command(patterns.collect()))
            }
            (_, Some(_), _) => Err(("unsupported", "patterns for this tool are not supported")),
            (_, None, _) => Ok(Test::Any),
        };
        let test = test.unwrap_or_else(|(code, why)| {
            remark(code, &outcome(why, purpose));
            Test::of_doubt(purpose)
        });
        if matches!(subject, Subject::Named(_)) && !is_known(&name) {
            let hint = alias::nearest(&name).map(|near| format!("; did you mean `{near}`?"));
            let meaning = "no tool of the host has this name, so it means a plugin's tool";
            remark(
                "unknown-tool",
                &(meaning.to_owned() + &hint.unwrap_or_default()),
            );
        }
        Self {
            written,
            subject,
            test,
        }
    }

    fn broken(broken: &Broken, purpose: Purpose, notes: &mut Vec<RuleNote>) -> Self {
        let (code, why) = broken.why;
        notes.push(note(code, &broken.written, &outcome(why, purpose)));
        Self {
            written: broken.written.clone(),
            subject: Subject::of(&broken.name).0,
            test: Test::of_doubt(purpose),
        }
    }

    /// The entry as its author wrote it.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Whether this is a `*` that lifts every restriction.
    pub fn is_everything(&self) -> bool {
        self.subject == Subject::Everything
    }

    /// Whether the entry can grant anything on this host.
    pub fn grants_something(&self) -> bool {
        self.test != Test::Nothing
    }

    /// Which arguments of a tool the rule speaks of; `None` when it does not speak of the tool.
    pub fn test_of(&self, tool: &Tool<'_>) -> Option<&Test> {
        self.subject.covers(tool).then_some(&self.test)
    }

    /// Whether this is a `Skill(name)` entry, which narrows what may be activated.
    pub fn narrows_skills(&self) -> bool {
        matches!(self.test, Test::Skill(_))
    }

    /// The tools this grants, in the host's words.
    pub fn host_names(&self) -> Vec<String> {
        let with_pattern = |name: &str| match self.written.find('(') {
            Some(open) if self.test != Test::Any => format!("{name}{}", &self.written[open..]),
            None if self.test != Test::Any => format!("{name}({}:*)", self.written.to_lowercase()),
            _ => name.to_owned(),
        };
        let current = |name: &&&str| !tools::is_plugin_of_older_host(name);
        match &self.subject {
            _ if self.test == Test::Nothing => Vec::new(),
            Subject::Everything => vec!["every tool".to_owned()],
            Subject::Capability(Capability::Skill) => vec![with_pattern("skill_*")],
            Subject::Capability(Capability::WebSearch) => vec!["web_search".to_owned()],
            Subject::Capability(capability) => {
                let names = capability.tools().iter().filter(current);
                names.map(|name| with_pattern(name)).collect()
            }
            Subject::Named(_) => vec![self.written.clone()],
            Subject::Prefix(prefix) => vec![format!("{prefix}*")],
            Subject::Mcp { name, open } => vec![format!("{name}{}", if *open { "*" } else { "" })],
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.host_names();
        if names.is_empty() {
            write!(f, "{} → nothing on this host", self.written)
        } else {
            write!(f, "{} → {}", self.written, names.join(", "))
        }
    }
}

/// Whether a name is a tool of the host or, by its shape, one of ours.
fn is_known(name: &str) -> bool {
    let name = joined(name);
    tools::find(&name).is_some()
        || name.starts_with("skill_")
        || ["read_skill_file", "run_skill_script"].contains(&name.as_str())
}

fn command_test(
    body: &str,
    directories: &Directories,
) -> Result<Test, (&'static str, &'static str)> {
    let pattern = CommandPattern::parse(&directories.fill(body))?;
    if pattern.is_placeholder() {
        return Err(("placeholder", "`cmd` stands for no program"));
    }
    Ok(Test::Command(vec![pattern]))
}

fn outcome(why: &str, purpose: Purpose) -> String {
    match purpose {
        Purpose::Allow => format!("{why}; it grants nothing"),
        Purpose::Deny => format!("{why}; it denies the tool as a whole"),
    }
}

impl Test {
    fn of_doubt(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Allow => Self::Nothing,
            Purpose::Deny => Self::Any,
        }
    }
}

/// A tool, with what has to be known to see whether a rule speaks of it.
#[derive(Debug, Clone, Copy)]
pub struct Tool<'a> {
    /// Its name.
    pub name: &'a str,
    /// Which of ours it is.
    pub ours: Option<OurTool<'a>>,
    /// Whether the host says it belongs to an MCP server.
    pub is_mcp: bool,
}

impl<'a> Tool<'a> {
    /// The tool of a call.
    pub fn of(call: &Call<'a>, mcp_tools: &BTreeSet<String>) -> Self {
        Self::new(call.tool, call.ours, mcp_tools)
    }

    /// A tool by name.
    pub fn new(name: &'a str, ours: Option<OurTool<'a>>, mcp_tools: &BTreeSet<String>) -> Self {
        let is_mcp = ours.is_none() && tools::find(name).is_none() && mcp_tools.contains(name);
        Self { name, ours, is_mcp }
    }
}

impl Subject {
    /// What a name stands for, and the programs if it is one of those.
    fn of(name: &str) -> (Self, Option<&'static [&'static str]>) {
        if name == "*" {
            return (Self::Everything, None);
        }
        if let Some(capability) = Capability::of(name) {
            return (Self::Capability(capability), None);
        }
        if let Some(programs) = alias::programs(name) {
            return (Self::Capability(Capability::Shell), Some(programs));
        }
        (Self::mcp(name).unwrap_or_else(|| Self::plain(name)), None)
    }

    fn plain(name: &str) -> Self {
        match name.strip_suffix('*') {
            Some(prefix) if prefix.len() >= 3 && !prefix.contains('*') => {
                Self::Prefix(joined(prefix))
            }
            _ => Self::Named(fold(name)),
        }
    }

    /// `mcp__S__T`, `mcp__S__*`, `mcp__S`, `S:T`, `S/T` and `mcp_S*`, with a glob for either.
    fn mcp(name: &str) -> Option<Self> {
        let name = &joined(name);
        let (server, tool) = if let Some(rest) = name.strip_prefix("mcp__") {
            rest.split_once("__").unwrap_or((rest, "*"))
        } else if let Some(rest) = name.strip_prefix("mcp_") {
            (rest, "*")
        } else {
            let (path, tool) = name.rsplit_once([':', '/'])?;
            (path.rsplit('/').next().unwrap_or(path), tool)
        };
        // A plugin's server is `plugin_<plugin>_<server>`; the host knows it by its own name.
        let bundled = server
            .strip_prefix("plugin_")
            .and_then(|rest| rest.split_once('_'));
        let server = bundled.map_or(server, |(_, server)| server);
        let (name, open) = match (server.strip_suffix('*'), tool.strip_suffix('*')) {
            (Some(server), _) => (server.to_owned(), true),
            (None, Some(tool)) => (format!("{server}_{tool}"), true),
            (None, None) => (format!("{server}_{tool}"), false),
        };
        let usable = name.len() >= 3 && !name.contains('*');
        usable.then_some(Self::Mcp { name, open })
    }

    fn covers(&self, tool: &Tool<'_>) -> bool {
        match self {
            Self::Everything => true,
            Self::Capability(Capability::WebSearch) => {
                tool.ours.is_none() && fold(tool.name) == "websearch"
            }
            Self::Capability(Capability::Skill) => matches!(tool.ours, Some(OurTool::Skill(_))),
            Self::Capability(capability) => {
                tool.ours.is_none() && capability.tools().contains(&tool.name)
            }
            Self::Named(name) => fold(tool.name) == *name,
            Self::Prefix(prefix) => {
                let reachable = match tool.ours {
                    Some(ours) => matches!(ours, OurTool::Skill(_)),
                    None => !tools::only_by_own_name(tool.name),
                };
                reachable && joined(tool.name).starts_with(prefix)
            }
            Self::Mcp { name, open: true } => tool.is_mcp && joined(tool.name).starts_with(name),
            Self::Mcp { name, open: false } => tool.is_mcp && joined(tool.name) == *name,
        }
    }
}

/// A name as prefixes are compared: the `_` between a server and its tool has to stay.
fn joined(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}
