//! A call of an agent's tool as [`Request`]s of the tools that rules are written for. Paths become absolute,
//! as the agent means them; a call that names several files or addresses becomes several.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use crate::host::agent::table::{Does, Mcp, Table};
use crate::host::tools;
use crate::protocol::ToolUse;
use crate::protocol::judge::{Begins, Request};
use crate::sys::name_list::Names;

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
pub fn translate(table: &Table, used: &ToolUse, cwd: &Path) -> Result<Vec<Request>, String> {
    let arguments = &used.arguments;
    let is_known = is_known(table.does(&used.tool), arguments);
    let call = |tool: &str, arguments: Value| Request {
        shown: Some(used.tool.clone()),
        begins: Some(Begins {
            directory: cwd.to_owned(),
            persists: table.shell.persists,
        }),
        is_known,
        ..Request::of_tool(tool, arguments)
    };
    let file = |tool, keys: &[&str]| {
        let path = text(arguments, keys).ok_or_else(|| lacks(keys))?;
        Ok(vec![call(tool, json!({"path": absolute(cwd, path)}))])
    };
    let below = |keys| places(arguments, keys, cwd);
    let one = |tool, arguments| Ok(vec![call(tool, arguments)]);
    let change = |directory: &Path, file: &str| {
        call("file_edit", json!({"path": absolute(directory, file)}))
    };
    // Copilot's `apply_patch`.
    if let (Some(Does::Edit(_) | Does::Write(_)), Value::String(patch)) =
        (table.does(&used.tool), arguments)
    {
        let files = files_of(patch)?.into_iter();
        return Ok(files.map(|file| change(cwd, file)).collect());
    }
    match table.does(&used.tool) {
        Some(Does::Shell(key, directories)) => {
            let command = text(arguments, &[key]).ok_or_else(|| lacks(&[key]))?;
            let begin = text(arguments, directories);
            let directory = begin.map_or_else(|| cwd.to_owned(), |dir| cwd.join(dir));
            // Codex itself applies a patch that a command hands to `apply_patch`.
            let patched = if command.contains(PATCH) {
                files_of(command)?
            } else {
                Vec::new()
            };
            let patched = patched.into_iter();
            let mut calls: Vec<Request> = patched.map(|file| change(&directory, file)).collect();
            let is_shared = arguments.get("shellId").is_some_and(|id| !id.is_null());
            let begins = Begins {
                persists: table.shell.persists || is_shared,
                directory,
            };
            calls.push(Request {
                begins: Some(begins),
                ..call("run_command", json!({"command": command}))
            });
            Ok(calls)
        }
        Some(Does::Read(keys)) => file("read_file", keys),
        Some(Does::Write(keys)) => file("write_file", keys),
        Some(Does::Edit(keys)) => file("file_edit", keys),
        Some(Does::Patch(key)) => {
            let patch = text(arguments, &[key, "input", "patch", "patchText"]);
            let files = files_of(patch.ok_or_else(|| lacks(&[key]))?)?;
            Ok(files.into_iter().map(|file| change(cwd, file)).collect())
        }
        Some(Does::Search(keys)) => {
            let search = |path| call("grep_files", json!({"path": path}));
            Ok(below(keys)?.into_iter().map(search).collect())
        }
        Some(Does::Find(keys)) => {
            let pattern = text(arguments, &["pattern", "glob_pattern"]).unwrap_or_default();
            let find = |place: PathBuf| {
                let (path, pattern) = beginning(&place, pattern)?;
                Ok(call(
                    "glob_files",
                    json!({"path": path, "pattern": pattern}),
                ))
            };
            below(keys)?.into_iter().map(find).collect()
        }
        Some(Does::List(keys)) => {
            let list = |path| call("dir_list", json!({"path": path}));
            Ok(below(keys)?.into_iter().map(list).collect())
        }
        Some(Does::Fetch(key)) => {
            let fetch = |url: &str| call("fetch_url", json!({"url": url}));
            Ok(addresses(arguments, key)?.into_iter().map(fetch).collect())
        }
        Some(Does::WebSearch) => one("WebSearch", arguments.clone()),
        Some(Does::SubAgent(key)) => {
            let preset = text(arguments, &[key]);
            one(
                "spawn_agent",
                preset.map_or_else(|| json!({}), |it| json!({"preset": it})),
            )
        }
        Some(Does::Todo) => one("update_todos", json!({})),
        Some(Does::AskUser) => one("call_user", json!({})),
        Some(Does::Harmless) => one("model_info", json!({})),
        Some(Does::Skill(_)) => Ok(Vec::new()),
        None => {
            let (tool, is_mcp) = named(table.mcp, &used.tool);
            Ok(vec![Request {
                is_mcp,
                ..call(&tool, arguments.clone())
            }])
        }
    }
}

/// Whether the table or [`PLAIN`] knows every argument. Of a tool that is not in the table, none is.
fn is_known(does: Option<Does>, arguments: &Value) -> bool {
    let keys: Vec<&str> = match does {
        None => return false,
        Some(Does::Shell(key, directories)) => [&[key], directories].concat(),
        Some(
            Does::Read(keys)
            | Does::Write(keys)
            | Does::Edit(keys)
            | Does::Search(keys)
            | Does::Find(keys)
            | Does::List(keys),
        ) => keys.to_vec(),
        Some(Does::Patch(key) | Does::Fetch(key) | Does::SubAgent(key) | Does::Skill(key)) => {
            vec![key, "url"]
        }
        Some(Does::WebSearch | Does::Todo | Does::AskUser | Does::Harmless) => Vec::new(),
    };
    let Value::Object(arguments) = arguments else {
        return true;
    };
    let mut given = arguments.keys();
    given.all(|key| keys.contains(&key.as_str()) || PLAIN.has(key))
}

/// What rules call a tool that is not in the table, and whether an MCP server has it. It never has
/// the name of a tool of chibi's or of ours, all of which have underscores: rules do not tell these
/// from hyphens, and the table of tools does.
fn named(mcp: Mcp, tool: &str) -> (String, bool) {
    let marked = match mcp {
        Mcp::DoubleUnderscores => {
            tool.strip_prefix("mcp__")
                .map(|rest| match rest.split_once("__") {
                    Some((server, tool)) => format!("{server}-{tool}"),
                    None => rest.to_owned(),
                })
        }
        Mcp::Underscores => tool.strip_prefix("mcp_").map(str::to_owned),
        Mcp::Hyphen => tool.contains('-').then(|| tool.to_owned()),
        Mcp::Underscore => tool.contains('_').then(|| tool.to_owned()),
    };
    let is_mcp = marked.is_some();
    let name = marked.unwrap_or_else(|| tool.to_owned());
    match tools::find(&name) {
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
    let given = keys.iter().find_map(|key| arguments.get(key));
    let texts: Option<Vec<&str>> = match given {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::String(one)) => Some(vec![one]),
        Some(Value::Array(all)) => all.iter().map(Value::as_str).collect(),
        Some(_) => None,
    };
    let texts = texts.ok_or_else(|| lacks(keys))?;
    if texts.is_empty() {
        return Ok(vec![cwd.to_owned()]);
    }
    let texts = texts.into_iter();
    Ok(texts.map(|path| absolute(cwd, path)).collect())
}

/// The path that an agent's tool means. None of them expands `~` in one; where one did, the file
/// below the home is what it would be, and that is no worse to judge.
fn absolute(cwd: &Path, written: &str) -> PathBuf {
    cwd.join(written)
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
        return Err("its pattern may lead to another directory".to_owned());
    }
    let is_plain = |part: &Component| {
        !part
            .as_os_str()
            .as_encoded_bytes()
            .iter()
            .any(|byte| b"*?[]{}()!".contains(byte))
    };
    let parts: Vec<Component> = Path::new(pattern).components().collect();
    let plain = parts.iter().take_while(|part| is_plain(part)).count();
    let begin: PathBuf = parts[..plain].iter().collect();
    let rest: PathBuf = parts[plain..].iter().collect();
    let path = if plain == 0 {
        place.to_owned()
    } else {
        place.join(begin)
    };
    Ok((path, rest.display().to_string()))
}

/// The addresses that a call fetches: that in `url`, and those in the text under another key.
fn addresses<'a>(arguments: &'a Value, key: &str) -> Result<Vec<&'a str>, String> {
    let written = text(arguments, &[key, "url"]).ok_or_else(|| lacks(&[key]))?;
    let mut urls = if key == "url" {
        vec![written]
    } else {
        urls_in(written)
    };
    urls.extend(text(arguments, &["url"]).filter(|_| key != "url"));
    if urls.is_empty() {
        urls.push(written);
        return Ok(urls);
    }
    let is_odd = |url: &&str| url.contains(|c: char| c.is_whitespace() || c.is_control());
    if urls.iter().any(is_odd) {
        return Err("its address has blanks in it".to_owned());
    }
    Ok(urls)
}

/// The addresses in a text: whatever between blanks could be one, as Gemini CLI takes it apart.
fn urls_in(text: &str) -> Vec<&str> {
    let words = text.split_whitespace();
    words.filter(|word| word.contains("://")).collect()
}

/// Without blanks, U+FEFF among them, as agents written in JavaScript trim.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// The file that a line of a patch in Codex's form names.
fn named_in(line: &str) -> Option<&str> {
    let marks = ["Add File:", "Update File:", "Delete File:", "Move to:"];
    let rest = line.trim_start().strip_prefix("*** ")?;
    marks.iter().find_map(|mark| rest.strip_prefix(mark))
}

/// The files that a patch in Codex's form adds, changes, deletes and moves to.
fn files_of(patch: &str) -> Result<Vec<&str>, String> {
    let files: Vec<&str> = patch.lines().filter_map(named_in).map(trimmed).collect();
    let is_empty = |file: &&str| file.is_empty();
    if files.is_empty() || files.iter().any(is_empty) {
        return Err("its patch names no file".to_owned());
    }
    Ok(files)
}

#[cfg(test)]
mod tests;
