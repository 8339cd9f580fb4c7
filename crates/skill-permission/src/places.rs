//! The directories and facts about the host that decisions depend on.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use crate::vocabulary::{PathBase, Shell, path_meaning};

/// The directories that decisions depend on, as given: links are not resolved.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct RuleDirectories {
    /// Where the host's shell starts.
    pub project_root: PathBuf,
    /// The host process's working directory, where some of its tools start.
    pub working_dir: PathBuf,
    /// Whether a shell starts in `working_dir` and that is not the project root, so that a relative
    /// path in a rule does not mean what its author meant.
    pub starts_elsewhere: bool,
    /// What `~` means in a shell and in patterns, if it is known.
    pub home: Option<PathBuf>,
    /// Names of the variables in the initial environment of the host's shell; setting one exports
    /// it to every program. `None` if unknown.
    pub environment: Option<BTreeSet<String>>,
    /// Whether the shell may have more variables, from files that it reads as it starts.
    pub has_startup_files: bool,
    /// The shell that runs the host's commands.
    pub shell: Shell,
    /// Whether the shell's own programs are the host's tools for reading, so that entries for
    /// reading grant these too.
    pub reads_by_shell: bool,
    /// Whether `CDPATH` is set in the host's environment, so that `cd x` may lead elsewhere.
    pub cdpath: bool,
    /// What no call may change while a skill restricts.
    pub protected: ProtectedPlaces,
    /// Our own executable, which no command may run while anything is in force.
    pub executable: Option<PathBuf>,
    /// The directories where the host's shell looks for programs.
    pub path: Vec<PathBuf>,
}

impl RuleDirectories {
    /// The path that a host tool uses for `written`: absolute, not yet normalised.
    pub fn for_tool(&self, tool: &str, written: &str) -> PathBuf {
        let meaning = path_meaning(tool);
        let below_home = written.strip_prefix('~').zip(self.home.as_deref());
        match below_home {
            Some((rest, home))
                if meaning.expands_tilde && (rest.is_empty() || rest.starts_with('/')) =>
            {
                home.join(rest.trim_start_matches('/'))
            }
            _ if meaning.base == PathBase::WorkingDirectory && self.working_dir.is_absolute() => {
                self.working_dir.join(written)
            }
            _ => self.project_root.join(written),
        }
    }
}

/// Files and directories that no call may change while a skill restricts. Only a call that could
/// change something needs them, so they are worked out at first use.
#[derive(Debug, Clone)]
pub struct ProtectedPlaces(Rc<LazyCell<ProtectedPaths, Box<dyn FnOnce() -> ProtectedPaths>>>);

/// The paths of the protected places.
#[derive(Debug, Clone, Default)]
pub struct ProtectedPaths {
    /// Protected with everything below them.
    pub places: Vec<PathBuf>,
    /// These hold skills: targets of links in them are protected too.
    pub roots: Vec<PathBuf>,
    /// Those of the places that hold files which decide. Any of these files may be a link of the
    /// user's, so targets of links in them are protected too.
    pub deciding: Vec<PathBuf>,
}

impl ProtectedPlaces {
    /// What `find` finds, at first use.
    pub fn found_by(find: impl FnOnce() -> ProtectedPaths + 'static) -> Self {
        Self(Rc::new(LazyCell::new(Box::new(|| {
            let mut paths = find();
            for all in [&mut paths.places, &mut paths.roots, &mut paths.deciding] {
                all.retain(|path| path.is_absolute());
            }
            paths
        }))))
    }

    /// Their paths, which are absolute.
    pub fn paths(&self) -> &ProtectedPaths {
        &self.0
    }
}

impl Default for ProtectedPlaces {
    fn default() -> Self {
        Self::found_by(ProtectedPaths::default)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_tilde_is_the_home_directory_where_the_tool_expands_it() {
        let places = RuleDirectories {
            project_root: "/p".into(),
            home: Some("/h".into()),
            ..RuleDirectories::default()
        };
        for (written, path) in [("~", "/h"), ("~/x", "/h/x"), ("~x", "/p/~x"), ("x", "/p/x")] {
            assert_eq!(
                places.for_tool("shell_exec", written),
                Path::new(path),
                "{written}"
            );
        }
        assert_eq!(places.for_tool("file_head", "~/x"), Path::new("/p/~/x"));
    }
}
