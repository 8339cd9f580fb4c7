//! Which arguments an entry covers: the text in its parentheses, interpreted by the tool's argument
//! types (docs/spec/restriction.md#argument-patterns).

use super::command_pattern::CommandPattern;
use super::domain::DomainPattern;
use super::entry_grammar::{EntryError, NOT_A_NAME};
use super::path_pattern::PathPattern;
use super::placeholders::Placeholders;
use super::tool_matcher::ToolMatcher;
use crate::vocabulary::{Argument, Capability, HOST_TOOLS, HostTool, fold};

const NOTEBOOK: &str = ".ipynb";

/// Which arguments a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgMatcher {
    /// All arguments.
    Any,
    /// Commands that match one of these.
    Command(Vec<CommandPattern>),
    /// Paths that match this one.
    Path(PathPattern),
    /// URLs of this domain.
    Domain(DomainPattern),
    /// Sub-agents of these presets.
    Presets(Vec<String>),
    /// Text arguments that match these globs, all of them.
    Arguments(Vec<(String, String)>),
    /// The skill of this name. In a denial it may be a glob.
    Skill(String),
    /// No arguments: the entry is malformed or needs something this host lacks.
    Nothing,
}

impl ArgMatcher {
    /// Parses the text in the parentheses of an entry for `subject`.
    ///
    /// # Errors
    /// If the entry cannot match anything.
    pub fn parse(
        subject: &ToolMatcher,
        body: Option<&str>,
        directories: &Placeholders,
    ) -> Result<Self, EntryError> {
        const UNKNOWN: EntryError = (
            "unsupported-pattern",
            "this tool takes no pattern of this kind",
        );
        let path = |body: &str| PathPattern::parse(&directories.split(body)).map(Self::Path);
        let body = body.filter(|body| *body != "*");
        match (subject, body) {
            (ToolMatcher::Unclear, _) => Err(NOT_A_NAME),
            (ToolMatcher::Capability(Capability::EditNotebook), None) => path("//**/*.ipynb"),
            (ToolMatcher::Programs(programs), None) => {
                let patterns = programs.iter().map(|name| CommandPattern::program(name));
                Ok(Self::Command(patterns.collect()))
            }
            (_, None) => Ok(Self::Any),
            (ToolMatcher::Named(name), Some(body)) => {
                match HOST_TOOLS.iter().find(|tool| fold(tool.name) == *name) {
                    Some(tool) => Self::of_host_tool(tool, body, directories),
                    None => arguments(body),
                }
            }
            (ToolMatcher::Capability(capability), Some(body)) => match capability {
                Capability::Shell => command(body, directories),
                Capability::Fetch => DomainPattern::parse(body).map(Self::Domain),
                Capability::SubAgent => {
                    let presets = body.split([',', ' ']).filter(|preset| !preset.is_empty());
                    Ok(Self::Presets(presets.map(str::to_owned).collect()))
                }
                Capability::Skill => {
                    let name = [" *", ":*"].iter().find_map(|end| body.strip_suffix(end));
                    // As in `SlashCommand(/name:*)`.
                    let name = name.unwrap_or(body).trim_start_matches('/');
                    Ok(Self::Skill(name.trim_end().to_owned()))
                }
                Capability::ReadFile
                | Capability::SearchContent
                | Capability::FindFiles
                | Capability::ListDirectory
                | Capability::WriteFile
                | Capability::EditFile => path(body),
                Capability::EditNotebook if body.ends_with(NOTEBOOK) => path(body),
                _ => Err(UNKNOWN),
            },
            _ => Err(UNKNOWN),
        }
    }

    /// Parses a pattern for a host tool named directly: `param:glob`. Commands and paths are never
    /// compared as text.
    fn of_host_tool(
        tool: &HostTool,
        body: &str,
        directories: &Placeholders,
    ) -> Result<Self, EntryError> {
        // The text for an argument of this meaning, with or without the argument's name.
        let text_for = |meaning: Argument| {
            let meanings = [meaning];
            let mut keys = tool.keys(&meanings).peekable();
            keys.peek()?;
            let named = |key| Some(body.strip_prefix(key)?.strip_prefix(':')?.trim());
            Some(keys.find_map(named).unwrap_or(body))
        };
        match (text_for(Argument::Command), text_for(Argument::Path)) {
            (Some("*"), _) | (None, Some("*")) => Ok(Self::Any),
            (Some(body), _) => command(body, directories),
            (None, Some(body)) => PathPattern::parse(&directories.split(body)).map(Self::Path),
            _ if body.starts_with("domain:") && text_for(Argument::Url).is_some() => {
                DomainPattern::parse(body).map(Self::Domain)
            }
            _ => arguments(body),
        }
    }
}

fn command(body: &str, directories: &Placeholders) -> Result<ArgMatcher, EntryError> {
    let pattern = CommandPattern::parse(&directories.split(body))?;
    // One skill generator emits `cmd:*` (docs/spec/restriction.md#command-patterns).
    if pattern == CommandPattern::program("cmd") {
        return Err(("placeholder", "`cmd` is a placeholder, not a program"));
    }
    Ok(ArgMatcher::Command(vec![pattern]))
}

/// Parses `key:glob, key:glob`.
fn arguments(body: &str) -> Result<ArgMatcher, EntryError> {
    let pair = |pair: &str| {
        let (key, glob) = pair.trim().split_once(':')?;
        let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let valid = !key.is_empty() && key.chars().all(is_key);
        valid.then(|| (key.to_owned(), glob.trim().to_owned()))
    };
    let pairs: Option<Vec<_>> = body.split(',').map(pair).collect();
    pairs.map(ArgMatcher::Arguments).ok_or((
        "unsupported-pattern",
        "a pattern for this tool is `argument:glob`",
    ))
}
