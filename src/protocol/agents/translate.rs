//! A call of an agent's tool as [`Request`]s of the tools that rules are written for. Paths become absolute,
//! as the agent means them; a call that names several files or addresses becomes several. No agent
//! expands `~` in a path; where one did, the file below the home is no worse to judge.

use super::event::trimmed;
use crate::host::agent::table::{AgentProfile, AgentTool, McpNaming};
use crate::protocol::prelude::*;
use skill_permission::vocabulary;
use skill_permission::vocabulary::Capability;

/// The beginning of a patch.
const PATCH: &str = "*** Begin Patch";

/// Arguments of the agents' tools, besides those in their tables, that loosen nothing: texts, limits,
/// titles. Whoever adds one here has read what it does.
static PLAIN: Names = Names::new(
    "description timeout is_background run_in_background content file_text old_string new_string \
     old_str new_str replace_all expected_replacements offset limit pattern glob_pattern prompt query",
);

/// The calls that `used` amounts to, begun in `cwd`.
///
/// # Errors
/// If an argument that decides is missing or of another kind, as in a release with other names.
pub fn translate(table: &AgentProfile, used: &ToolUse, cwd: &Path) -> Result<Vec<Request>, String> {
    let arguments = &used.arguments;
    let tool = table.tool(&used.tool);
    let is_known = tool.is_some_and(|tool| is_known(tool, arguments));
    let call = |tool: &str, arguments: Value| Request {
        shown: Some(used.tool.clone()),
        start: Some(CommandStart {
            directory: cwd.to_owned(),
            persists: table.shell.persists,
        }),
        is_known,
        ..Request::of_tool(tool, arguments)
    };
    let Some(AgentTool { does, keys, .. }) = tool else {
        let (tool, is_mcp) = named(table.mcp, &used.tool);
        return Ok(vec![Request {
            is_mcp,
            ..call(&tool, arguments.clone())
        }]);
    };
    let written = || text(arguments, keys);
    let needed = || written().ok_or_else(|| lacks(keys));
    let one = |tool, arguments| Ok(vec![call(tool, arguments)]);
    let file = |tool| one(tool, json!({"path": cwd.join(needed()?)}));
    let each = |tool| -> Result<Vec<Request>, String> {
        let places = places(arguments, keys, cwd)?.into_iter();
        let call = |place| call(tool, json!({"path": place}));
        Ok(places.map(call).collect())
    };
    let patched = |directory: &Path, patch: &str| -> Result<Vec<Request>, String> {
        let files = files_of(patch)?.into_iter();
        let change = |file| call("file_edit", json!({"path": directory.join(file)}));
        Ok(files.map(change).collect())
    };
    match (does, arguments) {
        // Copilot's `apply_patch`.
        (Capability::EditFile | Capability::WriteFile, Value::String(patch)) => patched(cwd, patch),
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
            let start = CommandStart {
                persists: table.shell.persists || is_shared,
                directory,
            };
            calls.push(Request {
                start: Some(start),
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

/// Whether the tool's row in the table or [`PLAIN`] has every argument.
fn is_known(tool: &AgentTool, arguments: &Value) -> bool {
    let mut given = arguments.as_object().into_iter().flatten();
    given.all(|(key, _)| {
        let is_url = tool.does == Capability::Fetch && key == "url";
        is_url || tool.keys.contains(&key.as_str()) || PLAIN.has(key)
    })
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
    match vocabulary::find_tool(&name) {
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
        marks.find_map(|mark| rest.strip_prefix(mark)).map(trimmed)
    };
    let files: Vec<&str> = patch.lines().filter_map(named).collect();
    if files.is_empty() || files.contains(&"") {
        return Err("its patch names no file".to_owned());
    }
    Ok(files)
}

#[cfg(test)]
mod tests;
