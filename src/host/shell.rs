//! Which shell reads a host's commands, and whether it lives on from one command to the next.

/// A shell as far as its grammar matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// `sh`, which is bash, dash or busybox ash as the system has it.
    #[default]
    Sh,
    /// The user's own shell, which may be bash or zsh.
    BashOrZsh,
    /// fish, PowerShell, or one that is not known.
    Other,
}

/// How a host runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shell {
    /// What the command is written in.
    pub language: Language,
    /// Whether its directory and variables are those that the command before left.
    pub persists: bool,
}

/// chibi runs `sh -c` for each command, in the project's root.
pub const CHIBI: Shell = Shell {
    language: Language::Sh,
    persists: false,
};
