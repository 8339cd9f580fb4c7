//! What a relative path and a `~` mean to each of chibi's tools: read in its source and tried
//! (docs/host-protocol.md). A path has no meaning of its own, only what the called tool makes of it.

/// Where a relative path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The project's root.
    Project,
    /// The working directory of the host's process, which may lie anywhere in the project.
    WorkingDirectory,
}

/// What a tool makes of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathMeaning {
    /// Where a relative one begins.
    pub base: Base,
    /// Whether a `~` in front is the user's home; else it is a name like any other.
    pub expands_tilde: bool,
}

/// How a tool understands its paths.
pub fn meaning(tool: &str) -> PathMeaning {
    let named = |(name, ..): &&(&str, Base, bool)| *name == tool;
    let (_, base, expands_tilde) = TOOLS.iter().find(named).copied().unwrap_or(OTHER);
    PathMeaning {
        base,
        expands_tilde,
    }
}

/// A tool that is in no row: a plugin, which runs where the host runs.
const OTHER: (&str, Base, bool) = ("", Base::WorkingDirectory, false);

use Base::{Project, WorkingDirectory};

/// Tool, where its relative paths begin, and whether it expands `~`.
static TOOLS: &[(&str, Base, bool)] = &[
    ("file_head", Project, false),
    ("file_tail", Project, false),
    ("file_lines", Project, false),
    ("file_grep", Project, false),
    ("dir_list", Project, false),
    ("glob_files", Project, false),
    ("grep_files", Project, false),
    ("file_edit", Project, false),
    ("write_file", WorkingDirectory, false),
    ("summarize_content", WorkingDirectory, false),
    ("index_query", Project, false),
    ("shell_exec", Project, true),
    ("vfs_list", Project, false),
    ("vfs_info", Project, false),
    ("vfs_copy", Project, false),
    ("vfs_move", Project, false),
    ("vfs_mkdir", Project, false),
    ("vfs_delete", Project, false),
    // Customary plugins of the older release.
    ("read_file", WorkingDirectory, false),
    ("run_command", WorkingDirectory, true),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tools::{Argument, HOST_TOOLS};

    #[test]
    fn every_tool_that_takes_a_path_or_a_command_has_a_row() {
        let places = [
            Argument::Path,
            Argument::Glob,
            Argument::Source,
            Argument::Command,
        ];
        for tool in HOST_TOOLS {
            let has_row = TOOLS.iter().any(|(name, ..)| *name == tool.name);
            assert_eq!(
                tool.keys(&places).next().is_some(),
                has_row,
                "{}",
                tool.name
            );
        }
    }
}
