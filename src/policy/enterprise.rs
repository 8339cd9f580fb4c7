//! Where an administrator's files are: a system directory, and places that the environment names.
//! Variables cannot override what root has set up.

use std::fs::{self, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{io, io::ErrorKind};

use crate::error::{Error, Result};
use crate::skill::{find_skill_file, text_link};
use crate::sys::owner::{Change, Owner, others_may_write};
use crate::sys::{EntryKind, Env, files, limits};

/// The system directory, for policy and skills.
const SYSTEM: &str = "/etc/chibi/agent-skills";
/// More bytes than a link that was checked out as text has.
const TEXT_LINK: u64 = 512;
/// How many links the kernel follows.
const LINKS: usize = 40;

/// The administrator's places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enterprise {
    /// [`SYSTEM`].
    system: PathBuf,
    /// Who controls the system directory.
    holder: Holder,
    /// `AGENT_SKILLS_ENTERPRISE_DIR`.
    named_dir: Option<PathBuf>,
    /// `AGENT_SKILLS_POLICY`.
    named_policy: Option<PathBuf>,
}

/// Who controls the system directory, which decides what a variable may add.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// There is none, nor a link where it would be.
    Missing,
    /// A user other than root can change it.
    Nobody,
    /// Only root can change it.
    Root,
    /// It exists, but its owner cannot be determined.
    Unknown,
}

/// A policy file to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    /// Its path.
    pub path: PathBuf,
    /// Whether it was named explicitly, so that its absence is an error.
    pub must_exist: bool,
    /// Whether a variable says where it is, so that whoever sets variables may have written it.
    pub is_named: bool,
}

fn unreliable(path: &Path, why: &str) -> Error {
    let path = path.display();
    Error::new(format!(
        "the administrator's `{path}` cannot be relied on: {why}"
    ))
}

/// Checks that no other user can write `path`, make this change to it if it is a directory, or turn
/// a link there to something else.
fn kept(path: &Path, change: Change) -> Result<()> {
    if let Ok(metadata) = fs::metadata(path)
        && let Some(why) = others_may_write(path, &metadata, change)
    {
        return Err(not_alone(path, why));
    }
    target(path).map_or(Ok(()), |target| kept_above(&target))
}

/// Checks that no other user can put something else at `path` by a change to a directory above it.
/// One whose owner is not shown does not count, as `/` in most user namespaces.
fn kept_above(path: &Path) -> Result<()> {
    for place in above(path) {
        if let Ok(metadata) = fs::metadata(&place)
            && let Some(why) = others_may_write(&place, &metadata, Change::Replace)
            && why != Owner::UNKNOWN
        {
            return Err(not_alone(&place, why));
        }
    }
    Ok(())
}

fn not_alone(path: &Path, why: &str) -> Error {
    let shown = path.display();
    unreliable(path, why).hint(format!(
        "look at `{shown}`, then make it yours or root's alone"
    ))
}

/// Checks that the skill in `dir` can be read, if there is one: else its name would be free.
fn reserves_its_name(dir: &Path) -> Result<()> {
    let unreadable = |path: &Path, why: io::Error| {
        unreliable(path, &why.to_string()).hint("make it readable, or remove it")
    };
    kept(dir, Change::Add)?;
    let entries = match files::entries(dir) {
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(()),
        entries => entries.map_err(|why| unreadable(dir, why))?,
    };
    let mut names = entries.iter().map(|(name, _)| name.as_os_str());
    let Some(name) = names.find(|name| name.eq_ignore_ascii_case("SKILL.md")) else {
        return Ok(());
    };
    let file = find_skill_file(dir).unwrap_or_else(|| dir.join(name));
    kept(&file, Change::Add)?;
    let mut start = Vec::new();
    let opened = files::open_regular(&file);
    let read = opened.and_then(|opened| opened.take(TEXT_LINK).read_to_end(&mut start));
    read.map_err(|why| unreadable(&file, why))?;
    if text_link(&start).is_some() {
        let error = unreliable(&file, "it only names another file, which may change");
        return Err(error.hint("put the file itself there"));
    }
    Ok(())
}

/// Where the link at `path` leads; `None` if it is none.
fn target(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.join(fs::read_link(path).ok()?))
}

/// The directories above `path`, and above the target of each link among them and at it.
fn above(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut links = vec![path.to_owned()];
    for _ in 0..=LINKS {
        let Some(next) = links.pop() else {
            break;
        };
        for place in next.ancestors() {
            links.extend(target(place));
            match place.parent() {
                Some(parent) if !found.iter().any(|known| known == parent) => {
                    found.push(parent.to_owned());
                }
                _ => break,
            }
        }
    }
    found
}

/// Whether only root can change the directories above `path` in a way that replaces it. One whose
/// owner is not shown counts as root's.
fn is_roots_above(path: &Path) -> bool {
    let is_roots = |found: Metadata| {
        let owner = Owner::from_metadata(&found);
        matches!(owner, Owner::Root | Owner::Unknown)
            && (found.mode() & 0o022 == 0 || found.mode() & 0o1000 != 0)
    };
    above(path)
        .iter()
        .all(|place| fs::metadata(place).is_ok_and(is_roots))
}

/// Whether only root can change anything at or below `place`.
fn is_roots_to_the_bottom(place: &Path, depth: usize) -> bool {
    // A link to nothing leads wherever its target is created.
    depth > 0
        && fs::metadata(place).is_ok_and(|found| is_roots_alone(&found))
        && target(place).is_none_or(|target| is_roots_above(&target))
        && match files::entries(place) {
            Ok(entries) => entries
                .iter()
                .all(|(name, _)| is_roots_to_the_bottom(&place.join(name.as_os_str()), depth - 1)),
            // A file has none.
            Err(_) => !place.is_dir(),
        }
}

/// Whether only root can change a file or directory.
fn is_roots_alone(metadata: &Metadata) -> bool {
    Owner::from_metadata(metadata) == Owner::Root && metadata.mode() & 0o022 == 0
}

/// The metadata of `path`; `None` if nothing exists there. A dangling link is an error, because it
/// shows that a policy was meant to be read.
fn look(path: &Path) -> io::Result<Option<Metadata>> {
    files::unless_missing(path, |path| fs::metadata(path))
}

impl Enterprise {
    /// The locations for this machine and environment.
    pub fn from_env(env: &Env) -> Self {
        Self::at(Path::new(SYSTEM), env)
    }

    fn at(system: &Path, env: &Env) -> Self {
        let absolute = |name| env.path(name).map(|path| env.cwd.join(path));
        let holder = match look(system) {
            Ok(None) => Holder::Missing,
            Ok(Some(metadata)) if metadata.is_dir() => match Owner::from_metadata(&metadata) {
                Owner::Unknown => Holder::Unknown,
                _ if is_roots_alone(&metadata) && is_roots_above(system) => Holder::Root,
                Owner::Root | Owner::Us | Owner::Other => Holder::Nobody,
            },
            _ => Holder::Nobody,
        };
        Self {
            system: system.to_owned(),
            holder,
            named_dir: absolute("AGENT_SKILLS_ENTERPRISE_DIR"),
            named_policy: absolute("AGENT_SKILLS_POLICY"),
        }
    }

    /// Whether root alone put the skill in `dir` into the system directory, so that it needs no
    /// further trust.
    pub fn is_roots(&self, dir: &Path) -> bool {
        let skills = self.system.join("skills");
        self.holder == Holder::Root
            && dir.parent() == Some(&skills)
            && fs::metadata(&skills).is_ok_and(|found| is_roots_alone(&found))
            && target(&skills).is_none_or(|target| is_roots_above(&target))
            && is_roots_to_the_bottom(dir, limits::DIGEST_DEPTH)
    }

    /// Whether root may control the system directory. Then no variable replaces it, and only root's
    /// approvals count.
    pub fn may_be_roots(&self) -> bool {
        matches!(self.holder, Holder::Root | Holder::Unknown)
    }

    /// The directories of the enterprise layer, in order of precedence. If root may have set one
    /// up, a variable adds none, because its skills would shadow root's.
    pub fn dirs(&self) -> Vec<&Path> {
        match &self.named_dir {
            Some(dir) if !self.may_be_roots() => vec![dir, &self.system],
            _ => vec![&self.system],
        }
    }

    /// Checks that the enterprise layer can be read if it exists, since otherwise it is unknown
    /// which names it reserves, and that nobody else can put a skill there.
    ///
    /// # Errors
    /// The directory or file that cannot be relied on, and why.
    pub fn readable(&self) -> Result<()> {
        for dir in self.dirs().into_iter().filter(|dir| !self.is_missing(dir)) {
            let skills = dir.join("skills");
            let entries = files::unless_missing(&skills, files::entries).map_err(|why| {
                let shown = skills.display();
                let text = format!("the enterprise skills in `{shown}` cannot be read: {why}");
                Error::new(text).hint("make them readable, or remove that directory")
            })?;
            let Some(entries) = entries else {
                continue;
            };
            kept(&skills, Change::Add)?;
            kept_above(&skills)?;
            for (name, kind) in entries {
                if matches!(kind, EntryKind::Dir | EntryKind::Link) {
                    reserves_its_name(&skills.join(name.as_os_str()))?;
                }
            }
        }
        Ok(())
    }

    /// The directory that a variable names, if it does not exist.
    pub fn missing(&self) -> Option<&Path> {
        let dir = self.named_dir.as_deref()?;
        matches!(look(dir), Ok(None)).then_some(dir)
    }

    /// Whether `path` is in the system directory, and that is missing.
    fn is_missing(&self, path: &Path) -> bool {
        self.holder == Holder::Missing && path.starts_with(&self.system)
    }

    /// Whether a policy file exists for this process to read.
    ///
    /// # Errors
    /// If what exists cannot be trusted: a dangling link, also on the way there, or a file or
    /// directory that another user can change.
    pub fn has(&self, policy: &PolicyFile) -> Result<bool> {
        let PolicyFile {
            path, must_exist, ..
        } = policy;
        if self.is_missing(path) {
            return Ok(false);
        }
        let file = look(path).map_err(|error| unreliable(path, &error.to_string()))?;
        // Whoever can change the directory can remove the policy, and add what the administrator's
        // directory does not have yet.
        let change = if *must_exist {
            Change::Replace
        } else {
            Change::Add
        };
        kept(path.parent().unwrap_or(path), change)?;
        kept_above(path.parent().unwrap_or(path))?;
        if file.is_some() {
            kept(path, Change::Replace)?;
        }
        Ok(file.is_some())
    }

    /// Checks that no other user can change or replace a file that a policy names.
    ///
    /// # Errors
    /// As [`Enterprise::has`].
    pub fn check_named(&self, path: &Path) -> Result<()> {
        let path = path.to_owned();
        let must_exist = true;
        let is_named = false;
        self.has(&PolicyFile {
            path,
            must_exist,
            is_named,
        })
        .map(drop)
    }

    /// Every possible policy file. All that exist apply together.
    pub fn policy_files(&self) -> Vec<PolicyFile> {
        let dirs = std::iter::once(&self.system).chain(&self.named_dir);
        let in_dirs = dirs.map(|dir| (dir.join("policy.toml"), false));
        let named = self.named_policy.iter().map(|path| (path.clone(), true));
        let all = in_dirs.chain(named).enumerate();
        all.map(|(at, (path, must_exist))| PolicyFile {
            path,
            must_exist,
            is_named: at > 0,
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn variables_add_policies_and_never_a_layer_above_roots() {
        let system = tempfile::tempdir().unwrap();
        let set =
            |mode| fs::set_permissions(system.path(), fs::Permissions::from_mode(mode)).unwrap();
        let vars = [
            ("AGENT_SKILLS_ENTERPRISE_DIR", "mine"),
            ("AGENT_SKILLS_POLICY", "/p.toml"),
        ];
        let at = || Enterprise::at(system.path(), &Env::new(vars, Path::new("/w")));
        let is_roots = || at().is_roots(&system.path().join("skills/pdf"));
        fs::create_dir_all(system.path().join("skills/pdf")).unwrap();
        set(0o777);
        assert_eq!(at().dirs(), [Path::new("/w/mine"), system.path()]);
        set(0o755);
        let mine = crate::sys::process::effective_user() == 0;
        assert_eq!(is_roots(), mine);
        assert_eq!(at().dirs().len(), if mine { 1 } else { 2 });
        assert!(!at().is_roots(&system.path().join("other/pdf")));
        for below in ["skills", "skills/pdf"] {
            let below = system.path().join(below);
            let set = |mode| fs::set_permissions(&below, fs::Permissions::from_mode(mode)).unwrap();
            set(0o775);
            assert!(!is_roots(), "{}", below.display());
            set(0o755);
        }
        assert_eq!(is_roots(), mine);
        let script = system.path().join("skills/pdf/run.sh");
        std::os::unix::fs::symlink("/nowhere", &script).unwrap();
        assert!(!is_roots());
        fs::remove_file(&script).unwrap();
        fs::write(&script, "").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(!is_roots());
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(is_roots(), mine);
        let files: Vec<_> = at()
            .policy_files()
            .into_iter()
            .map(|file| (file.path, file.must_exist))
            .collect();
        assert_eq!(files[0], (system.path().join("policy.toml"), false));
        assert_eq!(
            files[1..],
            [
                ("/w/mine/policy.toml".into(), false),
                ("/p.toml".into(), true)
            ]
        );
    }
}
