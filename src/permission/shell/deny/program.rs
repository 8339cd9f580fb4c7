//! Programs by name, and those that are shells.

/// Shells, which run text from an argument or from standard input.
pub const SHELLS: [&str; 11] = [
    "bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh",
];

/// The last component of a program's path.
pub fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
