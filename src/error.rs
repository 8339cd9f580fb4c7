//! The one error type: a lowercase message that names the thing and the reason, an optional hint
//! with the next step, and what caused it. Rooms supply the words.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::{fmt, fs, io};

/// What went wrong and what to do about it.
///
/// A person sees `agent-skills: <message>` and `hint: <hint>`; the model sees
/// `Error: <message>` followed by the hint.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    message: String,
    hint: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error. The message is a lowercase fragment without a final full stop.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            source: None,
        }
    }

    /// `could not <action> <path>: <reason>`, with the next step that the reason suggests.
    pub fn io(action: &str, path: &Path, source: &io::Error) -> Self {
        let (shown, reason) = (path.display(), reason(source));
        let is_denied = source.kind() == io::ErrorKind::PermissionDenied;
        let opening = is_denied.then(|| opening(path)).flatten();
        Self {
            message: format!("could not {action} `{shown}`: {reason}"),
            hint: opening.or_else(|| usual_step(source).map(str::to_owned)),
            source: Some(same(source).into()),
        }
    }

    /// `<what>: <reason>`, where another error is the reason.
    pub fn caused(
        what: impl fmt::Display,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        Self {
            message: format!("{what}: {source}"),
            hint: None,
            source: Some(Box::new(source)),
        }
    }

    /// Sets the next step, replacing an earlier one.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the next step unless there is one already.
    #[must_use]
    pub fn or_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Prepends what was being attempted: `<context>: <message>`.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Self {
        self.message = format!("{context}: {}", self.message);
        self
    }

    /// Appends a line for each cause, from the nearest to the first.
    #[must_use]
    pub fn with_causes(mut self) -> Self {
        use std::error::Error as _;
        use std::fmt::Write as _;

        let mut lines = String::new();
        let mut next = self.source();
        while let Some(cause) = next {
            let _ = write!(lines, "\ncaused by: {cause}");
            next = cause.source();
        }
        self.message += &lines;
        self
    }

    /// Message and next step as sentences, for readers that get a single text.
    pub fn with_next_step(&self) -> String {
        match self.next_step() {
            Some(question) if question.ends_with('?') => format!("{self}. Next: {question}"),
            Some(hint) => format!("{self}. Next: {hint}."),
            None => format!("{self}."),
        }
    }

    /// The next step, if any.
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// `Display` and `FromStr` of a type that has `ALL` and `as_str`; each is `$kind`, as in "a layer".
macro_rules! named {
    ($type:ty, $kind:literal) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
        impl std::str::FromStr for $type {
            type Err = $crate::error::Error;

            fn from_str(word: &str) -> $crate::error::Result<Self> {
                let all = Self::ALL.map(Self::as_str);
                let at = all.iter().position(|one| *one == word);
                at.map(|at| Self::ALL[at]).ok_or_else(|| {
                    let (word, all) = (word.escape_debug(), all.join(", "));
                    Self::Err::new(format!("`{word}` is not {}: there are {all}", $kind))
                })
            }
        }
    };
}
pub(crate) use named;

/// A second value of an I/O error, which cannot be cloned.
fn same(error: &io::Error) -> io::Error {
    let text = || io::Error::new(error.kind(), error.to_string());
    error
        .raw_os_error()
        .map_or_else(text, io::Error::from_raw_os_error)
}

/// The next step that helps against an I/O error whatever the operation.
fn usual_step(error: &io::Error) -> Option<&'static str> {
    if is_link(error) {
        return Some(
            "remove the link, or put its target in its place: nothing is written or deleted through a link",
        );
    }
    Some(match error.kind() {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::PermissionDenied => "check its permissions and its owner",
        io::ErrorKind::ReadOnlyFilesystem => "choose a place that can be written to",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the disk",
        _ => return None,
    })
}

/// `ELOOP`: a link where none is followed, or else a loop of links.
fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ELOOP)
}

/// The reason of an I/O error without `(os error N)`, lowercase like all messages.
pub fn reason(error: &io::Error) -> String {
    if is_link(error) {
        return "it is a symbolic link, or one is on the way to it".to_owned();
    }
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_io_error_reads_as_one_lowercase_sentence() {
        let error = Error::io("read", Path::new("/x"), &io::Error::from_raw_os_error(13));
        assert_eq!(error.to_string(), "could not read `/x`: permission denied");
        assert!(
            error
                .next_step()
                .is_some_and(|step| step.contains("permissions"))
        );
    }

    #[test]
    fn the_cause_is_kept() {
        use std::error::Error as _;

        let denied = io::Error::from_raw_os_error(13);
        let error = Error::io("read", Path::new("/x"), &denied).context("a");
        let outer = Error::caused("b", error);
        let inner = outer.source().unwrap();
        assert_eq!(
            inner.to_string(),
            "a: could not read `/x`: permission denied"
        );
        let cause = inner
            .source()
            .and_then(|error| error.downcast_ref::<io::Error>());
        assert_eq!(cause.unwrap().raw_os_error(), Some(13));
    }

    #[test]
    fn each_cause_has_a_line() {
        let denied = io::Error::from_raw_os_error(13);
        let error = Error::caused("b", Error::io("read", Path::new("/x"), &denied));
        assert_eq!(
            error.with_causes().to_string(),
            "b: could not read `/x`: permission denied\n\
             caused by: could not read `/x`: permission denied\n\
             caused by: Permission denied (os error 13)"
        );
        assert_eq!(Error::new("a").with_causes().to_string(), "a");
    }

    #[test]
    fn context_goes_in_front_and_keeps_the_hint() {
        let error = Error::new("b").hint("c").context("a");
        assert_eq!(
            (error.to_string().as_str(), error.next_step()),
            ("a: b", Some("c"))
        );
    }
}
