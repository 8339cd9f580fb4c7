//! Other clients' names for what this host's tools do, in lists and in prose. Most skills use these
//! (docs/spec/skills.md#allowed-tools); this table is their only translation.

use skill_text::{Words, nearest as nearest_name};

use super::HOST_TOOLS;

/// What a tool does. A skill may ask for all but the last two, whatever its author's client calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Read a file.
    ReadFile,
    /// Search in files.
    SearchContent,
    /// Find files by name.
    FindFiles,
    /// List a directory.
    ListDirectory,
    /// Run a shell command.
    Shell,
    /// Create and change files.
    WriteFile,
    /// Change files.
    EditFile,
    /// Change notebooks.
    EditNotebook,
    /// Fetch a URL.
    Fetch,
    /// Search the web.
    WebSearch,
    /// Ask a sub-agent.
    SubAgent,
    /// Keep a task list.
    Todo,
    /// Ask the user.
    AskUser,
    /// Message another conversation.
    SendMessage,
    /// Activate a skill.
    Skill,
    /// Apply a patch, which names the files.
    Patch,
    /// Nothing that restrictions cover.
    Harmless,
}

use Capability::{
    AskUser, EditFile, EditNotebook, Fetch, FindFiles, ListDirectory, ReadFile, SearchContent,
    SendMessage, Shell, Skill, SubAgent, Todo, WebSearch, WriteFile,
};

impl Capability {
    /// The capability behind another client's tool name; `None` for a name without a translation.
    pub fn named(name: &str) -> Option<Self> {
        let name = fold(name);
        let asks = |(.., spellings): &&Row| spellings.contains(&name.as_str());
        ROWS.iter().find(asks).map(|(this, ..)| *this)
    }

    /// The host tools that provide it, by exact name, best first.
    pub fn tools(self) -> &'static [&'static str] {
        let row = ROWS.iter().find(|(this, ..)| *this == self);
        row.map_or(&[], |(_, tools, _)| tools)
    }
}

/// A tool name as rules compare it: ASCII lower case without `_` and `-`, so that `web_fetch`,
/// `WebFetch` and `web-fetch` are equal (docs/spec/restriction.md#tool-names).
pub fn fold(name: &str) -> String {
    let kept = name.chars().filter(|c| !matches!(c, '_' | '-'));
    kept.map(|c| c.to_ascii_lowercase()).collect()
}

/// Programs that some skills list as tools, meaning commands that begin with one of these words.
pub fn program_words(name: &str) -> Option<&'static [&'static str]> {
    const ALL: [&[&str]; 7] = [
        &["python", "python3"],
        &["node"],
        &["curl"],
        &["docker"],
        &["gh"],
        &["mcporter"],
        &["surf"],
    ];
    ALL.into_iter().find(|names| names[0] == fold(name))
}

/// The known name closest to an unknown one, for a suggestion.
pub fn nearest_tool(name: &str) -> Option<&'static str> {
    let spellings = ROWS.iter().flat_map(|(.., spellings)| *spellings);
    let tools = HOST_TOOLS.iter().map(|tool| &tool.name);
    let near = nearest_name(name, tools.chain(spellings).copied())?;
    Some(as_authors_write(near).unwrap_or(near))
}

/// What authors call a host tool, as they write it.
pub fn authors_name(tool: &str) -> Option<&'static str> {
    let is_best = |row: &&Row| row.1.first() == Some(&tool);
    let row = ROWS
        .iter()
        .find(is_best)
        .or_else(|| ROWS.iter().find(|(_, tools, _)| tools.contains(&tool)))?;
    as_authors_write(row.2[0])
}

/// How authors write a folded name, if it is one of the most frequent.
fn as_authors_write(folded: &str) -> Option<&'static str> {
    let others = ["SendMessage", "Skill"];
    let mut all = COMMON.iter().chain(DISTINCT.iter()).chain(others);
    all.find(|written| fold(written) == folded)
}

/// A capability, the host tools that provide it, and other clients' folded names for it.
type Row = (Capability, &'static [&'static str], &'static [&'static str]);

/// No folded name appears in two rows, so their order does not matter.
#[rustfmt::skip]
static ROWS: &[Row] = &[
    (ReadFile, &["file_head", "file_lines", "file_tail", "file_grep", "vfs_info", "summarize_content", "read_file"], &["read", "notebookread", "readfile", "readmanyfiles", "view", "fileread", "read/readfile"]),
    (SearchContent, &["grep_files", "file_grep", "index_query"], &["grep", "searchfilecontent", "grepsearch", "ripgrep", "search", "codebase", "search/codebase", "usages"]),
    (FindFiles, &["glob_files", "dir_list"], &["glob", "findfiles", "searchfiles", "findtestfiles"]),
    (ListDirectory, &["dir_list", "vfs_list", "vfs_info"], &["ls", "list", "listdirectory", "listfiles", "listdir"]),
    (Shell, &["shell_exec", "run_command"], &["bash", "shell", "exec", "runshellcommand", "runcommand", "runcommands", "runshell", "terminal", "execute", "executecode", "runterminalcmd", "execute/runinterminal"]),
    (WriteFile, &["write_file", "file_edit", "vfs_mkdir"], &["write", "writefile", "createfile", "savefile", "fs"]),
    (EditFile, &["file_edit", "write_file"], &["edit", "multiedit", "replace", "applypatch", "patch", "strreplaceeditor", "strreplace", "editfile", "editfiles", "edit/editfiles"]),
    (EditNotebook, &["write_file", "file_edit"], &["notebookedit"]),
    (Fetch, &["fetch_url", "summarize_content"], &["webfetch", "readurlcontent", "fetch", "web/fetch", "web", "network"]),
    (WebSearch, &[], &["websearch", "googlewebsearch", "searchquery"]),
    (SubAgent, &["spawn_agent"], &["task", "agent", "workflow"]),
    (Todo, &["update_todos"], &["todowrite", "todoread", "writetodos", "updateplan", "todo", "taskcreate", "taskupdate", "tasklist", "taskget"]),
    (AskUser, &["call_user"], &["askuserquestion", "askuser", "question"]),
    (SendMessage, &["send_message"], &["sendmessage"]),
    (Skill, &[], &["skill", "activateskill", "slashcommand"]),
];

/// Folded names of tools that only other clients have; chibi has nothing like them.
const ELSEWHERE: Words = Words(
    "exitplanmode enterplanmode killshell killbash bashoutput taskoutput taskstop lsp problems think \
     teamcreate teamdelete enterworktree exitworktree croncreate crondelete cronlist monitor \
     toolsearch structuredoutput listmcpresources listmcpresourcestool readmcpresource \
     readmcpresourcetool schedulewakeup pushnotification remotetrigger",
);

/// Whether only other clients have a tool of this name.
pub fn is_elsewhere(name: &str) -> bool {
    ELSEWHERE.has(&fold(name))
}

/// Names that are not everyday words: any mention counts.
const DISTINCT: Words = Words(
    "AskUserQuestion TodoWrite TodoRead WebFetch WebSearch MultiEdit \
     NotebookEdit NotebookRead TaskCreate TaskUpdate",
);

/// Names that are also everyday words: they count in backticks, before `tool`, or as a call.
const COMMON: Words = Words("Read Write Edit Bash Grep Glob LS Task Agent");

/// The tool names mentioned in `body`, each with the offset of its first mention.
pub fn mentioned(body: &str) -> Vec<(&'static str, usize)> {
    let first = |name| (name, mentions(body, name).next());
    let distinct = DISTINCT.iter().map(first);
    let common = COMMON.iter().map(|name| {
        let meant = mentions(body, name).find(|(before, after)| {
            (before.ends_with('`') && after.starts_with(['`', '(']))
                || after.starts_with(" tool")
                || after.starts_with("` tool")
                || (after.starts_with('(') && after[1..].starts_with(char::is_alphanumeric))
        });
        (name, meant)
    });
    let all = common.chain(distinct);
    let meant = all.filter_map(|(name, meant)| meant.map(|(before, _)| (name, before.len())));
    meant.collect()
}

/// Whole-word occurrences of `name`: the text before and after each.
fn mentions<'a>(body: &'a str, name: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    body.match_indices(name).filter_map(move |(at, _)| {
        let (before, after) = (&body[..at], &body[at + name.len()..]);
        let word = |c: char| c.is_alphanumeric() || c == '_';
        (!before.ends_with(word) && !after.starts_with(word)).then_some((before, after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_translation_is_a_tool_of_the_host() {
        for (capability, provided, spellings) in ROWS {
            for name in *provided {
                assert!(super::super::find_tool(name).is_some(), "{name}");
                let exception = *capability == SendMessage;
                assert!(exception || !super::super::only_by_own_name(name), "{name}");
            }
            for (i, spelling) in spellings.iter().enumerate() {
                assert_eq!(fold(spelling), *spelling);
                assert!(!spellings[i + 1..].contains(spelling), "{spelling} twice");
                assert_eq!(Capability::named(spelling), Some(*capability), "{spelling}");
            }
        }
    }

    #[test]
    fn spelling_is_free_in_case_underscore_and_hyphen() {
        for name in ["web_fetch", "WebFetch", "web-fetch", "WEBFETCH"] {
            assert_eq!(Capability::named(name), Some(Fetch), "{name}");
        }
        assert_eq!(Capability::named("read/readFile"), Some(ReadFile));
        assert_eq!(Capability::named("file_head"), None);
    }

    #[test]
    fn a_slip_of_the_pen_is_recognised_and_a_new_word_is_not() {
        assert_eq!(nearest_tool("Reed"), Some("Read"));
        assert_eq!(nearest_tool("WebFetsh"), Some("WebFetch"));
        assert_eq!(nearest_tool("shell_exce"), Some("shell_exec"));
        assert_eq!(nearest_tool("readPaper"), None);
    }
}
