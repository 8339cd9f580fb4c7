//! The next step against what keeps a file from being used: a command to be copied from a message.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Opens what is the user's own and closed to them, if that is why `path` cannot be used.
pub fn opening(path: &Path) -> Option<String> {
    let lacks = |path: &Path, of_dir: u32, of_file: u32| {
        let found = fs::metadata(path).ok();
        found.is_some_and(|found| {
            let needed = if found.is_dir() { of_dir } else { of_file };
            found.uid() == rustix::process::geteuid().as_raw() && found.mode() & needed != needed
        })
    };
    let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
    above.reverse();
    let closed = above.iter().copied().find(|dir| lacks(dir, 0o100, 0));
    let closed = closed.or_else(|| Some(path).filter(|path| lacks(path, 0o700, 0o400)));
    let closed = closed.or_else(|| path.parent().filter(|dir| lacks(dir, 0o200, 0)));
    closed.map(|closed| format!("`chmod u+rwX {}`", word(&closed.display().to_string())))
}

/// [`opening`], or else moves the damaged file away; `then` says what that means.
pub fn past(path: &Path, then: &str) -> String {
    opening(path).unwrap_or_else(|| {
        let path = path.display();
        let words = [format!("{path}"), format!("{path}.damaged")].map(|path| word(&path));
        format!("`mv {}`: {then}", words.join(" "))
    })
}

/// A word as a shell reads it back.
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@,=+%#".contains(c);
    if text.chars().all(is_plain) && !text.is_empty() && !text.starts_with('#') {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
