use super::*;
use crate::script::sandbox::Network;
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

/// What may be read and what may be changed, with the remarks.
type Opened = (Vec<PathBuf>, Vec<PathBuf>, Vec<String>);

impl Tree {
    /// What may be read and what may be changed there, with the remarks.
    fn places(&self, path: &str, project: &str) -> Opened {
        let allowed = ["~/out", "/abs", "rel"];
        self.places_of(path, project, Path::new("/usr/bin/true"), &allowed)
    }

    /// The same for an interpreter and allowed paths, in `project`.
    fn opened(&self, interpreter: &Path, allowed: &[&str]) -> Opened {
        self.places_of("tools", "project", interpreter, allowed)
    }

    fn places_of(&self, path: &str, project: &str, interpreter: &Path, allowed: &[&str]) -> Opened {
        let at = |below: &str| self.root.join(below);
        let path: Vec<PathBuf> = path.split(':').map(at).collect();
        let path = std::env::join_paths(path).unwrap();
        let base = Env::new(
            [("HOME", at("home").into_os_string()), ("PATH", path)],
            &self.root,
        );
        let places = SandboxInputs {
            skill_dir: &at("skill"),
            project_dir: &at(project),
            temp: &at("temp"),
            interpreter,
            confinement: &Confinement {
                allowed_paths: allowed.iter().map(PathBuf::from).collect(),
                ..Confinement::default()
            },
            base: &base,
        };
        let mut notes = Vec::new();
        let [readable, writable] = places.open(&mut notes);
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
    let places = SandboxInputs {
        skill_dir: &tree.root.join("skill"),
        project_dir: &tree.root.join("project"),
        temp: &tree.root.join("temp"),
        interpreter: &interpreter,
        confinement: &Confinement::default(),
        base: &base,
    };
    let mut notes = Vec::new();
    let [readable, _] = places.open(&mut notes);
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
    // `rel` is covered by the project.
    for path in ["home/out", "project"] {
        assert!(writable.contains(&tree.root.join(path)), "{path}");
    }
    assert!(!writable.contains(&tree.root.join("rel")));
    assert!(writable.contains(&PathBuf::from("/abs")));
    assert!(
        notes
            .iter()
            .any(|note| note.contains("`/abs` does not exist")),
        "{notes:?}"
    );
}

/// A tree in which `project/link` leads to the keys in the home, by a link of the project.
fn linked() -> Tree {
    let tree = tree(&[
        "home/.ssh",
        "home/.chibi/plugins",
        "home/tools/bin",
        "home/tools/lib",
        "project/bin",
        "project/lib",
    ]);
    let link = |to: &str, at: &str| {
        std::os::unix::fs::symlink(tree.root.join(to), tree.root.join(at)).unwrap();
    };
    link("home/.ssh", "project/link");
    link("home", "project/up");
    link("project/link", "home/keys");
    link("home/tools/bin", "home/bin");
    tree
}

#[test]
fn a_link_in_the_project_opens_no_directory_of_programs() {
    let tree = linked();
    for path in ["project/link", "project/up/.ssh", "home/keys"] {
        let (readable, _, notes) = tree.places(path, "project");
        assert!(!readable.contains(&tree.root.join("home/.ssh")), "{path}");
        let told = notes.iter().filter(|note| note.contains("stays closed"));
        assert_eq!(told.count(), 1, "{notes:?}");
    }
}

#[test]
fn what_the_project_covers_has_no_rule_of_its_own() {
    let tree = linked();
    let (readable, writable, notes) = tree.places("project/bin:project/missing", "project");
    let inside = |path: &&PathBuf| path.starts_with(tree.root.join("project"));
    assert_eq!(readable.iter().find(inside), None);
    assert_eq!(writable.iter().filter(inside).count(), 1);
    assert!(!notes.iter().any(|note| note.contains("stays closed")));
}

#[test]
fn a_link_that_no_script_can_change_is_followed() {
    let tree = linked();
    let (readable, ..) = tree.places("home/bin", "project");
    assert!(readable.contains(&tree.root.join("home/tools/bin")));
}

#[test]
fn an_interpreter_behind_a_link_of_the_project_stays_closed() {
    let tree = linked();
    let key = tree.root.join("home/.ssh/id");
    fs::write(&key, "").unwrap();
    for interpreter in ["project/link/id", "project/python"] {
        let interpreter = tree.root.join(interpreter);
        if !interpreter.exists() {
            std::os::unix::fs::symlink(&key, &interpreter).unwrap();
        }
        let (readable, _, notes) = tree.opened(&interpreter, &[]);
        let mut open = readable.iter();
        assert!(!open.any(|path| key.starts_with(path)), "{readable:?}");
        assert!(notes.iter().any(|note| note.contains("stays closed")));
    }
}

#[test]
fn an_allowed_path_behind_a_link_of_the_project_is_none() {
    let tree = linked();
    for allowed in ["link", "up/.ssh", "bin/../../home/.ssh", "~/keys"] {
        let (_, writable, notes) = tree.opened(Path::new("/usr/bin/true"), &[allowed]);
        assert_eq!(
            writable,
            [tree.root.join("temp"), tree.root.join("project")]
        );
        assert!(notes.iter().any(|note| note.contains("stays closed")));
    }
}

#[test]
fn an_allowed_path_exposes_neither_the_home_nor_what_is_ours() {
    let tree = linked();
    for allowed in ["~", "/", "~/.chibi", "~/.local"] {
        let (_, writable, notes) = tree.opened(Path::new("/usr/bin/true"), &[allowed]);
        assert_eq!(writable.len(), 2, "{allowed}: {writable:?}");
        assert!(notes.iter().any(|note| note.contains("stays closed")));
    }
}

#[test]
fn a_link_in_another_allowed_path_decides_nothing() {
    let tree = linked();
    let inside = tree.root.join("home/tools/lib/link");
    std::os::unix::fs::symlink(tree.root.join("home/.ssh"), inside).unwrap();
    let (_, writable, _) = tree.opened(
        Path::new("/usr/bin/true"),
        &["~/tools/lib/link", "~/tools/lib"],
    );
    assert!(writable.contains(&tree.root.join("home/tools/lib")));
    assert!(!writable.contains(&tree.root.join("home/.ssh")));
}

#[test]
fn links_of_a_project_around_the_home_decide_nothing() {
    let tree = linked();
    std::os::unix::fs::symlink("home/.ssh", tree.root.join("out")).unwrap();
    let out = tree.root.join("out").display().to_string();
    let (_, writable, _) = tree.places_of("x", "", Path::new("/usr/bin/true"), &[&out]);
    assert_eq!(writable, [tree.root.join("temp")]);
}

fn built(
    mode: SandboxMode,
    network: Network,
    kernel: Kernel,
) -> Result<(Option<Sandbox>, Vec<String>)> {
    let mut notes = Vec::new();
    let confinement = Confinement {
        mode,
        network,
        allowed_paths: Vec::new(),
    };
    let dir = tempfile::tempdir().unwrap();
    let base = Env::new([("HOME", "/nowhere/home")], dir.path());
    let places = SandboxInputs {
        skill_dir: dir.path(),
        project_dir: dir.path(),
        temp: dir.path(),
        interpreter: Path::new("/bin/sh"),
        confinement: &confinement,
        base: &base,
    };
    let sandbox = places.sandbox("run.sh", kernel, &mut notes)?;
    Ok((sandbox, notes))
}

/// Simulated kernels, none more capable than the running one.
fn kernels() -> impl Iterator<Item = Kernel> {
    let at_hand = Kernel::at_hand();
    let versions = (0..8).filter(move |version| *version <= at_hand.landlock);
    versions.flat_map(move |landlock| {
        [false, true]
            .into_iter()
            .filter(move |seccomp| at_hand.seccomp || !seccomp)
            .map(move |seccomp| Kernel { landlock, seccomp })
    })
}

#[test]
fn missing_requirements_are_refused_all_at_once() {
    for kernel in kernels() {
        for network in [Network::Open, Network::Restricted] {
            let lacks = kernel.lacks(network);
            match built(SandboxMode::Require, network, kernel) {
                Ok((sandbox, _)) => {
                    assert!(lacks.is_empty(), "{kernel:?}");
                    let sandbox = sandbox.unwrap();
                    assert!(sandbox.files.is_some() && sandbox.is_filtered);
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.starts_with("`run.sh` was not run"), "{text}");
                    assert!(!lacks.is_empty() && lacks.iter().all(|lack| text.contains(lack)));
                    assert!(error.next_step().is_some());
                }
            }
        }
    }
}

#[test]
fn what_is_wanted_applies_as_far_as_possible() {
    for kernel in kernels() {
        for network in [Network::Open, Network::Restricted] {
            let (sandbox, notes) = built(SandboxMode::Auto, network, kernel).unwrap();
            let notes = notes.join("\n");
            assert!(
                kernel
                    .lacks(network)
                    .iter()
                    .all(|lack| notes.contains(lack))
            );
            let held = sandbox.map(|held| (held.files.is_some(), held.is_filtered));
            let expected = (kernel.landlock > 0, kernel.seccomp);
            assert_eq!(held, kernel.confines().then_some(expected), "{kernel:?}");
        }
    }
}

#[test]
fn off_is_off_on_every_kernel() {
    for kernel in kernels() {
        let (sandbox, notes) = built(SandboxMode::Off, Network::Restricted, kernel).unwrap();
        assert!(sandbox.is_none() && notes.is_empty());
    }
}
