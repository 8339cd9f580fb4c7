//! Which shell runs a host's commands.

/// A shell grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shell {
    /// `sh`: bash, dash or busybox ash, depending on the system.
    #[default]
    Sh,
    /// The user's own shell, bash or zsh.
    BashOrZsh,
    /// fish, PowerShell or an unknown shell.
    Other,
}

/// chibi runs `sh -c` for each command, in the project root.
pub const CHIBI: Shell = Shell::Sh;
