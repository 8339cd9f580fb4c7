//! Which files a confined script may read and which it may change. Everything not named here is
//! inaccessible, above all the user's home.

use std::path::{Path, PathBuf};

use super::Confinement;
use crate::sys::{Directories, Env};

/// The system: programs, libraries and their configuration, and kernel information. Not the users'
/// homes, `/var`, or other people's temporary files.
const SYSTEM: [&str; 17] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/proc",
    "/sys",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager",
];

/// Devices that any program may need to read and write.
#[cfg(target_os = "linux")]
pub const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
];

/// Where interpreters keep libraries in a home directory.
const HOME_LIBRARIES: [&str; 2] = [".local/lib", ".local/share/uv"];

/// The directories and programs around a script.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// The skill's directory.
    pub skill_dir: &'a Path,
    /// The user's project.
    pub project_dir: &'a Path,
    /// The script's own temporary directory.
    pub temp: &'a Path,
    /// The program that runs the script.
    pub interpreter: &'a Path,
    /// How it is confined.
    pub confinement: &'a Confinement,
    /// The environment of this process.
    pub base: &'a Env,
}

impl Places<'_> {
    /// What may be read and executed. Notes directories of the `PATH` that are left out because
    /// they contain the user's home and would expose all of it.
    pub fn readable(&self, notes: &mut Vec<String>) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        all.push(self.skill_dir.to_owned());
        let home = self.base.home();
        if let Some(home) = &home {
            all.extend(HOME_LIBRARIES.iter().map(|below| home.join(below)));
        }
        let path = self.base.os("PATH").unwrap_or_default();
        let real = self.interpreter.canonicalize();
        let interpreters = [Some(self.interpreter), real.as_deref().ok()];
        let interpreters = interpreters.into_iter().flatten();
        let of_interpreter = interpreters.clone().filter_map(Path::parent);
        for dir in std::env::split_paths(path).chain(of_interpreter.map(Path::to_owned)) {
            if !dir.is_absolute() || SYSTEM.iter().any(|system| dir.starts_with(system)) {
                continue;
            }
            if contains_home(&dir, home.as_deref()) {
                let note = format!(
                    "sandbox: `{}` contains the home directory, so the script may not use the \
                     programs in it",
                    dir.display()
                );
                if !notes.contains(&note) {
                    notes.push(note);
                }
                continue;
            }
            all.extend(installation(&dir, home.as_deref()));
            all.push(dir);
        }
        // The interpreter itself must be readable even if the directories around it are not.
        all.extend(interpreters.map(Path::to_owned));
        all
    }

    /// What may be changed, besides [`DEVICES`]. Notes whether the project is excluded, and allowed
    /// paths that do not exist.
    pub fn writable(&self, notes: &mut Vec<String>) -> Vec<PathBuf> {
        let mut all = vec![self.temp.to_owned()];
        match self.no_project() {
            Some(reason) => notes.push(format!(
                "sandbox: `{}` {reason}, so the script may not use it as its project",
                self.project_dir.display()
            )),
            None => all.push(self.project_dir.to_owned()),
        }
        for path in &self.confinement.allowed_paths {
            let path = self.expanded(path);
            if !path.exists() {
                let shown = path.display();
                notes.push(format!(
                    "sandbox: the allowed path `{shown}` does not exist"
                ));
            }
            all.push(path);
        }
        all
    }

    /// Why a script must not get access to the project: it would expose all of a home inside it,
    /// and write access to our own directory would let a script lift the limits of every script.
    fn no_project(&self) -> Option<&'static str> {
        if contains_home(self.project_dir, self.base.home().as_deref()) {
            return Some("contains the home directory");
        }
        let project = real(self.project_dir);
        let ours = Directories::from_env(self.base).private(self.base);
        ours.iter().map(|dir| real(dir)).find_map(|dir| {
            if dir.starts_with(&project) {
                Some("contains the directory of agent-skills")
            } else {
                let is_inside = project.starts_with(&dir);
                is_inside.then_some("is in the directory of agent-skills")
            }
        })
    }

    /// Expands `~`; a relative path is relative to the project.
    fn expanded(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), self.base.home()) {
            (Ok(below), Some(home)) => home.join(below),
            _ => self.project_dir.join(path),
        }
    }
}

/// Where the programs in `dir` keep their libraries: the parent directory, if it looks like an
/// installation and is not a part of a home that holds other things.
fn installation(dir: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let above = dir.parent()?;
    let shared = [".local", ".cargo", ".config"]
        .iter()
        .any(|name| above.ends_with(name));
    let has_libraries = ["lib", "libexec"]
        .iter()
        .any(|name| above.join(name).is_dir());
    let is_one = has_libraries || dir.ends_with("shims");
    (is_one && !shared && !contains_home(above, home)).then(|| above.to_owned())
}

fn contains_home(dir: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| real(home).starts_with(real(dir)))
}

/// Resolves links in the part of a path that exists.
fn real(path: &Path) -> PathBuf {
    let resolved = path.ancestors().find_map(|above| {
        let below = path.strip_prefix(above).ok()?;
        let above = above.canonicalize().ok()?;
        // Joining an empty path would add a slash.
        Some(above.components().chain(below.components()).collect())
    });
    resolved.unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Tree {
        _dir: tempfile::TempDir,
        root: PathBuf,
    }

    fn tree(dirs: &[&str]) -> Tree {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for below in dirs {
            fs::create_dir_all(root.join(below)).unwrap();
        }
        Tree { _dir: dir, root }
    }

    impl Tree {
        /// What may be read and what may be changed there, with the remarks.
        fn places(&self, path: &str, project: &str) -> (Vec<PathBuf>, Vec<PathBuf>, Vec<String>) {
            let at = |below: &str| self.root.join(below);
            let path: Vec<PathBuf> = path.split(':').map(at).collect();
            let path = std::env::join_paths(path).unwrap();
            let base = Env::new(
                [("HOME", at("home").into_os_string()), ("PATH", path)],
                &self.root,
            );
            let places = Places {
                skill_dir: &at("skill"),
                project_dir: &at(project),
                temp: &at("temp"),
                interpreter: Path::new("/usr/bin/true"),
                confinement: &Confinement {
                    allowed_paths: vec!["~/out".into(), "/abs".into(), "rel".into()],
                    ..Confinement::default()
                },
                base: &base,
            };
            let mut notes = Vec::new();
            let readable = places.readable(&mut notes);
            let writable = places.writable(&mut notes);
            (readable, writable, notes)
        }
    }

    #[test]
    fn programs_come_with_their_installation_and_not_the_home() {
        let tree = tree(&[
            "home/.pyenv/shims",
            "home/.local/bin",
            "home/.local/lib",
            "home/.cargo/bin",
            "home/bin",
            "home/lib",
            "tools/node/bin",
            "tools/node/lib",
            "plain/bin",
        ]);
        let path =
            "home/.pyenv/shims:home/.local/bin:home/.cargo/bin:home/bin:tools/node/bin:plain/bin";
        let (readable, ..) = tree.places(path, "project");
        let may = |below: &str| readable.contains(&tree.root.join(below));
        for open in [
            "home/.pyenv",
            "tools/node",
            "home/bin",
            "home/.local/lib",
            "plain/bin",
            "skill",
        ] {
            assert!(may(open), "{open}");
        }
        for closed in [
            "home",
            "home/.local",
            "home/.cargo",
            "plain",
            "",
            "home/.ssh",
        ] {
            assert!(!may(closed), "{closed}");
        }
        assert!(!readable.contains(&PathBuf::from("/")));
    }

    #[test]
    fn a_directory_of_programs_that_contains_the_home_stays_closed() {
        let tree = tree(&["home/bin", "elsewhere"]);
        let linked = tree.root.join("elsewhere/linked");
        std::os::unix::fs::symlink(tree.root.join("home"), linked).unwrap();
        for closed in ["home", "", "home/", "home/bin/..", "elsewhere/linked"] {
            let (readable, _, notes) = tree.places(&format!("{closed}:home/bin"), "project");
            assert!(!readable.contains(&tree.root.join(closed)), "{closed}");
            assert!(readable.contains(&tree.root.join("home/bin")));
            let told = notes.iter().filter(|note| note.contains("programs in it"));
            assert_eq!(told.count(), 1, "{notes:?}");
        }
        let (.., notes) = tree.places("home/bin", "project");
        assert!(!notes.iter().any(|note| note.contains("programs in it")));
    }

    #[test]
    fn an_interpreter_beside_the_home_opens_itself_and_no_more() {
        let tree = tree(&["home", "skill"]);
        let base = Env::new([("HOME", tree.root.join("home"))], &tree.root);
        let interpreter = tree.root.join("home/lua");
        fs::write(&interpreter, "").unwrap();
        let places = Places {
            skill_dir: &tree.root.join("skill"),
            project_dir: &tree.root.join("project"),
            temp: &tree.root.join("temp"),
            interpreter: &interpreter,
            confinement: &Confinement::default(),
            base: &base,
        };
        let mut notes = Vec::new();
        let readable = places.readable(&mut notes);
        assert!(readable.contains(&interpreter) && !readable.contains(&tree.root.join("home")));
        assert_eq!(notes.len(), 1, "{notes:?}");
    }

    #[test]
    fn a_project_around_or_within_what_is_ours_is_none() {
        let plugin = "home/.chibi/plugins/agent-skills";
        let tree = tree(&["home/.chibi/plugins/agent-skills/skills", "home/x"]);
        let linked = tree.root.join("home/x/linked");
        std::os::unix::fs::symlink(tree.root.join("home/.chibi"), linked).unwrap();
        for project in [
            plugin,
            "home/.chibi",
            "home/x/linked",
            "home/.chibi/plugins/agent-skills/skills/other",
            // Does not exist yet.
            "home/.local/state",
        ] {
            let (_, writable, notes) = tree.places("x", project);
            assert!(!writable.contains(&tree.root.join(project)), "{project}");
            let told = |note: &String| note.contains("the directory of agent-skills");
            assert!(notes.iter().any(told), "{project}: {notes:?}");
        }
        for project in ["home/x", "home/.chibi/plugins/other"] {
            let (_, writable, notes) = tree.places("x", project);
            assert!(writable.contains(&tree.root.join(project)), "{notes:?}");
        }
    }

    #[test]
    fn a_project_that_contains_the_home_is_none() {
        let tree = tree(&["home/project", "elsewhere"]);
        for (project, is_open) in [
            ("home/project", true),
            ("elsewhere", true),
            ("home", false),
            ("", false),
        ] {
            let (_, writable, notes) = tree.places("x", project);
            assert_eq!(
                writable.contains(&tree.root.join(project)),
                is_open,
                "{project}"
            );
            assert_eq!(
                notes.iter().any(|note| note.contains("home directory")),
                !is_open
            );
            assert!(writable.contains(&tree.root.join("temp")));
        }
    }

    #[test]
    fn allowed_paths_are_of_the_home_of_the_project_or_absolute() {
        let tree = tree(&["home/out"]);
        let (_, writable, notes) = tree.places("x", "project");
        for path in ["home/out", "project/rel"] {
            assert!(writable.contains(&tree.root.join(path)), "{path}");
        }
        assert!(writable.contains(&PathBuf::from("/abs")));
        assert!(
            notes
                .iter()
                .any(|note| note.contains("`/abs` does not exist")),
            "{notes:?}"
        );
    }
}
