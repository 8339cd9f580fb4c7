//! Validated fields of a lockfile entry: where a skill is in its source. A lockfile may come with a
//! repository, so each is parsed before it is used in a path, a git argument or a message.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::marketplace::reference::{OciAt, Pin, SubPath};
use crate::skill::visible;
use crate::sys::checked_text;

/// What an install is pinned to: the full name of a branch or tag, a commit id, the digest of an
/// archive, or a registry's tag or digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LockRef(String);

/// A skill's directory in its source; empty for the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LockPath(String);

impl LockRef {
    /// # Errors
    /// When it is neither a ref nor a commit id, nor a tag or digest of a registry.
    pub fn parse(written: &str) -> Result<Self> {
        if OciAt::parse(written).is_err() && Pin::parse(written).is_none() {
            return Err(no(written, "what a skill is pinned to"));
        }
        Ok(Self(written.to_owned()))
    }
}

impl From<&Pin> for LockRef {
    fn from(pin: &Pin) -> Self {
        Self(pin.to_string())
    }
}

impl LockPath {
    /// # Errors
    /// When it leaves the source or contains deceptive characters.
    pub fn parse(written: &str) -> Result<Self> {
        let leads_elsewhere = written.starts_with('/') || SubPath::parse(written).is_err();
        if !written.is_empty() && (leads_elsewhere || visible(written) != written) {
            return Err(no(written, "the path of a skill in its source"));
        }
        Ok(Self(written.to_owned()))
    }
}

fn no(written: &str, what: &str) -> Error {
    let written = written.escape_debug().to_string();
    Error::new(format!("`{}` cannot be {what}", visible(&written)))
}

checked_text!(LockRef LockPath);

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;

    fn reads<T: DeserializeOwned>(written: &str) -> bool {
        serde_json::from_value::<T>(written.into()).is_ok()
    }

    const HOSTILE: [&str; 12] = [
        "--upload-pack=touch x",
        "--upload-pack=x",
        "-u",
        "HEAD:..",
        "../..",
        "a/../../b",
        "/etc",
        "a\u{1b}[2Jb",
        "a\u{202e}b",
        "a\u{200b}b",
        "a\nb",
        "a\0b",
    ];

    #[test]
    fn no_field_is_an_option_a_way_out_or_a_deceit() {
        for hostile in HOSTILE {
            assert!(!reads::<LockRef>(hostile), "{hostile:?}");
            // Git gets each path after `:(literal)`, so none of them can be an option.
            let is_plain = hostile.starts_with('-') || hostile == "HEAD:..";
            assert_eq!(reads::<LockPath>(hostile), is_plain, "{hostile:?}");
        }
    }

    #[test]
    fn what_was_kept_is_read() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        for rev in ["refs/heads/main", "refs/tags/v1", "v1", id] {
            assert!(reads::<LockRef>(rev), "{rev}");
        }
        for path in ["", "skills/pdf", "My Skills/技能", "-x/pdf"] {
            assert!(reads::<LockPath>(path), "{path}");
        }
    }

    #[test]
    fn what_is_refused_is_shown_as_it_can_be_seen() {
        for hostile in HOSTILE {
            let errors = [
                LockRef::parse(hostile).err(),
                LockPath::parse(hostile).err(),
            ];
            for error in errors.into_iter().flatten() {
                let text = error.to_string();
                assert_eq!(visible(&text), text);
            }
        }
    }
}
