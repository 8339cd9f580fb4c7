//! The host's built-in tools as it sends them to the model (docs/hosts.md#built-in-tools), and
//! two that its older release has only as plugins. Defines what tools do and what their arguments
//! mean, not whether a call may happen.

use skill_text::{Names, Words};

/// The strongest effect that a call of a tool can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing that restrictions cover: talk, inspect the model, keep a task list.
    Harmless,
    /// Reads files, the index or another conversation.
    Read,
    /// Changes files, memory or another conversation.
    Change,
    /// Runs programs.
    Execute,
    /// Sends data to another machine or another model.
    Reach,
}

/// What an argument means to its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// A file or directory, relative to the project root unless absolute, or a `vfs:///` URI.
    Path,
    /// A glob below the tool's path argument, with or without a leading `/`.
    Glob,
    /// A shell command line.
    Command,
    /// A URL.
    Url,
    /// A URL or a path.
    Source,
    /// The name of a sub-agent preset.
    Preset,
    /// Anything that only a rule naming it considers.
    Plain,
}

/// What the text of an argument leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentTarget {
    /// A file or directory on disk: everything else than the others.
    File,
    /// A file of the host's virtual file system.
    Virtual,
    /// An address that the host fetches.
    Address,
}

impl Argument {
    /// What the host takes a text for. These are its own tests, to the letter: `vfs://x` and
    /// `HTTPS://x` are files (docs/hosts.md#what-a-relative-path-means).
    pub fn names(self, text: &str) -> ArgumentTarget {
        let is_address = || text.starts_with("http://") || text.starts_with("https://");
        match self {
            Self::Path if text.starts_with("vfs:///") => ArgumentTarget::Virtual,
            Self::Url | Self::Source if is_address() => ArgumentTarget::Address,
            _ => ArgumentTarget::File,
        }
    }
}

/// What a relative path is resolved against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathBase {
    /// The project root.
    Project,
    /// The working directory of the host process, which may be anywhere in the project.
    WorkingDirectory,
}

/// How a tool interprets a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathMeaning {
    /// The base of a relative path.
    pub base: PathBase,
    /// Whether a leading `~` means the user's home; otherwise it is an ordinary name.
    pub expands_tilde: bool,
    /// Whether an equivalent absolute path works too: the argument is a file on disk, not a URI or
    /// an index key.
    pub takes_absolute: bool,
}

impl PathMeaning {
    const fn new(base: PathBase, expands_tilde: bool, takes_absolute: bool) -> Self {
        Self {
            base,
            expands_tilde,
            takes_absolute,
        }
    }
}

/// A file of the project.
pub const PROJECT_FILE: PathMeaning = PathMeaning::new(PathBase::Project, false, true);
/// A URI or an index key.
pub const PROJECT_KEY: PathMeaning = PathMeaning::new(PathBase::Project, false, false);
/// A word of a command that runs in the project root.
pub const PROJECT_COMMAND: PathMeaning = PathMeaning::new(PathBase::Project, true, false);
/// A file where the host runs.
pub const CWD_FILE: PathMeaning = PathMeaning::new(PathBase::WorkingDirectory, false, true);
/// A word of a command that runs where the host runs.
pub const CWD_COMMAND: PathMeaning = PathMeaning::new(PathBase::WorkingDirectory, true, false);
/// Whatever it is to a plugin, which runs where the host runs.
pub const ELSEWHERE: PathMeaning = PathMeaning::new(PathBase::WorkingDirectory, false, false);

/// A tool of the host.
#[derive(Debug)]
pub struct HostTool {
    /// The name in `tool_name`, exactly.
    pub name: &'static str,
    /// Its strongest effect.
    pub effect: Effect,
    /// How it interprets its paths.
    pub paths: PathMeaning,
    /// Argument keys and their meanings.
    pub arguments: &'static [(&'static str, Argument)],
}

impl HostTool {
    /// The keys of the arguments with one of these meanings.
    pub fn keys(&self, meanings: &[Argument]) -> impl Iterator<Item = &'static str> {
        let wanted = |(_, argument): &&(&str, Argument)| meanings.contains(argument);
        self.arguments.iter().filter(wanted).map(|(key, _)| *key)
    }
}

/// The host tool of exactly this name.
pub fn find_tool(name: &str) -> Option<&'static HostTool> {
    HOST_TOOLS.iter().find(|tool| tool.name == name)
}

/// How the tool of this name interprets its paths; one that is not in the table is a plugin's.
pub fn path_meaning(name: &str) -> PathMeaning {
    find_tool(name).map_or(ELSEWHERE, |tool| tool.paths)
}

/// Whether a grant of a tool requires its own exact name, never another client's name or a prefix
/// (docs/spec/restriction.md#tool-names): its effects go beyond hooks, files or this conversation.
pub fn only_by_own_name(name: &str) -> bool {
    static THESE: Names = Names::new(
        "scheme_eval update_goals update_reflection read_context vfs_copy vfs_move vfs_delete \
         send_message",
    );
    THESE.has(name)
}

use Argument::{Command, Glob, Path, Plain, Preset, Source, Url};
use Effect::{Change, Execute, Harmless, Reach, Read};

/// Every tool of both releases that the host or its common plugins provide.
#[rustfmt::skip]
pub static HOST_TOOLS: &[HostTool] = &[
    HostTool { name: "update_todos", effect: Harmless, paths: ELSEWHERE, arguments: &[("content", Plain)] },
    HostTool { name: "update_goals", effect: Change, paths: ELSEWHERE, arguments: &[("flock", Plain), ("content", Plain)] },
    HostTool { name: "update_reflection", effect: Change, paths: ELSEWHERE, arguments: &[("content", Plain)] },
    HostTool { name: "read_context", effect: Read, paths: ELSEWHERE, arguments: &[("context_name", Plain), ("include_messages", Plain), ("num_messages", Plain)] },
    HostTool { name: "flock_join", effect: Change, paths: ELSEWHERE, arguments: &[("flock", Plain)] },
    HostTool { name: "flock_leave", effect: Change, paths: ELSEWHERE, arguments: &[("flock", Plain)] },
    HostTool { name: "flock_list", effect: Harmless, paths: ELSEWHERE, arguments: &[] },
    HostTool { name: "file_head", effect: Read, paths: PROJECT_FILE, arguments: &[("path", Path), ("lines", Plain)] },
    HostTool { name: "file_tail", effect: Read, paths: PROJECT_FILE, arguments: &[("path", Path), ("lines", Plain)] },
    HostTool { name: "file_lines", effect: Read, paths: PROJECT_FILE, arguments: &[("path", Path), ("start", Plain), ("end", Plain)] },
    HostTool { name: "file_grep", effect: Read, paths: PROJECT_FILE, arguments: &[("path", Path), ("pattern", Plain), ("context_before", Plain), ("context_after", Plain)] },
    HostTool { name: "dir_list", effect: Read, paths: PROJECT_FILE, arguments: &[("path", Path), ("depth", Plain), ("show_hidden", Plain)] },
    HostTool { name: "glob_files", effect: Read, paths: PROJECT_FILE, arguments: &[("pattern", Glob), ("path", Path), ("max_results", Plain)] },
    HostTool { name: "grep_files", effect: Read, paths: PROJECT_FILE, arguments: &[("pattern", Plain), ("path", Path), ("file_pattern", Glob), ("context_lines", Plain), ("max_results", Plain)] },
    HostTool { name: "write_file", effect: Change, paths: CWD_FILE, arguments: &[("path", Path), ("content", Plain)] },
    HostTool { name: "file_edit", effect: Change, paths: PROJECT_FILE, arguments: &[("path", Path), ("operation", Plain), ("line_start", Plain), ("line_end", Plain), ("content", Plain), ("find", Plain), ("replace", Plain)] },
    HostTool { name: "shell_exec", effect: Execute, paths: PROJECT_COMMAND, arguments: &[("command", Command), ("timeout_secs", Plain)] },
    HostTool { name: "fetch_url", effect: Reach, paths: ELSEWHERE, arguments: &[("url", Url), ("max_bytes", Plain), ("timeout_secs", Plain)] },
    HostTool { name: "index_update", effect: Change, paths: ELSEWHERE, arguments: &[("force", Plain)] },
    HostTool { name: "index_query", effect: Read, paths: PROJECT_KEY, arguments: &[("name", Plain), ("kind", Plain), ("file", Path), ("refs_to", Plain), ("limit", Plain)] },
    HostTool { name: "index_status", effect: Harmless, paths: ELSEWHERE, arguments: &[] },
    HostTool { name: "send_message", effect: Reach, paths: ELSEWHERE, arguments: &[("to", Plain), ("content", Plain), ("from", Plain)] },
    HostTool { name: "call_user", effect: Harmless, paths: ELSEWHERE, arguments: &[("message", Plain)] },
    HostTool { name: "call_agent", effect: Harmless, paths: ELSEWHERE, arguments: &[("message", Plain)] },
    HostTool { name: "model_info", effect: Harmless, paths: ELSEWHERE, arguments: &[("model", Plain)] },
    HostTool { name: "spawn_agent", effect: Reach, paths: ELSEWHERE, arguments: &[("system_prompt", Plain), ("input", Plain), ("model", Plain), ("temperature", Plain), ("max_tokens", Plain), ("preset", Preset)] },
    HostTool { name: "summarize_content", effect: Reach, paths: CWD_FILE, arguments: &[("source", Source), ("instructions", Plain), ("model", Plain), ("temperature", Plain), ("max_tokens", Plain)] },
    HostTool { name: "vfs_list", effect: Read, paths: PROJECT_KEY, arguments: &[("path", Path)] },
    HostTool { name: "vfs_info", effect: Read, paths: PROJECT_KEY, arguments: &[("path", Path)] },
    HostTool { name: "vfs_copy", effect: Change, paths: PROJECT_KEY, arguments: &[("src", Path), ("dst", Path)] },
    HostTool { name: "vfs_move", effect: Change, paths: PROJECT_KEY, arguments: &[("src", Path), ("dst", Path)] },
    HostTool { name: "vfs_mkdir", effect: Change, paths: PROJECT_KEY, arguments: &[("path", Path)] },
    HostTool { name: "vfs_delete", effect: Change, paths: PROJECT_KEY, arguments: &[("path", Path)] },
    HostTool { name: "scheme_eval", effect: Execute, paths: ELSEWHERE, arguments: &[("code", Plain)] },
    // Plugins on the older release, where file tools and the shell are all plugins.
    HostTool { name: "read_file", effect: Read, paths: CWD_FILE, arguments: &[("path", Path)] },
    HostTool { name: "run_command", effect: Execute, paths: CWD_COMMAND, arguments: &[("command", Command)] },
];

/// The tools of a runtime of skills itself, beside one for each skill, `skill_NAME`.
pub const SKILL_TOOLS: Words = Words(
    "skill_marketplace read_skill_file run_skill_script skill_session agent-skills \
     propose_skill_update create_skill",
);

/// Names in [`HOST_TOOLS`] that the newer release lacks; messages name them last.
pub fn is_plugin_of_older_host(name: &str) -> bool {
    matches!(name, "read_file" | "run_command")
}

/// Whether the older release has a tool, built in or from a common plugin.
pub fn is_on_older_host(name: &str) -> bool {
    is_plugin_of_older_host(name)
        || matches!(name, "update_todos" | "update_goals" | "update_reflection")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_a_meaning_of_paths_exactly_if_it_takes_one() {
        for tool in HOST_TOOLS {
            let takes_one = tool.keys(&[Path, Glob, Source, Command]).next().is_some();
            let is_default = tool.paths == ELSEWHERE;
            assert_eq!(takes_one, !is_default, "{}", tool.name);
        }
    }

    #[test]
    fn only_the_hosts_own_prefixes_lead_elsewhere_than_to_files() {
        for (argument, text, named) in [
            (Path, "vfs:///shared/a", ArgumentTarget::Virtual),
            (Path, "vfs:///", ArgumentTarget::Virtual),
            (Path, "vfs://shared/a", ArgumentTarget::File),
            (Path, "vfs://../a", ArgumentTarget::File),
            (Path, "vfs:/a", ArgumentTarget::File),
            (Path, "VFS:///a", ArgumentTarget::File),
            (Path, " vfs:///a", ArgumentTarget::File),
            (Path, "https://x.org", ArgumentTarget::File),
            (Source, "https://x.org", ArgumentTarget::Address),
            (Source, "http://x.org", ArgumentTarget::Address),
            (Source, "HTTPS://x.org", ArgumentTarget::File),
            (Source, " https://x.org", ArgumentTarget::File),
            (Source, "https:x.org", ArgumentTarget::File),
            (Source, "https:/x.org", ArgumentTarget::File),
            (Source, "vfs:///a", ArgumentTarget::File),
            (Url, "https://x.org", ArgumentTarget::Address),
            (Url, "https:x.org", ArgumentTarget::File),
        ] {
            assert_eq!(argument.names(text), named, "{argument:?} {text}");
        }
    }

    #[test]
    fn names_are_unique_and_keys_are_found_by_meaning() {
        for (i, tool) in HOST_TOOLS.iter().enumerate() {
            assert!(HOST_TOOLS[i + 1..].iter().all(|t| t.name != tool.name));
        }
        let copy = find_tool("vfs_copy").unwrap();
        assert_eq!(copy.keys(&[Path]).collect::<Vec<_>>(), ["src", "dst"]);
    }
}
