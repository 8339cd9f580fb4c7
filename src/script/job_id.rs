//! What identifies a job, or a directory among those of the jobs.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};
use crate::sys::hash;

/// A job's id. It cannot be guessed: using a job takes its id and its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobId(String);

/// 64 bits in hexadecimal digits.
const LENGTH: usize = 16;

impl JobId {
    /// A new random id.
    ///
    /// # Errors
    /// When the system has no random bytes.
    #[expect(clippy::disallowed_methods, reason = "a device of the system")]
    pub fn random() -> Result<Self> {
        let mut bytes = [0; LENGTH / 2];
        File::open("/dev/urandom")
            .and_then(|mut source| source.read_exact(&mut bytes))
            .map_err(|source| Error::io("read", "/dev/urandom".as_ref(), &source))?;
        Ok(Self(format!("{:016x}", u64::from_ne_bytes(bytes))))
    }

    /// The id of what all commands of the skill in this directory share, which is no job.
    pub fn of_skill(dir: &Path) -> Self {
        Self(format!("{:016x}", hash(dir.as_os_str().as_encoded_bytes())))
    }

    /// Parses an id as somebody wrote it; `None` if it cannot be one.
    pub fn parse(written: &str) -> Option<Self> {
        let written = written.trim();
        let is_ours = written.len() == LENGTH
            && written
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        is_ours.then(|| Self(written.to_owned()))
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_survive_being_written() {
        let (one, two) = (JobId::random().unwrap(), JobId::random().unwrap());
        assert_ne!(one, two);
        assert_eq!(JobId::parse(one.as_str()), Some(one.clone()));
        assert_eq!(JobId::parse(&format!(" {one}\n")), Some(one));
        let shared = JobId::of_skill("/s/pdf".as_ref());
        assert_eq!(JobId::parse(shared.as_str()), Some(shared.clone()));
        assert_eq!(JobId::of_skill("/s/pdf".as_ref()), shared);
        assert_ne!(JobId::of_skill("/s/csv".as_ref()), shared);
    }

    #[test]
    fn nothing_else_is_an_id() {
        for bad in [
            "",
            "..",
            "../../../etc/pass",
            "ABCDEFGH01234567",
            "abcdefgh0123456",
            "a/b",
        ] {
            assert_eq!(JobId::parse(bad), None, "{bad}");
        }
    }
}
