//! Reads the policies, also those that others take from elsewhere: what of these is kept on this
//! machine, and for how long that counts. Fetching is for a command; nothing here uses the network.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::enterprise::{Enterprise, PolicyFile};
use super::file::{parse_toml, read_toml};
use super::policies::{Policies, Policy};
use super::policy_source::PolicySource;
use crate::error::{Error, Result};
use crate::sys::{Base, Durable, EntryName, FileLock, Moment, files, limits};

/// The first line of a kept policy begins with this.
const MARK: &str = "# fetched ";
/// How far back a clock may have gone, in milliseconds: it is set right by less.
const BACK: u64 = 60 * 60 * 1000;

/// What is noted of a kept policy, in its first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    /// From where it is.
    url: String,
    /// When it was fetched, in milliseconds since 1970.
    at: u64,
    /// The latest time at which a command looked for a newer one.
    seen: u64,
}

/// A policy that says where another is.
#[derive(Debug)]
pub struct Pointer {
    /// Its file.
    pub file: PathBuf,
    /// Where the other is.
    pub from: PolicySource,
}

/// A policy as it is kept.
struct Kept {
    note: Note,
    text: String,
    policy: Policy,
}

impl Policies {
    /// Reads every existing policy file.
    ///
    /// # Errors
    /// If one cannot be read or contains an invalid value. What it forbids is then unknown, so only
    /// reads are allowed.
    pub fn read(enterprise: &Enterprise) -> Result<Self> {
        let not_there = |what: &str, path: &Path, variable: &str| {
            let text = format!(
                "the {what} `{}` that {variable} names is not there",
                path.display()
            );
            Error::new(text).hint("put it there, or unset the variable")
        };
        if let Some(dir) = enterprise.missing() {
            return Err(not_there("directory", dir, "AGENT_SKILLS_ENTERPRISE_DIR"));
        }
        enterprise.readable()?;
        let mut found = Vec::new();
        for file in enterprise.policy_files() {
            let closes = "correct it; until then only reading is allowed";
            let there = enterprise.has(&file)?;
            let read = there.then(|| read_toml::<Policy>(&file.path));
            let read = read.transpose().map_err(|error| error.hint(closes))?;
            match read.flatten() {
                Some(mut policy) => {
                    let from = policy.from.clone();
                    policy.is_named = file.is_named;
                    found.push((file.path, policy));
                    if let (Some(from), Some((pointer, _))) = (from, found.last()) {
                        let (path, mut policy) = kept(enterprise, pointer, &from)?;
                        policy.is_named = file.is_named;
                        found.push((path, policy));
                    }
                }
                None if file.must_exist => {
                    return Err(not_there("policy", &file.path, "AGENT_SKILLS_POLICY"));
                }
                None => {}
            }
        }
        let all = Self::of(found);
        match all.contradiction() {
            Some(why) => {
                let error = Error::new(format!("the policies contradict each other: {why}"));
                Err(error.hint("correct one of them; until then only reading is allowed"))
            }
            None => Ok(all),
        }
    }
}

impl Pointer {
    /// Every policy that says where another is.
    ///
    /// # Errors
    /// When one cannot be relied on or has a mistake.
    pub fn all(enterprise: &Enterprise) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        for file in enterprise.policy_files() {
            if enterprise.has(&file)?
                && let Some(policy) = read_toml::<Policy>(&file.path)?
                && let Some(from) = policy.from
            {
                let file = file.path;
                found.push(Self { file, from });
            }
        }
        Ok(found)
    }

    /// Where the other is kept: beside this one.
    fn place(&self) -> PathBuf {
        place(&self.file)
    }

    /// Keeps a policy that was fetched and whose signature, if one is required, holds, in the place
    /// of the last one. Whether it says something else.
    ///
    /// # Errors
    /// When it is no policy, not the one that is meant or older than the last, or cannot be written.
    /// The last one is still kept then.
    pub fn keep(&self, enterprise: &Enterprise, bytes: &[u8]) -> Result<bool> {
        let url = &self.from.url;
        let refused =
            |why: String| Error::new(format!("the policy from `{url}` was not taken: {why}"));
        let digest = format!("{:x}", Sha256::digest(bytes));
        if let Some(pinned) = self.from.sha256.as_ref().filter(|one| **one != digest) {
            let why = format!("its SHA-256 is {digest}, and {pinned} is required");
            return Err(refused(why).hint("correct `sha256` if it is the right one"));
        }
        let ask = "ask who wrote it";
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|_| refused("it is not UTF-8".to_owned()).hint(ask))?;
        let new: Policy = parse_toml(text)
            .map_err(|(line, why)| refused(format!("line {line}: {why}")).hint(ask))?;
        new.must_be_last().map_err(|why| refused(why).hint(ask))?;
        let _lock = self.lock(enterprise)?;
        // One that is damaged is replaced.
        let last = self.last(enterprise)?.and_then(std::result::Result::ok);
        if self.from.signers.is_some() && self.from.sha256.is_none() {
            Self::is_newer(&new, text, last.as_ref()).map_err(|why| refused(why).hint(ask))?;
        }
        let now = Moment::now().0;
        let note = Note {
            url: url.clone(),
            at: now,
            seen: now,
        };
        self.write(&note, text)?;
        Ok(last.is_none_or(|last| last.text != text))
    }

    /// An old policy has a good signature, too: a signed one counts up.
    fn is_newer(new: &Policy, text: &str, last: Option<&Kept>) -> Result<(), String> {
        let Some(serial) = new.serial else {
            return Err("a signed policy needs a `serial`, which each change raises".to_owned());
        };
        match last.and_then(|last| Some((last, last.policy.serial?))) {
            Some((_, known)) if serial < known => Err(format!(
                "its serial is {serial}, and that of the one kept here is {known}"
            )),
            Some((last, known)) if serial == known && last.text != text => Err(format!(
                "it differs from the one kept here, and has the same serial {serial}"
            )),
            _ => Ok(()),
        }
    }

    /// Notes that it could not be fetched, so that setting the clock back does not prolong the time
    /// for which the last one counts.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn note_failure(&self, enterprise: &Enterprise) -> Result<()> {
        let _lock = self.lock(enterprise)?;
        let Some(Ok(last)) = self.last(enterprise)? else {
            return Ok(());
        };
        let seen = last.note.seen.max(Moment::now().0);
        let note = Note { seen, ..last.note };
        self.write(&note, &last.text)
    }

    fn lock(&self, enterprise: &Enterprise) -> Result<FileLock> {
        // Nobody else may have prepared the place.
        enterprise.has(&kept_file(self.place()))?;
        FileLock::exclusive(&self.place().with_extension("lock"), limits::INSTALL_LOCK)
    }

    fn last(&self, enterprise: &Enterprise) -> Result<Option<Result<Kept>>> {
        let file = kept_file(self.place());
        Ok(enterprise.has(&file)?.then(|| Kept::read(&file.path)))
    }

    fn write(&self, note: &Note, text: &str) -> Result<()> {
        let place = self.place();
        let unwritable = || Error::new(format!("`{}` is not a file", place.display()));
        let dir = place.parent().ok_or_else(unwritable)?;
        let name = place.file_name().and_then(EntryName::parse);
        let file = Base::own(dir.to_owned()).file(&name.ok_or_else(unwritable)?)?;
        let note = serde_json::to_string(note)
            .map_err(|error| Error::caused("could not write what is noted", error))?;
        let whole = format!("{MARK}{note}\n{text}");
        let written = file
            .dir
            .replace(&file.name, whole.as_bytes(), 0o644, Durable::Yes);
        written.map_err(|error| file.dir.error("write", &file.name, &error))
    }
}

fn place(pointer: &Path) -> PathBuf {
    let mut name = pointer.file_name().unwrap_or_default().to_owned();
    name.push(".fetched");
    pointer.with_file_name(name)
}

fn kept_file(path: PathBuf) -> PolicyFile {
    let must_exist = true;
    PolicyFile {
        path,
        must_exist,
        is_named: true,
    }
}

impl Kept {
    fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let damaged = |why: &str| {
            Error::new(format!(
                "the fetched policy `{shown}` cannot be read: {why}"
            ))
        };
        let bytes = files::read_capped(path, limits::CONFIG_FILE);
        let bytes = bytes.map_err(|error| Error::io("read", path, &error))?;
        let whole = String::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8"))?;
        let parts = whole.strip_prefix(MARK).and_then(|it| it.split_once('\n'));
        let (note, text) = parts.ok_or_else(|| damaged("its first line is missing"))?;
        let note = serde_json::from_str(note).map_err(|error| damaged(&error.to_string()))?;
        let policy: Policy =
            parse_toml(&whole).map_err(|(line, why)| damaged(&format!("line {line}: {why}")))?;
        policy.must_be_last().map_err(|why| damaged(&why))?;
        Ok(Self {
            note,
            text: text.to_owned(),
            policy,
        })
    }
}

/// The policy that `pointer` takes from elsewhere, as it is kept, with its file.
///
/// # Errors
/// When none was fetched, it is older than it may be, or it cannot be relied on.
fn kept(enterprise: &Enterprise, pointer: &Path, from: &PolicySource) -> Result<(PathBuf, Policy)> {
    let path = place(pointer);
    let step = "`agent-skills policy fetch`, as who may write there, fetches it";
    let told = |why: String| {
        let shown = pointer.display();
        Error::new(format!(
            "the policy `{shown}` takes another from `{}`, {why}",
            from.url
        ))
        .hint(step)
    };
    if !enterprise.has(&kept_file(path.clone()))? {
        return Err(told("which was never fetched".to_owned()));
    }
    let kept = Kept::read(&path).map_err(|error| error.or_hint(step))?;
    let (now, Note { at, seen, .. }) = (Moment::now().0, kept.note);
    if now.saturating_add(BACK) < seen {
        let last = Moment(seen).local();
        return Err(told(format!(
            "which was last looked for at {last}, and the clock says it is before that"
        )));
    }
    if now.max(seen).saturating_sub(at) > from.keep {
        let since = Moment(at).local();
        return Err(told(format!(
            "which could not be fetched since {since}: that is longer than `keep` allows"
        )));
    }
    Ok((path, kept.policy))
}
