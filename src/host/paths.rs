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

impl PathMeaning {
    const fn new(base: Base, expands_tilde: bool, takes_absolute: bool) -> Self {
        Self {
            base,
            expands_tilde,
            takes_absolute,
        }
    }
}

use Base::{Project, WorkingDirectory};

/// A file of the project.
pub const PROJECT_FILE: PathMeaning = PathMeaning::new(Project, false, true);
/// A URI or an index key.
pub const PROJECT_KEY: PathMeaning = PathMeaning::new(Project, false, false);
/// A word of a command that runs in the project root.
pub const PROJECT_COMMAND: PathMeaning = PathMeaning::new(Project, true, false);
/// A file where the host runs.
pub const CWD_FILE: PathMeaning = PathMeaning::new(WorkingDirectory, false, true);
/// A word of a command that runs where the host runs.
pub const CWD_COMMAND: PathMeaning = PathMeaning::new(WorkingDirectory, true, false);
/// Whatever it is to a plugin, which runs where the host runs.
pub const ELSEWHERE: PathMeaning = PathMeaning::new(WorkingDirectory, false, false);
