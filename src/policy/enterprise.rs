//! Where an administrator's files are: a system directory, and places that the environment names.
//! Variables cannot override what root has set up.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::sys::process::effective_user;
use crate::sys::{EntryKind, Env, files, limits};

/// The system directory, for policy and skills.
const SYSTEM: &str = "/etc/chibi/agent-skills";

/// The administrator's places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enterprise {
    /// [`SYSTEM`].
    system: PathBuf,
    /// Whether the system directory, or a link in its place, exists.
    is_there: bool,
    /// Whether only root can change the system directory, which decides what a variable may add.
    is_roots: bool,
    /// `AGENT_SKILLS_ENTERPRISE_DIR`.
    named_dir: Option<PathBuf>,
    /// `AGENT_SKILLS_POLICY`.
    named_policy: Option<PathBuf>,
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
        "the administrator's `{path}` cannot be trusted: {why}"
    ))
}

/// Checks that no other user can write the file at `path`, or change what is in that directory, if
/// there is one. Root's group and the user's private group, which many systems create, do not count as
/// other users.
fn check_owner(path: &Path) -> Result<()> {
    let Ok(found) = fs::metadata(path) else {
        return Ok(());
    };
    let group = ![0, rustix::process::getegid().as_raw()].contains(&found.gid());
    let why = if ![0, effective_user()].contains(&found.uid()) {
        "it belongs to another user"
    } else if found.mode() & 0o002 != 0 {
        "every user may write it"
    } else if found.mode() & 0o020 != 0 && group {
        "other users' group may write it"
    } else {
        return Ok(());
    };
    let shown = path.display();
    let hint = format!("look at `{shown}`, then make it yours or root's alone");
    Err(unreliable(path, why).hint(hint))
}

/// Checks that the skill in `dir` can be read, if there is one: else its name would be free.
fn reserves_its_name(dir: &Path) -> Result<()> {
    let unreadable = |path: &Path, why: io::Error| {
        unreliable(path, &why.to_string()).hint("make it readable, or remove it")
    };
    let entries = match files::entries(dir) {
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(()),
        entries => entries.map_err(|why| unreadable(dir, why))?,
    };
    let mut names = entries.iter().map(|(name, _)| name.as_os_str());
    let Some(name) = names.find(|name| name.eq_ignore_ascii_case("SKILL.md")) else {
        return Ok(());
    };
    let file = dir.join(name);
    let opened = files::open_regular(&file).map(drop);
    opened.map_err(|why| unreadable(&file, why))
}

/// Whether only root can change the file or directory at `place`, and what is below it.
fn is_roots_to_the_bottom(place: &Path, depth: usize) -> bool {
    let is_roots = fs::metadata(place).is_ok_and(|found| is_roots_alone(&found));
    let below = || match files::entries(place) {
        Ok(entries) => entries
            .iter()
            .all(|(name, _)| is_roots_to_the_bottom(&place.join(name.as_os_str()), depth - 1)),
        // A file has none.
        Err(_) => !place.is_dir(),
    };
    depth > 0 && is_roots && below()
}

/// Whether only root can change a file or directory.
fn is_roots_alone(metadata: &Metadata) -> bool {
    metadata.uid() == 0 && metadata.mode() & 0o022 == 0
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
        let found = look(system);
        Self {
            system: system.to_owned(),
            is_there: !matches!(found, Ok(None)),
            is_roots: matches!(&found, Ok(Some(it)) if it.is_dir() && is_roots_alone(it)),
            named_dir: absolute("AGENT_SKILLS_ENTERPRISE_DIR"),
            named_policy: absolute("AGENT_SKILLS_POLICY"),
        }
    }

    /// Whether root alone put the skill in `dir` into the system directory, so that it needs no
    /// further trust.
    pub fn has_roots_skill(&self, dir: &Path) -> bool {
        let skills = self.system.join("skills");
        self.is_roots
            && dir.parent() == Some(&skills)
            && fs::metadata(&skills).is_ok_and(|found| is_roots_alone(&found))
            && is_roots_to_the_bottom(dir, limits::DIGEST_DEPTH)
    }

    /// Whether only root can change the system directory. Then no variable replaces it, and only
    /// root's approvals count.
    pub fn is_roots(&self) -> bool {
        self.is_roots
    }

    /// The directories of the enterprise layer, in order of precedence. If root has set one up, a
    /// variable adds none, because its skills would shadow root's.
    pub fn dirs(&self) -> Vec<&Path> {
        match &self.named_dir {
            Some(dir) if !self.is_roots => vec![dir, &self.system],
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
            check_owner(&skills)?;
            for (name, kind) in entries.unwrap_or_default() {
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
        !self.is_there && path.starts_with(&self.system)
    }

    /// Whether a policy file exists for this process to read.
    ///
    /// # Errors
    /// If what exists cannot be trusted: a dangling link, also on the way there, or a file or
    /// directory that another user can change. Whoever can change the directory can remove the
    /// policy, or add one.
    pub fn has(&self, path: &Path) -> Result<bool> {
        if self.is_missing(path) {
            return Ok(false);
        }
        let file = look(path).map_err(|error| unreliable(path, &error.to_string()))?;
        check_owner(path.parent().unwrap_or(path))?;
        check_owner(path)?;
        Ok(file.is_some())
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
        let is_roots = || at().has_roots_skill(&system.path().join("skills/pdf"));
        fs::create_dir_all(system.path().join("skills/pdf")).unwrap();
        set(0o777);
        assert_eq!(at().dirs(), [Path::new("/w/mine"), system.path()]);
        set(0o755);
        let mine = effective_user() == 0;
        assert_eq!(is_roots(), mine);
        assert_eq!(at().dirs().len(), if mine { 1 } else { 2 });
        assert!(!at().has_roots_skill(&system.path().join("other/pdf")));
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
