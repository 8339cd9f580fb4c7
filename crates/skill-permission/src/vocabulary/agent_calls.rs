//! An agent's tools, and its calls as calls of the tools that rules are written for. Paths become
//! absolute, as the agent means them; a call that names several files or addresses becomes several.
//! No agent expands `~` in a path; where one did, the file below the home is no worse to judge.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};
use skill_text::Names;

use super::{Capability, find_tool};

/// Tools of an agent that do the same.
#[derive(Debug, Clone, Copy)]
pub struct AgentTool {
    /// What each of them does.
    pub does: Capability,
    /// The keys of the argument that matters, of which the first that the call has counts, since
    /// releases differ: the file, the directories (by default the working directory), the patch, the
    /// URL or a text with URLs, the kind of subagent, the skill's name. Of a shell the first is the
    /// command's, and the others the directory's.
    pub keys: &'static [&'static str],
    /// Their names, exactly.
    pub names: &'static [&'static str],
}

/// How the tools of MCP servers are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpNaming {
    /// `mcp__SERVER__TOOL`.
    DoubleUnderscores,
    /// `mcp_SERVER_TOOL`.
    Underscores,
    /// `SERVER-TOOL`: any unknown name with a hyphen.
    Hyphen,
    /// `SERVER_TOOL`: any unknown name with an underscore.
    Underscore,
}

impl McpNaming {
    /// What authors call a tool of an MCP server, whose name in the agent this is; `None` if it is no
    /// such tool. Rules do not tell where in a name the server's ends.
    pub fn written(self, tool: &str) -> Option<String> {
        let parts = match self {
            Self::DoubleUnderscores => tool.strip_prefix("mcp__")?.split_once("__"),
            Self::Underscores => tool.strip_prefix("mcp_")?.split_once('_'),
            Self::Hyphen => tool.rsplit_once('-'),
            Self::Underscore => tool.split_once('_'),
        };
        parts.map(|(server, tool)| format!("mcp__{server}__{tool}"))
    }
}

/// The tools of an agent. The default are those of Claude Code.
#[derive(Debug, Clone, Copy)]
pub struct Vocabulary {
    /// The tools. Any other is taken for a plugin's.
    pub tools: &'static [AgentTool],
    /// How the tools of MCP servers are called.
    pub mcp: McpNaming,
}

/// A call of an agent's tool as a call of one that rules are written for.
#[derive(Debug, Clone, PartialEq)]
pub struct TranslatedCall {
    /// The tool, as rules call it.
    pub tool: String,
    /// Its arguments, under the keys of that tool.
    pub arguments: Value,
    /// Whether the name says that an MCP server has the tool.
    pub is_mcp: bool,
    /// The directory where a command begins.
    pub directory: PathBuf,
    /// Whether the command's shell keeps what an earlier command changed.
    pub persists: bool,
}

#[rustfmt::skip]
const CLAUDE_CODE: &[AgentTool] = &[
    AgentTool { does: Capability::Shell, keys: &["command"], names: &["Bash"] },
    AgentTool { does: Capability::ReadFile, keys: &["file_path"], names: &["Read"] },
    AgentTool { does: Capability::WriteFile, keys: &["file_path"], names: &["Write"] },
    AgentTool { does: Capability::EditFile, keys: &["file_path"], names: &["Edit", "MultiEdit"] },
    AgentTool { does: Capability::EditFile, keys: &["notebook_path"], names: &["NotebookEdit"] },
    AgentTool { does: Capability::ReadFile, keys: &["notebook_path"], names: &["NotebookRead"] },
    AgentTool { does: Capability::FindFiles, keys: &["path"], names: &["Glob"] },
    AgentTool { does: Capability::SearchContent, keys: &["path"], names: &["Grep"] },
    AgentTool { does: Capability::ListDirectory, keys: &["path"], names: &["LS"] },
    AgentTool { does: Capability::Fetch, keys: &["url"], names: &["WebFetch"] },
    AgentTool { does: Capability::WebSearch, keys: &[], names: &["WebSearch"] },
    AgentTool { does: Capability::SubAgent, keys: &["subagent_type"], names: &["Agent", "Task"] },
    AgentTool { does: Capability::SubAgent, keys: &["name"], names: &["Workflow"] },
    AgentTool { does: Capability::Skill, keys: &["skill"], names: &["Skill"] },
    AgentTool { does: Capability::Todo, keys: &[], names: &["TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"] },
    AgentTool { does: Capability::AskUser, keys: &[], names: &["AskUserQuestion"] },
    AgentTool { does: Capability::Harmless, keys: &[], names: &["ToolSearch", "EnterPlanMode", "ExitPlanMode", "BashOutput", "KillShell", "TaskOutput", "TaskStop", "StructuredOutput"] },
];

impl Default for Vocabulary {
    fn default() -> Self {
        Self::CLAUDE_CODE
    }
}

/// The beginning of a patch.
const PATCH: &str = "*** Begin Patch";

/// Arguments of the agents' tools, besides those in their tables, that loosen nothing: texts, limits,
/// titles. Whoever adds one here has read what it does.
static PLAIN: Names = Names::new(
    "description timeout is_background run_in_background content file_text old_string new_string \
     old_str new_str replace_all expected_replacements offset limit pattern glob_pattern prompt query",
);

impl Vocabulary {
    /// The tools of Claude Code 2.1.
    pub const CLAUDE_CODE: Self = Self::of(CLAUDE_CODE);

    /// These tools, beside MCP servers' called as in Claude Code.
    pub const fn of(tools: &'static [AgentTool]) -> Self {
        let mcp = McpNaming::DoubleUnderscores;
        Self { tools, mcp }
    }

    /// Whether each argument of a call is in the tool's row of the table, or loosens nothing.
    pub fn knows_arguments(&self, name: &str, arguments: &Value) -> bool {
        let mut given = arguments.as_object().into_iter().flatten();
        self.tool(name).is_some_and(|tool| {
            given.all(|(key, _)| {
                let is_url = tool.does == Capability::Fetch && key == "url";
                is_url || tool.keys.contains(&key.as_str()) || PLAIN.has(key)
            })
        })
    }

    /// The tool of a name; `None` for one that is not in the table.
    pub fn tool(&self, name: &str) -> Option<&'static AgentTool> {
        self.tools.iter().find(|tool| tool.names.contains(&name))
    }

    /// The calls that a call of `name` amounts to, begun in `cwd`; none for one that only activates
    /// a skill.
    ///
    /// # Errors
    /// If an argument that decides is missing or of another kind, as in a release with other names.
    pub fn calls(
        &self,
        name: &str,
        arguments: &Value,
        cwd: &Path,
    ) -> Result<Vec<TranslatedCall>, String> {
        let call = |tool: &str, arguments: Value| TranslatedCall {
            tool: tool.to_owned(),
            arguments,
            is_mcp: false,
            directory: cwd.to_owned(),
            persists: false,
        };
        let Some(AgentTool { does, keys, .. }) = self.tool(name) else {
            let (tool, is_mcp) = named(self.mcp, name);
            return Ok(vec![TranslatedCall {
                is_mcp,
                ..call(&tool, arguments.clone())
            }]);
        };
        let written = || text(arguments, keys);
        let needed = || written().ok_or_else(|| lacks(keys));
        let one = |tool, arguments| Ok(vec![call(tool, arguments)]);
        let file = |tool| one(tool, json!({"path": cwd.join(needed()?)}));
        let each = |tool| -> Result<Vec<TranslatedCall>, String> {
            let places = places(arguments, keys, cwd)?.into_iter();
            let call = |place| call(tool, json!({"path": place}));
            Ok(places.map(call).collect())
        };
        let patched = |directory: &Path, patch: &str| -> Result<Vec<TranslatedCall>, String> {
            let files = files_of(patch)?.into_iter();
            let change = |file| call("file_edit", json!({"path": directory.join(file)}));
            Ok(files.map(change).collect())
        };
        match (does, arguments) {
            // Copilot's `apply_patch`.
            (Capability::EditFile | Capability::WriteFile, Value::String(patch)) => {
                patched(cwd, patch)
            }
            (Capability::Shell, _) => {
                let (key, directories) = keys.split_at(1);
                let command = text(arguments, key).ok_or_else(|| lacks(key))?;
                let begin = text(arguments, directories);
                let directory = begin.map_or_else(|| cwd.to_owned(), |dir| cwd.join(dir));
                // Codex itself applies a patch that a command hands to `apply_patch`.
                let mut calls = if command.contains(PATCH) {
                    patched(&directory, command)?
                } else {
                    Vec::new()
                };
                let is_shared = arguments.get("shellId").is_some_and(|id| !id.is_null());
                calls.push(TranslatedCall {
                    directory,
                    persists: is_shared,
                    ..call("run_command", json!({"command": command}))
                });
                Ok(calls)
            }
            (Capability::ReadFile, _) => file("read_file"),
            (Capability::WriteFile, _) => file("write_file"),
            (Capability::EditFile | Capability::EditNotebook, _) => file("file_edit"),
            (Capability::Patch, _) => {
                let other = || text(arguments, &["input", "patch", "patchText"]);
                patched(cwd, written().or_else(other).ok_or_else(|| lacks(keys))?)
            }
            (Capability::SearchContent, _) => each("grep_files"),
            (Capability::FindFiles, _) => {
                let pattern = text(arguments, &["pattern", "glob_pattern"]).unwrap_or_default();
                let find = |place: PathBuf| {
                    let (path, pattern) = beginning(&place, pattern)?;
                    let arguments = json!({"path": path, "pattern": pattern});
                    Ok(call("glob_files", arguments))
                };
                let places = places(arguments, keys, cwd)?.into_iter();
                places.map(find).collect()
            }
            (Capability::ListDirectory, _) => each("dir_list"),
            (Capability::Fetch, _) => {
                let fetch = |url: &str| call("fetch_url", json!({"url": url}));
                Ok(addresses(arguments, keys)?.into_iter().map(fetch).collect())
            }
            (Capability::WebSearch, _) => one("WebSearch", arguments.clone()),
            (Capability::SubAgent, _) => {
                let preset = written().map(|preset| json!({"preset": preset}));
                one("spawn_agent", preset.unwrap_or_else(|| json!({})))
            }
            (Capability::Todo, _) => one("update_todos", json!({})),
            (Capability::AskUser, _) => one("call_user", json!({})),
            (Capability::SendMessage, _) => one("send_message", arguments.clone()),
            (Capability::Harmless, _) => one("model_info", json!({})),
            (Capability::Skill, _) => Ok(Vec::new()),
        }
    }
}

/// What rules call a tool that is not in the table, and whether an MCP server has it. It never has
/// the name of a tool of chibi's or of ours, all of which have underscores: rules do not tell these
/// from hyphens, and the table of tools does.
fn named(mcp: McpNaming, tool: &str) -> (String, bool) {
    let marked = match mcp {
        McpNaming::DoubleUnderscores => {
            let rest = tool.strip_prefix("mcp__");
            rest.map(|rest| rest.replacen("__", "-", 1))
        }
        McpNaming::Underscores => tool.strip_prefix("mcp_").map(str::to_owned),
        McpNaming::Hyphen => tool.contains('-').then(|| tool.to_owned()),
        McpNaming::Underscore => tool.contains('_').then(|| tool.to_owned()),
    };
    let is_mcp = marked.is_some();
    let name = marked.unwrap_or_else(|| tool.to_owned());
    match find_tool(&name) {
        Some(_) => (name.replace('_', "-"), is_mcp),
        None => (name, is_mcp),
    }
}

fn lacks(keys: &[&str]) -> String {
    format!("it has no `{}` that is a text", keys.first().unwrap_or(&""))
}

fn text<'a>(arguments: &'a Value, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| arguments.get(key)?.as_str())
}

/// The directories or files in one of these arguments; the working directory if there is none.
fn places(arguments: &Value, keys: &[&str], cwd: &Path) -> Result<Vec<PathBuf>, String> {
    let texts: Option<Vec<&str>> = match keys.iter().find_map(|key| arguments.get(key)) {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::String(one)) => Some(vec![one]),
        Some(Value::Array(all)) => all.iter().map(Value::as_str).collect(),
        Some(_) => None,
    };
    let texts = texts.ok_or_else(|| lacks(keys))?;
    if texts.is_empty() {
        return Ok(vec![cwd.to_owned()]);
    }
    Ok(texts.into_iter().map(|path| cwd.join(path)).collect())
}

/// Where a pattern begins to be one: a pattern may lead out of its directory by an absolute path or
/// by `..`.
///
/// # Errors
/// If an alternative or a class in it may lead elsewhere, as in `{/etc/*,x}` and `[.][.]/*`.
fn beginning(place: &Path, pattern: &str) -> Result<(PathBuf, String), String> {
    let leads = |rest: &str| {
        let mut next = rest.chars();
        match next.next() {
            Some('/' | '\\') => true,
            Some('.') => !next.next().is_some_and(char::is_alphanumeric),
            _ => false,
        }
    };
    let opens = pattern.match_indices(['{', ',', '(', '|', '[']);
    let mut opens = opens.map(|(at, _)| &pattern[at + 1..]);
    if pattern.contains('\\') || opens.any(leads) {
        return Err("its pattern may match in another directory".to_owned());
    }
    let is_plain = |part: &Component| {
        let mut bytes = part.as_os_str().as_encoded_bytes().iter();
        !bytes.any(|byte| b"*?[]{}()!".contains(byte))
    };
    let parts: Vec<Component> = Path::new(pattern).components().collect();
    let plain = parts.iter().take_while(|part| is_plain(part)).count();
    let begin: PathBuf = parts[..plain].iter().collect();
    let rest: PathBuf = parts[plain..].iter().collect();
    let path = match plain {
        0 => place.to_owned(),
        _ => place.join(begin),
    };
    Ok((path, rest.display().to_string()))
}

/// The addresses that a call fetches: that in `url`, and those in the text under another key.
fn addresses<'a>(arguments: &'a Value, keys: &[&str]) -> Result<Vec<&'a str>, String> {
    let url = text(arguments, &["url"]);
    let written = text(arguments, keys).or(url).ok_or_else(|| lacks(keys))?;
    // Whatever between blanks could be one, as Gemini CLI takes a text apart.
    let words = written.split_whitespace();
    let in_text = words.filter(|word| word.contains("://") && !keys.contains(&"url"));
    let urls: Vec<&str> = in_text.chain(url).collect();
    if urls.is_empty() {
        return Ok(vec![written]);
    }
    let is_odd = |url: &&str| url.contains(|c: char| c.is_whitespace() || c.is_control());
    if urls.iter().any(is_odd) {
        return Err("its address contains spaces".to_owned());
    }
    Ok(urls)
}

/// The files that a patch in Codex's form adds, changes, deletes and moves to.
fn files_of<'a>(patch: &'a str) -> Result<Vec<&'a str>, String> {
    let marks = ["Add File:", "Update File:", "Delete File:", "Move to:"];
    let named = |line: &'a str| {
        let rest = line.trim_start().strip_prefix("*** ")?;
        let mut marks = marks.iter();
        let file = marks.find_map(|mark| rest.strip_prefix(mark))?;
        Some(file.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}'))
    };
    let files: Vec<&str> = patch.lines().filter_map(named).collect();
    if files.is_empty() || files.contains(&"") {
        return Err("its patch names no file".to_owned());
    }
    Ok(files)
}
