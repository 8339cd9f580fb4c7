//! The state that `update --to` names. Pure.

use std::fmt;

use crate::error::{Error, Result};
use crate::skill::one_line;

/// What stands before the digest of an archive, which is its commit.
const ARCHIVE: &str = "sha256:";

/// A commit, or the digest of an archive, or the beginning of one of them. It is written as it is
/// read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target(String);

impl Target {
    /// Parses a commit of a lockfile, or at least 12 of its digits.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn parse(written: &str) -> Result<Self> {
        let written = written.to_ascii_lowercase();
        let digits = written.strip_prefix(ARCHIVE).unwrap_or(&written);
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_long = (12..=64).contains(&digits.len());
        let refused = || Error::new("give at least 12 digits of a commit, or of `sha256:…`");
        (is_hex && is_long)
            .then_some(Self(written))
            .ok_or_else(refused)
    }

    /// Checks that a source is at what was looked at: it may have changed since.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self, now: Option<&str>) -> Result<()> {
        let now = now.unwrap_or("no commit");
        if now.starts_with(&self.0) {
            return Ok(());
        }
        let text = format!("its source is now at {}, not at {self}", one_line(now));
        Err(Error::new(text).hint("look at it again with `update --dry-run --diff`"))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_written_as_it_is_read() {
        let id = "0123456789abcdef".repeat(4);
        let archive = format!("sha256:{id}");
        for (commit, others) in [
            (&id, &archive),
            (&archive, &id),
            (&id[..40].to_owned(), &archive),
        ] {
            let target = Target::parse(commit).unwrap();
            assert_eq!(Target::parse(&target.to_string()).unwrap(), target);
            assert!(target.check(Some(commit)).is_ok());
            assert!(target.check(Some(others)).is_err() && target.check(None).is_err());
            let start = Target::parse(&commit[..commit.len() - 9].to_uppercase()).unwrap();
            assert!(start.check(Some(commit)).is_ok() && start.check(Some(others)).is_err());
        }
        for none in [
            "",
            "0123456789a",
            "sha256:0123456789a",
            "main",
            "sha1:0123456789ab",
            &(id + "0"),
        ] {
            assert!(Target::parse(none).is_err(), "{none}");
        }
    }
}
