//! The limits of one script: which files it may read and which it may change. Everything not named
//! here is inaccessible, above all the user's home. The plugin decides them here, and the
//! script's process enters them; its children inherit them.

use crate::script::prelude::*;
use std::path::Component;

use super::confinement::{Confinement, Kernel, Sandbox, SandboxMode};
use crate::sys::Directories;

/// The system: programs, libraries and their configuration, and kernel information. Not the users'
/// homes, `/var`, or other people's temporary files.
const SYSTEM: &str = "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /nix /gnu /snap /proc /sys \
     /run/systemd/resolve /run/resolvconf /run/NetworkManager";

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
pub struct SandboxInputs<'a> {
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

/// Where a link decides nothing, and what is open anyway.
struct AllowedPlaces {
    /// What may be changed, without links.
    writable: Vec<PathBuf>,
    /// What a script or a repository fills: `writable`, and the project even if it is closed.
    foreign: Vec<PathBuf>,
}

/// Why a path stays closed that a link on its way could turn.
const LINKED: &str = "is reached by a link that a script can change";

impl AllowedPlaces {
    /// Whether what a script or a repository provides decides where a path leads.
    fn turns(&self, trail: &ResolvedPath) -> bool {
        self.foreign.iter().any(|place| trail.turns_in(place))
    }

    fn covers(&self, trail: &ResolvedPath) -> bool {
        let mut writable = self.writable.iter();
        writable.any(|place| trail.end.starts_with(place))
    }

    /// What to open for a path: nothing if a place that may be changed covers it, or decides where
    /// it leads.
    fn place(&self, path: &Path) -> Option<PathBuf> {
        let trail = ResolvedPath::follow(path)?;
        (!self.covers(&trail) && !self.turns(&trail)).then_some(trail.end)
    }
}

impl SandboxInputs<'_> {
    /// Builds the sandbox for one script on this kernel, and notes its gaps; `None` if the script is not
    /// confined.
    ///
    /// # Errors
    /// When confinement is required and the kernel cannot provide all of it.
    pub fn sandbox(
        &self,
        label: &str,
        kernel: Kernel,
        notes: &mut Vec<String>,
    ) -> Result<Option<Sandbox>> {
        let Confinement { mode, network, .. } = *self.confinement;
        if mode == SandboxMode::Off {
            return Ok(None);
        }
        let lacks = kernel.lacks(network);
        if mode == SandboxMode::Require && !lacks.is_empty() {
            let lacks = lacks.join("; ");
            let text = format!("`{label}` was not run: it has to be confined, and {lacks}");
            return Err(Error::new(text).hint(
                "tell the user: the setting `sandbox` of the skill is `require`, `auto` would run \
                 it as far confined as possible",
            ));
        }
        if !kernel.confines() {
            let lacks = lacks.join("; ");
            notes.push(format!("sandbox: `{label}` was not confined: {lacks}"));
            return Ok(None);
        }
        let plain = |paths: Vec<PathBuf>| paths.into_iter().map(PathBuf::into_os_string).collect();
        let files = (kernel.landlock > 0).then(|| self.open(notes).map(plain));
        let lacks = lacks.into_iter();
        notes.extend(lacks.map(|lack| format!("sandbox: not complete: {lack}")));
        Ok(Some(Sandbox {
            files,
            is_filtered: kernel.seccomp,
            network,
        }))
    }

    /// What may be read and executed, and what may be changed, besides [`DEVICES`]: paths without
    /// links, to be opened without following any. What a script can change decides none of them.
    /// Notes what is left out.
    pub fn open(&self, notes: &mut Vec<String>) -> [Vec<PathBuf>; 2] {
        let ground = self.ground(notes);
        let readable = self.readable(&ground, notes);
        *notes = distinct(notes.drain(..));
        [readable, ground.writable]
    }

    /// Leaves out directories of the `PATH` that contain the user's home and would expose all of
    /// it.
    fn readable(&self, ground: &AllowedPlaces, notes: &mut Vec<String>) -> Vec<PathBuf> {
        let home = self.base.home();
        let mut wanted = vec![self.skill_dir.to_owned()];
        let path = self.base.os("PATH").unwrap_or_default();
        let program = ResolvedPath::follow(self.interpreter).filter(|trail| !ground.turns(trail));
        let mut interpreters = vec![self.interpreter.to_owned()];
        interpreters.extend(program.map(|trail| trail.end));
        let beside = interpreters
            .iter()
            .filter_map(|file| Some(file.parent()?.to_owned()));
        for dir in std::env::split_paths(path).chain(beside) {
            if !dir.is_absolute() || SYSTEM.split(' ').any(|system| dir.starts_with(system)) {
                continue;
            }
            if contains_home(&dir, home.as_deref()) {
                notes.push(format!(
                    "sandbox: `{}` contains the home directory, so the script may not use the \
                     programs in it",
                    dir.display()
                ));
                continue;
            }
            wanted.extend(installation(&dir, home.as_deref()));
            wanted.push(dir);
        }
        // The interpreter itself must be readable even if the directories around it are not.
        wanted.extend(interpreters);
        let mut all: Vec<PathBuf> = SYSTEM.split(' ').map(PathBuf::from).collect();
        if let Some(home) = &home {
            all.extend(HOME_LIBRARIES.iter().map(|below| home.join(below)));
        }
        all.extend(wanted.iter().cloned());
        let all: Vec<_> = all.iter().filter_map(|path| ground.place(path)).collect();
        for path in wanted {
            let end = real(&path);
            let mut open = all.iter().chain(&ground.writable);
            if !open.any(|open| end.starts_with(open)) {
                let shown = path.display();
                notes.push(format!("sandbox: `{shown}` {LINKED}, so it stays closed"));
            }
        }
        all
    }

    /// Notes whether the project is excluded, and allowed paths that are or do not exist.
    fn ground(&self, notes: &mut Vec<String>) -> AllowedPlaces {
        let home = self.base.home();
        let project = real(self.project_dir);
        let mut ground = AllowedPlaces {
            writable: vec![real(self.temp)],
            foreign: Vec::new(),
        };
        let allowed = self.confinement.allowed_paths.iter();
        let allowed = allowed.map(|path| self.expanded(path));
        let wanted = std::iter::once(self.project_dir.to_owned()).chain(allowed);
        let wanted: Vec<_> = wanted.map(|path| (self.followed(&path), path)).collect();
        let ends = wanted.iter().filter_map(|(trail, _)| trail.as_ref().ok());
        ground.foreign.extend(ends.map(|trail| trail.end.clone()));
        // The links in a home are the user's own.
        if home.is_none_or(|home| real(&home) != project) {
            ground.foreign.push(project);
        }
        for (number, (trail, path)) in wanted.into_iter().enumerate() {
            let (what, therefore) = match number {
                0 => ("", "the script may not use it as its project"),
                _ => ("the allowed path ", "it stays closed"),
            };
            let shown = path.display();
            let kept = match trail {
                Ok(trail) if ground.covers(&trail) => continue,
                Ok(trail) if ground.turns(&trail) => Err(LINKED),
                other => other,
            };
            match kept {
                Ok(trail) => {
                    if number > 0 && !trail.end.exists() {
                        notes.push(format!("sandbox: {what}`{shown}` does not exist"));
                    }
                    ground.writable.push(trail.end);
                }
                Err(reason) => {
                    notes.push(format!("sandbox: {what}`{shown}` {reason}, so {therefore}"));
                }
            }
        }
        ground
    }

    /// Where a path leads that is to be writable, or why it must not be: it would expose all of a
    /// home inside it, and write access to our own directory would let a script lift the limits of
    /// every script.
    fn followed(&self, path: &Path) -> Result<ResolvedPath, &'static str> {
        let trail = ResolvedPath::follow(path).ok_or(LINKED)?;
        if contains_home(&trail.end, self.base.home().as_deref()) {
            return Err("contains the home directory");
        }
        for dir in Directories::from_env(self.base).private(self.base) {
            let dir = real(&dir);
            if dir.starts_with(&trail.end) {
                return Err("contains the directory of agent-skills");
            }
            if trail.end.starts_with(&dir) {
                return Err("is in the directory of agent-skills");
            }
        }
        Ok(trail)
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
    let end = real(above);
    let shared = [".local", ".cargo", ".config"]
        .iter()
        .any(|name| end.ends_with(name));
    let has_libraries = ["lib", "libexec"]
        .iter()
        .any(|name| above.join(name).is_dir());
    let is_one = has_libraries || dir.ends_with("shims");
    (is_one && !shared && !contains_home(above, home)).then(|| above.to_owned())
}

fn contains_home(dir: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| real(home).starts_with(real(dir)))
}

/// Where a path leads, for comparison; a path that must not be followed, as it is.
fn real(path: &Path) -> PathBuf {
    ResolvedPath::follow(path).map_or_else(|| path.to_owned(), |trail| trail.end)
}

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

/// A path whose links were followed.
#[derive(Debug)]
pub struct ResolvedPath {
    /// Where it leads: a path without links. What does not exist is appended as it is.
    pub end: PathBuf,
    /// Where something else than its names decided: the links, and the directories left by `..`.
    turns: Vec<PathBuf>,
}

impl ResolvedPath {
    /// Follows an absolute path; `None` if its links are too many.
    pub fn follow(path: &Path) -> Option<Self> {
        if !path.is_absolute() {
            return None;
        }
        let mut end = PathBuf::from("/");
        let mut turns = Vec::new();
        let mut links = 0;
        let mut left = normal_components(path);
        while let Some(name) = left.pop() {
            if name == ".." {
                turns.push(end.clone());
                end.pop();
                continue;
            }
            end.push(name);
            let Ok(target) = end.read_link() else {
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            turns.push(end.clone());
            end.pop();
            if target.is_absolute() {
                end = PathBuf::from("/");
            }
            left.extend(normal_components(&target));
        }
        Some(Self { end, turns })
    }

    /// Whether something in `place` decided where it leads.
    pub fn turns_in(&self, place: &Path) -> bool {
        let mut turns = self.turns.iter();
        turns.any(|turn| turn != place && turn.starts_with(place))
    }
}

/// The names in a path, the last one first.
fn normal_components(path: &Path) -> Vec<OsString> {
    let names = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    names.collect()
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod trail_tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("place/real")).unwrap();
        fs::create_dir_all(root.join("other/below")).unwrap();
        symlink("../other", root.join("place/link")).unwrap();
        symlink(root.join("place/link/below"), root.join("way")).unwrap();
        (dir, root)
    }

    #[test]
    fn a_path_leads_where_the_kernel_leads() {
        let (_dir, root) = tree();
        for (path, end) in [
            ("place/real", "place/real"),
            ("place/link/below", "other/below"),
            ("way", "other/below"),
            ("way/../../place", "place"),
            ("place/missing/x", "place/missing/x"),
        ] {
            let trail = ResolvedPath::follow(&root.join(path)).unwrap();
            assert_eq!(trail.end, root.join(end), "{path}");
        }
    }

    #[test]
    fn links_and_dots_inside_a_place_are_its_turns() {
        let (_dir, root) = tree();
        for (path, turns) in [
            ("place/real", false),
            ("place/link", true),
            ("way", true),
            ("place/real/../../other", true),
            ("place/../other", false),
            ("other/below", false),
        ] {
            let trail = ResolvedPath::follow(&root.join(path)).unwrap();
            assert_eq!(trail.turns_in(&root.join("place")), turns, "{path}");
        }
    }

    #[test]
    fn endless_links_and_relative_paths_lead_nowhere() {
        let (_dir, root) = tree();
        symlink("loop", root.join("loop")).unwrap();
        assert!(ResolvedPath::follow(&root.join("loop")).is_none());
        assert!(ResolvedPath::follow(Path::new("usr")).is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_is_opened_through_a_link() {
        use super::super::enforce::opened;
        let (_dir, root) = tree();
        for (path, opens) in [
            ("place/real", true),
            ("other/below", true),
            ("place/link", false),
            ("place/link/below", false),
            ("way", false),
        ] {
            assert_eq!(opened(&root.join(path)).is_ok(), opens, "{path}");
        }
    }
}
