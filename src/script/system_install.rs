//! How the user installs a missing program.

/// How to install a program for which no command is declared.
pub fn system_install(program: &str) -> String {
    format!(
        "the user can install it with the system's package manager, for example \
         `sudo apt install {program}` or `brew install {program}`"
    )
}
