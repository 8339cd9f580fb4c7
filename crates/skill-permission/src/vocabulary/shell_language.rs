//! Which shell runs a host's commands, and whether it persists between commands.

/// A shell grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// `sh`: bash, dash or busybox ash, depending on the system.
    #[default]
    Sh,
    /// The user's own shell, bash or zsh.
    BashOrZsh,
    /// fish, PowerShell or an unknown shell.
    Other,
}

/// How a host runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shell {
    /// The grammar of the command.
    pub language: Language,
    /// Whether it keeps the previous command's directory and variables.
    pub persists: bool,
}

/// `sh -c` for each command, as in chibi.
pub const SH: Shell = Shell {
    language: Language::Sh,
    persists: false,
};

/// bash or zsh, anew for each command.
pub const BASH_OR_ZSH: Shell = Shell {
    language: Language::BashOrZsh,
    persists: false,
};
