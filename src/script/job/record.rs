//! What identifies a job, what is recorded about it, and the files of its output.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::session::SessionKey;

/// A job's id. It cannot be guessed: using a job takes its id and its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobId(String);

/// The alphabet of ids.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// 80 bits.
const LENGTH: usize = 16;

impl JobId {
    /// A new random id.
    ///
    /// # Errors
    /// When the system has no random bytes.
    #[expect(clippy::disallowed_methods, reason = "a device of the system")]
    pub fn random() -> Result<Self> {
        let mut bytes = [0; LENGTH];
        File::open("/dev/urandom")
            .and_then(|mut source| source.read_exact(&mut bytes))
            .map_err(|source| Error::io("read", "/dev/urandom".as_ref(), &source))?;
        Ok(Self::spelled(bytes))
    }

    /// The id of what all commands of the skill in this directory share, which is no job.
    pub fn of_skill(dir: &Path) -> Self {
        let hash = Sha256::digest(dir.as_os_str().as_encoded_bytes());
        Self::spelled(hash.into_iter().take(LENGTH))
    }

    fn spelled(bytes: impl IntoIterator<Item = u8>) -> Self {
        // 256 is a multiple of 32, so all letters are equally likely.
        let letter = |byte: u8| char::from(LETTERS[usize::from(byte) % LETTERS.len()]);
        Self(bytes.into_iter().map(letter).collect())
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

/// The owner of a job. Nobody else can read or stop it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner(String);

impl Owner {
    /// The owner of the jobs of a call in this session: its conversation, which the host's next
    /// process continues, or else the host process.
    pub fn of(key: &SessionKey, context: Option<&str>) -> Self {
        match context {
            Some(context) => Self::conversation(context),
            None => Self::session(key.as_str()),
        }
    }

    /// A conversation of the host (its `context_name`), which outlives the host's process.
    pub fn conversation(name: &str) -> Self {
        Self(format!("conversation:{name}"))
    }

    /// One process of the host.
    pub fn session(key: &str) -> Self {
        Self(format!("session:{key}"))
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is recorded about a job when it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Its owner.
    pub owner: Owner,
    /// The script or command, as its caller wrote it.
    pub label: String,
    /// The skill whose script it runs; `None` for one of our own commands.
    pub skill: Option<String>,
    /// Its start, in milliseconds since 1970.
    pub started: u64,
    /// Its time limit in milliseconds.
    pub limit: u64,
}

/// What a supervisor needs to store a job's output.
#[derive(Debug)]
pub struct Spools {
    /// The job's directory.
    pub dir: File,
    /// The FIFO that stops the job when written to; the supervisor holds it open as long as the job
    /// runs.
    pub stop: File,
    /// The spools of standard output and standard error.
    pub files: [File; 2],
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
