//! Where an administrator's files are: a directory of the system, and places that the environment
//! names. What root has set up, no variable takes away.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::sys::Env;

/// Where administrators of this machine put policy and skills.
const SYSTEM: &str = "/etc/chibi/agent-skills";

/// The administrator's places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enterprise {
    /// [`SYSTEM`].
    system: PathBuf,
    /// Whether the system's directory is there and only root can change it.
    is_roots: bool,
    /// `AGENT_SKILLS_ENTERPRISE_DIR`.
    named_dir: Option<PathBuf>,
    /// `AGENT_SKILLS_POLICY`.
    named_policy: Option<PathBuf>,
}

/// A policy file to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    /// Where.
    pub path: PathBuf,
    /// Whether it was named itself: then it is a mistake if it is not there.
    pub must_exist: bool,
}

impl Enterprise {
    /// The places of this machine and environment.
    pub fn of(env: &Env) -> Self {
        Self::at(Path::new(SYSTEM), env)
    }

    fn at(system: &Path, env: &Env) -> Self {
        let absolute = |name| env.path(name).map(|path| env.cwd.join(path));
        let only_roots = |metadata: fs::Metadata| {
            metadata.is_dir() && metadata.uid() == 0 && metadata.mode() & 0o022 == 0
        };
        Self {
            system: system.to_owned(),
            is_roots: fs::metadata(system).is_ok_and(only_roots),
            named_dir: absolute("AGENT_SKILLS_ENTERPRISE_DIR"),
            named_policy: absolute("AGENT_SKILLS_POLICY"),
        }
    }

    /// Whether root has set up the system's directory.
    pub fn is_roots(&self) -> bool {
        self.is_roots
    }

    /// The directories that hold the enterprise layer, first come first. Where root has set one
    /// up, a variable adds none: its skills would stand in the place of root's.
    pub fn dirs(&self) -> Vec<&Path> {
        match &self.named_dir {
            Some(dir) if !self.is_roots => vec![dir, &self.system],
            _ => vec![&self.system],
        }
    }

    /// Every policy file that there may be; all that are there hold together.
    pub fn policy_files(&self) -> Vec<PolicyFile> {
        let in_dir = |dir: &Path| PolicyFile {
            path: dir.join("policy.toml"),
            must_exist: false,
        };
        let named = self.named_policy.clone().map(|path| PolicyFile {
            path,
            must_exist: true,
        });
        std::iter::once(in_dir(&self.system))
            .chain(self.named_dir.as_deref().map(in_dir))
            .chain(named)
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
