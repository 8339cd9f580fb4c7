//! Where an administrator's files are: a system directory, and places that the environment names.
//! Variables cannot override what root has set up.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::sys::owner::{Owner, others_may_write};
use crate::sys::{Env, files};

/// The system directory, for policy and skills.
const SYSTEM: &str = "/etc/chibi/agent-skills";

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
    /// It does not exist, or a user other than root can change it.
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
}

impl PolicyFile {
    /// Whether the file exists for this process to read.
    ///
    /// # Errors
    /// If what exists cannot be trusted: a dangling link, also on the way there, or a file or
    /// directory that another user can change.
    pub fn is_there(&self) -> Result<bool> {
        let refused = |path: &Path, why: &str| {
            let path = path.display();
            Error::new(format!("the policy `{path}` cannot be relied on: {why}"))
        };
        let file = look(&self.path).map_err(|why| refused(&self.path, &why))?;
        let dir = self.path.parent().unwrap_or(&self.path);
        // Whoever can change the directory can remove the policy.
        let dir_metadata = fs::metadata(dir).ok();
        for (path, metadata) in [(dir, &dir_metadata), (&self.path, &file)] {
            if let Some(why) = metadata.as_ref().and_then(others_may_write) {
                let shown = path.display();
                let hint = format!("look at `{shown}`, then make it yours or root's alone");
                return Err(refused(path, why).hint(hint));
            }
        }
        Ok(file.is_some())
    }
}

/// The metadata of `path`; `None` if nothing exists there. A dangling link is an error, because it
/// shows that a policy was meant to be read.
fn look(path: &Path) -> Result<Option<Metadata>, String> {
    files::unless_missing(path, |path| fs::metadata(path)).map_err(|error| error.to_string())
}

impl Enterprise {
    /// The locations for this machine and environment.
    pub fn from_env(env: &Env) -> Self {
        Self::at(Path::new(SYSTEM), env)
    }

    fn at(system: &Path, env: &Env) -> Self {
        let absolute = |name| env.path(name).map(|path| env.cwd.join(path));
        let holder = match fs::metadata(system) {
            Ok(metadata) if metadata.is_dir() => match Owner::from_metadata(&metadata) {
                Owner::Unknown => Holder::Unknown,
                Owner::Root if metadata.mode() & 0o022 == 0 => Holder::Root,
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

    /// Whether root certainly controls the system directory, so that its content needs no further
    /// trust.
    pub fn is_roots(&self) -> bool {
        self.holder == Holder::Root
    }

    /// Whether root may control the system directory. Then no variable replaces it, and only root's
    /// approvals count.
    pub fn may_be_roots(&self) -> bool {
        self.holder != Holder::Nobody
    }

    /// The directories of the enterprise layer, in order of precedence. If root may have set one
    /// up, a variable adds none, because its skills would shadow root's.
    pub fn dirs(&self) -> Vec<&Path> {
        match &self.named_dir {
            Some(dir) if !self.may_be_roots() => vec![dir, &self.system],
            _ => vec![&self.system],
        }
    }

    /// Checks that the enterprise layer can be read if it exists: otherwise it is unknown which
    /// names it reserves.
    ///
    /// # Errors
    /// The directory that cannot be read, and why.
    pub fn readable(&self) -> Result<()> {
        for dir in self.dirs() {
            let skills = dir.join("skills");
            let read =
                look(&skills).and_then(|there| match there.map(|_| files::entries(&skills)) {
                    Some(Err(error)) => Err(error.to_string()),
                    Some(Ok(_)) | None => Ok(()),
                });
            read.map_err(|why| {
                let shown = skills.display();
                let text = format!("the enterprise skills in `{shown}` cannot be read: {why}");
                Error::new(text).hint("make them readable, or remove that directory")
            })?;
        }
        Ok(())
    }

    /// The directory that a variable names, if it does not exist.
    pub fn missing(&self) -> Option<&Path> {
        let dir = self.named_dir.as_deref()?;
        matches!(look(dir), Ok(None)).then_some(dir)
    }

    /// Every possible policy file. All that exist apply together.
    pub fn policy_files(&self) -> Vec<PolicyFile> {
        let dirs = std::iter::once(&self.system).chain(&self.named_dir);
        let in_dirs = dirs.map(|dir| (dir.join("policy.toml"), false));
        let named = self.named_policy.iter().map(|path| (path.clone(), true));
        let all = in_dirs.chain(named);
        all.map(|(path, must_exist)| PolicyFile { path, must_exist })
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
        set(0o777);
        assert_eq!(at().dirs(), [Path::new("/w/mine"), system.path()]);
        set(0o755);
        let mine = crate::sys::process::effective_user() == 0;
        assert_eq!(at().is_roots(), mine);
        assert_eq!(at().dirs().len(), if mine { 1 } else { 2 });
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
