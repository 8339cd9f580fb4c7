//! The text of a shell command that runs another one confined (docs/scripts.md#commands). It is
//! handed to an agent in place of the command that was judged.

/// A command is run confined by this verb of our executable.
const VERB: &str = "confine";

/// How commands of a skill are confined.
#[derive(Debug, Clone, Copy)]
pub struct Confined<'a> {
    /// Our executable, absolute.
    pub program: &'a str,
    /// The skill's directory, absolute: its paths and its settings count.
    pub skill_dir: &'a str,
    /// The project's directory, absolute.
    pub project_dir: &'a str,
    /// The shell that would have read the command.
    pub shell: &'a str,
}

impl Confined<'_> {
    /// The command that runs `command` confined, in the words of a POSIX shell, bash or zsh; `None`
    /// if no shell can be given it.
    pub fn wrap(self, command: &str) -> Option<String> {
        let words = [
            self.program,
            VERB,
            "--skill",
            self.skill_dir,
            "--project",
            self.project_dir,
            "--",
            self.shell,
            "-c",
            command,
        ];
        let is_text = !words.iter().any(|word| word.contains('\0'));
        is_text.then(|| words.map(quoted).join(" "))
    }
}

/// A word as such a shell reads it back, whatever its options. Only what is a word of ours stays
/// without quotes: a user's rules and eyes look for it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c == '-';
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
