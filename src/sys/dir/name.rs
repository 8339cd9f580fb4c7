//! One path component, and a sequence of them: what `Dir` takes instead of a path.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::sync::atomic::{AtomicU32, Ordering};

/// The maximum length of a file name in bytes, on most file systems.
const LONGEST: usize = 255;

/// The name of one directory entry: not empty, no `/`, no NUL, neither `.` nor `..`. It cannot lead
/// out of the directory in which it is looked up.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryName(Cow<'static, [u8]>);

impl EntryName {
    /// A constant name, checked at compile time.
    ///
    /// # Panics
    /// When it is not the name of one entry.
    pub const fn from_static(name: &'static str) -> Self {
        assert!(is_one(name.as_bytes()), "not the name of one entry");
        Self(Cow::Borrowed(name.as_bytes()))
    }

    /// Parses a name; `None` if it is not a single path component.
    pub fn parse(name: impl AsRef<OsStr>) -> Option<Self> {
        let bytes = name.as_ref().as_bytes();
        is_one(bytes).then(|| Self(Cow::Owned(bytes.to_owned())))
    }

    /// A variant of this name that no other process or call uses. It starts with a dot and ends in
    /// `.tmp`, by which it is recognised if a kill leaves it behind.
    #[must_use]
    pub fn temporary(&self) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let begin = &self.0[..self.0.len().min(LONGEST / 2)];
        let end = format!(".{}-{count}.tmp", std::process::id());
        Self(Cow::Owned([b".", begin, end.as_bytes()].concat()))
    }

    /// This name, shortened if necessary, with `end` appended.
    #[must_use]
    pub fn with_end(&self, end: &Self) -> Self {
        let room = (LONGEST - end.0.len()).min(self.0.len());
        Self(Cow::Owned([&self.0[..room], &end.0].concat()))
    }

    /// The name as an OS string.
    pub fn as_os_str(&self) -> &OsStr {
        OsStr::from_bytes(&self.0)
    }

    /// The name as text, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

impl fmt::Debug for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_os_str().fmt(f)
    }
}

const fn is_one(name: &[u8]) -> bool {
    if name.is_empty() || name.len() > LONGEST || matches!(name, b"." | b"..") {
        return false;
    }
    let mut at = 0;
    while at < name.len() {
        if matches!(name[at], b'/' | 0) {
            return false;
        }
        at += 1;
    }
    true
}

/// A relative path that only descends: one or more names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPath {
    through: Vec<EntryName>,
    last: EntryName,
}

impl EntryPath {
    /// Parses a path; `None` if it is empty, absolute or contains `..`.
    pub fn parse(path: impl AsRef<Path>) -> Option<Self> {
        let names = path.as_ref().components().filter_map(|part| match part {
            Component::CurDir => None,
            Component::Normal(name) => Some(EntryName::parse(name)),
            _ => Some(None),
        });
        let mut through: Vec<_> = names.collect::<Option<_>>()?;
        let last = through.pop()?;
        Some(Self { through, last })
    }

    /// The names up to the last one, and the last one.
    pub(super) fn split(&self) -> (&[EntryName], &EntryName) {
        (&self.through, &self.last)
    }
}

impl From<EntryName> for EntryPath {
    fn from(last: EntryName) -> Self {
        let through = Vec::new();
        Self { through, last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_single_name_is_none() {
        for bad in ["", ".", "..", "/", "a/b", "a/", "a\0", &"x".repeat(256)] {
            assert_eq!(EntryName::parse(bad), None, "{bad:?}");
        }
        for good in ["a", "...", ".a", "a b", "-", "\u{202e}", &"x".repeat(255)] {
            assert!(EntryName::parse(good).is_some(), "{good:?}");
        }
        for bad in ["", ".", "..", "/a", "a/../b", "a/..", "a\0"] {
            assert_eq!(EntryPath::parse(bad), None, "{bad:?}");
        }
        assert_eq!(EntryPath::parse("./a//b/"), EntryPath::parse("a/b"));
    }

    proptest! {
        #[test]
        fn a_name_is_one_component_and_what_is_made_of_it_too(text in any::<String>()) {
            if let Some(name) = EntryName::parse(&text) {
                for name in [name.temporary(), name.with_end(&EntryName::from_static(".lock")), name] {
                    let path = Path::new(name.as_os_str());
                    prop_assert!(matches!(path.components().collect::<Vec<_>>()[..], [Component::Normal(_)]));
                    prop_assert_eq!(EntryName::parse(name.as_os_str()), Some(name));
                }
            }
        }
    }
}
