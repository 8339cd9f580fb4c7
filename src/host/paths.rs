//! What a relative path and `~` mean to each of chibi's tools, from its source and from experiments
//! (docs/host-protocol.md).

/// What a relative path is resolved against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The project root.
    Project,
    /// The working directory of the host process, which may be anywhere in the project.
    WorkingDirectory,
}

/// How a tool interprets a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathMeaning {
    /// The base of a relative path.
    pub base: Base,
    /// Whether a leading `~` means the user's home; otherwise it is an ordinary name.
    pub expands_tilde: bool,
    /// Whether an equivalent absolute path works too: the argument is a file on disk, not a URI or
    /// an index key.
    pub takes_absolute: bool,
}

/// How a tool interprets its paths.
pub fn meaning(tool: &str) -> PathMeaning {
    let named = |(name, ..): &&Row| *name == tool;
    let (_, base, expands_tilde, takes_absolute) =
        TOOLS.iter().find(named).copied().unwrap_or(OTHER);
    PathMeaning {
        base,
        expands_tilde,
        takes_absolute,
    }
}

/// Tool, base of relative paths, whether it expands `~`, whether it takes absolute paths.
type Row = (&'static str, Base, bool, bool);

/// A tool not in the table: a plugin, running in the host's working directory.
const OTHER: Row = ("", Base::WorkingDirectory, false, false);

use Base::{Project, WorkingDirectory};

static TOOLS: &[Row] = &[
    ("file_head", Project, false, true),
    ("file_tail", Project, false, true),
    ("file_lines", Project, false, true),
    ("file_grep", Project, false, true),
    ("dir_list", Project, false, true),
    ("glob_files", Project, false, true),
    ("grep_files", Project, false, true),
    ("file_edit", Project, false, true),
    ("write_file", WorkingDirectory, false, true),
    ("summarize_content", WorkingDirectory, false, true),
    ("index_query", Project, false, false),
    ("shell_exec", Project, true, false),
    ("vfs_list", Project, false, false),
    ("vfs_info", Project, false, false),
    ("vfs_copy", Project, false, false),
    ("vfs_move", Project, false, false),
    ("vfs_mkdir", Project, false, false),
    ("vfs_delete", Project, false, false),
    // Common plugins of the older release.
    ("read_file", WorkingDirectory, false, true),
    ("run_command", WorkingDirectory, true, false),
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
