//! Which tools an entry covers, by its name alone (docs/spec/restriction.md#tool-names).

use std::collections::BTreeSet;

use super::call::OurTool;
use super::entry_grammar::{Purpose, is_name};
use crate::vocabulary::{self, Capability, fold};

/// What marks the tool of an MCP server whatever the server's name.
pub const MCP_PREFIX: &str = "mcp/";

/// Which tools a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolMatcher {
    /// All tools: a bare `*`.
    Everything,
    /// A capability that other clients' names map to.
    Capability(Capability),
    /// Commands that begin with one of these words: a program listed as if it were a tool.
    Programs(&'static [&'static str]),
    /// A tool of this name, folded, including the host's own.
    Named(String),
    /// Tools whose names begin with this; a grant, never one that requires its exact name.
    Prefix(String),
    /// A tool of an MCP server, by the host's name for it, or a prefix of such names.
    Mcp {
        /// What an agent calls a plugin's server before its own name.
        bundle: String,
        /// Server and tool.
        name: String,
        /// Whether more characters may follow.
        open: bool,
    },
    /// Text that is no tool's name, as `Bash;` or `Bash:rm`. It may have meant any tool, so a denial
    /// covers all and a grant none.
    Unclear,
}

/// A tool, with the facts needed to tell whether a rule covers it.
#[derive(Debug, Clone, Copy)]
pub struct CalledTool<'a> {
    /// Its name.
    pub name: &'a str,
    /// Which of our tools it is.
    pub ours: Option<OurTool<'a>>,
    /// Whether the host attributes it to an MCP server.
    pub is_mcp: bool,
}

impl<'a> CalledTool<'a> {
    /// A tool by name.
    pub fn new(name: &'a str, ours: Option<OurTool<'a>>, mcp_tools: &BTreeSet<String>) -> Self {
        let is_mcp = mcp_tools.contains(name);
        let tool = Self { name, ours, is_mcp };
        let is_mcp = is_mcp && !tool.is_the_hosts_or_ours();
        Self { is_mcp, ..tool }
    }

    /// Whether no plugin and no MCP server provides it.
    fn is_the_hosts_or_ours(&self) -> bool {
        self.ours.is_some() || vocabulary::find_tool(self.name).is_some()
    }

    /// Whether a plugin provides it, as far as the host said.
    pub fn is_plugins(&self) -> bool {
        !self.is_mcp && !self.is_the_hosts_or_ours()
    }

    /// A tool of the host, by exact name.
    pub fn host(name: &'static str) -> CalledTool<'static> {
        CalledTool {
            name,
            ours: None,
            is_mcp: false,
        }
    }
}

impl ToolMatcher {
    /// Resolves an entry's name.
    pub fn parse(name: &str) -> Self {
        match name {
            "*" => return Self::Everything,
            name if !is_name(name) => return Self::Unclear,
            _ => {}
        }
        if let Some(capability) = Capability::named(name) {
            return Self::Capability(capability);
        }
        if let Some(programs) = vocabulary::program_words(name) {
            return Self::Programs(programs);
        }
        Self::mcp(name).unwrap_or_else(|| match name.strip_suffix('*') {
            Some(prefix) if prefix.len() >= 3 && !prefix.contains('*') => {
                Self::Prefix(with_underscores(prefix))
            }
            _ if name.contains('*') => Self::Unclear,
            _ => Self::Named(fold(name)),
        })
    }

    /// `mcp__S__T`, `mcp__S__*`, `mcp__S`, `mcp/S:T`, `S:T`, `S/T` and `mcp_S*`; either part may end
    /// in `*`.
    fn mcp(name: &str) -> Option<Self> {
        let name = &name.to_ascii_lowercase();
        let starts = |start: &str| {
            let (before, rest) = name.split_at_checked(start.len())?;
            (with_underscores(before) == start).then_some(rest)
        };
        let (server, tool) = if let Some(rest) = starts("mcp__") {
            rest.split_once("__").unwrap_or((rest, "*"))
        } else if let Some(rest) = starts("mcp_") {
            (rest, "*")
        } else {
            let (path, tool) = name.rsplit_once([':', '/'])?;
            let server = path.rsplit('/').next().unwrap_or(path);
            // `Bash:rm` means a pattern, not a tool of a server `Bash`.
            let mut parts = server.split(':').map(|part| part.trim_end_matches('*'));
            if !path.starts_with(MCP_PREFIX) && parts.any(is_known_tool) {
                return Some(Self::Unclear);
            }
            (server, tool)
        };
        // A plugin's server is `plugin_<plugin>_<server>` in its agent; the host uses the server's own
        // name. Neither has a `_`, other than the one between them.
        let bundled = server.strip_prefix("plugin_");
        let start = bundled.and_then(|rest| Some(server.len() - rest.len() + rest.find('_')? + 1));
        let (bundle, server) = server.split_at(start.unwrap_or(0));
        let (bundle, server, tool) = (
            with_underscores(bundle),
            &*with_underscores(server),
            &*with_underscores(tool),
        );
        let (name, open) = match (server.strip_suffix('*'), tool.strip_suffix('*')) {
            (Some(server), _) => (server.to_owned(), true),
            (None, Some(tool)) => (format!("{server}_{tool}"), true),
            (None, None) => (format!("{server}_{tool}"), false),
        };
        let usable = bundle.len() + name.len() >= 3 && !name.contains('*');
        usable.then_some(Self::Mcp { bundle, name, open })
    }

    /// The host tools it covers by exact name, best first.
    pub fn host_tools(&self) -> &'static [&'static str] {
        match self {
            Self::Capability(capability) => capability.tools(),
            Self::Programs(_) => Capability::Shell.tools(),
            _ => &[],
        }
    }

    /// Whether it covers a tool. What narrows a grant, because it could reach too far, does not
    /// narrow a denial.
    pub fn covers(&self, tool: &CalledTool<'_>, purpose: Purpose) -> bool {
        let denies = purpose == Purpose::Deny;
        match self {
            Self::Everything => true,
            Self::Unclear => denies,
            Self::Capability(Capability::WebSearch) => {
                tool.ours.is_none() && !tool.is_mcp && fold(tool.name) == "websearch"
            }
            Self::Capability(Capability::Skill) => {
                matches!(tool.ours, Some(OurTool::Skill { .. }))
            }
            Self::Capability(_) | Self::Programs(_) => {
                tool.ours.is_none() && self.host_tools().contains(&tool.name)
            }
            Self::Named(name) => fold(tool.name) == *name,
            Self::Prefix(prefix) => {
                let reachable = match tool.ours {
                    _ if denies => true,
                    Some(ours) => matches!(ours, OurTool::Skill { .. }),
                    None => !vocabulary::only_by_own_name(tool.name),
                };
                // `Bash*` begins with another client's name, `read_*` with a part of a host's.
                let alias = || Capability::named(prefix).filter(|_| !prefix.ends_with('_'));
                reachable && with_underscores(tool.name).starts_with(prefix)
                    || denies
                        && alias().is_some_and(|it| Self::Capability(it).covers(tool, purpose))
            }
            // A server may not have been reported yet.
            Self::Mcp { .. } if denies && tool.is_the_hosts_or_ours() => false,
            Self::Mcp { .. } if !denies && !tool.is_mcp => false,
            Self::Mcp { bundle, name, open } => {
                let called = with_underscores(tool.name);
                let is_named =
                    |called: &str| called == name || *open && called.starts_with(&**name);
                match called.strip_prefix(&**bundle) {
                    Some(own) => is_named(own),
                    // `plugin_NAME_*` means no tool by another name.
                    None => name.len() >= 3 && is_named(&called),
                }
            }
        }
    }
}

/// A name in the form prefixes are compared in: the `_` between server and tool stays.
pub fn with_underscores(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

/// Whether a name is a host's tool in any client's words, a program or, by its form, one of ours.
pub fn is_known_tool(name: &str) -> bool {
    let is_named = |known: &str| fold(known) == fold(name);
    Capability::named(name).is_some()
        || vocabulary::is_elsewhere(name)
        || vocabulary::program_words(name).is_some()
        || vocabulary::HOST_TOOLS
            .iter()
            .any(|tool| is_named(tool.name))
        || vocabulary::SKILL_TOOLS.iter().any(is_named)
        || with_underscores(name).starts_with("skill_")
}
