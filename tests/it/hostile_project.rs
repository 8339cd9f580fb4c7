//! A repository that somebody cloned attacks its reader: every place in its `.chibi` that may be a
//! link is one, its lockfile and unfinished changes name what they like, and every verb runs in it. What lies
//! outside the project stays as it was, byte for byte.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, Ran, write_at};
use crate::market_sources::skill;
use crate::repository::{Hub, commit, copy};

/// A home with a canary, a project in it that was cloned, and a source to install from.
struct Clone {
    hub: Rc<Hub>,
    host: Host,
}

/// What lies at a path: a file's bytes and mode, or where a link leads.
type Everything = Vec<(PathBuf, String)>;

impl Clone {
    fn new() -> Self {
        let hub = Hub::new();
        let source = hub.skills(&["pdf", "csv"]);
        write_at(source.join("skills/pdf/evil"), "#!/bin/sh\n");
        commit(&source);
        let host = hub.host();
        for file in [
            "canary/a/lock",
            "canary/a/old/SKILL.md",
            "canary/b/c/file",
            "canary/pdf/SKILL.md",
        ] {
            let path = host.home().join(file);
            write_at(path, format!("{file} is the user's"));
        }
        write_at(
            host.home().join("canary/a/intended.json"),
            r#"[{"name":"pdf","entry":null,"files":"Gone","stash":null}]"#,
        );
        fs::write(host.home().join("canary/audit.jsonl"), "").unwrap();
        let hub = Rc::new(hub);
        Self { hub, host }
    }

    /// Another clone in another home, with everything as it is in this one.
    fn again(&self) -> Self {
        let hub = Rc::clone(&self.hub);
        let host = hub.host();
        copy(self.host.home(), host.home());
        Self { hub, host }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.host.project().join(".chibi").join(path)
    }

    /// Installs the skill there, updates it and leaves what an update leaves.
    fn with_history(self) -> Self {
        self.succeeds(&["install", "acme/pdf", "--project"]);
        let source = self.hub.dir().join("acme/skills");
        fs::write(source.join("skills/pdf/evil"), "#!/bin/sh\necho 2\n").unwrap();
        commit(&source);
        self.succeeds(&["update", "--project"]);
        fs::write(source.join("skills/pdf/evil"), "#!/bin/sh\necho 3\n").unwrap();
        commit(&source);
        self
    }

    fn succeeds(&self, args: &[&str]) {
        self.host.succeeds(args);
    }

    fn run(&self, words: &[&str]) -> Ran {
        self.host.person(words)
    }

    /// Everything that is the user's: the home but for the project, and what our own plugin
    /// directory holds besides its skills.
    fn outside(&self) -> Everything {
        let mut found = Vec::new();
        let mut todo = vec![self.host.home().to_owned()];
        while let Some(dir) = todo.pop() {
            for entry in fs::read_dir(&dir).unwrap().map(Result::unwrap) {
                let (path, kind) = (entry.path(), entry.file_type().unwrap());
                let own = self.host.plugin_dir();
                if path == self.host.project()
                    || (path.starts_with(&own)
                        && !path.starts_with(own.join("skills"))
                        && path != own)
                {
                    continue;
                }
                let what = if kind.is_dir() {
                    todo.push(path.clone());
                    "a directory".to_owned()
                } else if kind.is_symlink() {
                    format!("a link to {}", fs::read_link(&path).unwrap().display())
                } else {
                    format!("{:?}", String::from_utf8_lossy(&fs::read(&path).unwrap()))
                };
                found.push((path, what));
            }
        }
        found.sort();
        found
    }
}

const VERBS: [&[&str]; 14] = [
    &["install", "--yes"],
    &["install", "--frozen", "--yes"],
    &["install", "--project"],
    &[
        "install",
        "acme/pdf",
        "--project",
        "-y",
        "--accept-findings",
    ],
    &["install", "acme/pdf", "--project", "--name", "other", "-y"],
    &["update", "--project", "--diff", "--dry-run"],
    &["update", "--project", "--yes", "--force"],
    &["update", "--project", "--yes", "--stash"],
    &["remove", "pdf", "--project"],
    &["rollback", "pdf", "--project"],
    &["verify", "--project"],
    &["info", "--history", "pdf"],
    &["list", "--long"],
    &["doctor", "--fix"],
];

/// A place below `.chibi`, and where a link there leads.
const PLACES: [(&str, &str); 14] = [
    ("", "../../canary"),
    ("", "../../.chibi"),
    ("staging", "../../../canary"),
    ("staging", "../../.."),
    ("skills", "../../../canary"),
    ("skills", "../../../.chibi/plugins"),
    ("previous", "../../../canary"),
    ("stash", "../../../canary"),
    ("cache", "../../../canary"),
    ("audit.jsonl", "../../../canary/audit.jsonl"),
    (".staging.lock", "../../../canary/new-file"),
    (".install.lock", "../../../canary/new-file"),
    ("skills.lock.json", "../../../canary/b/c/file"),
    ("config.toml", "../../../canary/b/c/file"),
];

#[test]
fn no_verb_writes_or_deletes_through_a_link_of_a_project() {
    let untouched = Clone::new().with_history();
    for (place, target) in PLACES {
        let clone = untouched.again();
        let dir = clone.host.project().join("canary-skill");
        write_at(dir.join("SKILL.md"), skill("linked"));
        let path = clone.at(place);
        // Joined with nothing, a path ends in a slash, and means what a link leads to.
        let path = if place.is_empty() {
            clone.host.project().join(".chibi")
        } else {
            path
        };
        let aside = clone.host.project().join("aside");
        if path.symlink_metadata().is_ok() {
            fs::rename(&path, &aside).unwrap();
        }
        symlink(target, &path).unwrap();
        let before = clone.outside();
        for verb in VERBS {
            let ran = clone.run(verb);
            let now = clone.outside();
            assert_eq!(now, before, "{place} -> {target}: {verb:?}: {ran:?}");
            assert!(path.is_symlink(), "{place}: {verb:?}: {ran:?}");
            assert!(!ran.stderr.contains("panicked"), "{verb:?}: {ran:?}");
        }
        let is_in_the_way =
            !["previous", "stash", "cache", "audit.jsonl", "config.toml"].contains(&place);
        if is_in_the_way {
            let words = ["install", "acme/csv", "--project", "--yes"];
            let told = clone.host.fails(&words);
            let shown = path.display().to_string();
            told.has(&shown).has("symbolic link").has("remove the link");
        }
    }
}

#[test]
fn what_a_lockfile_or_an_unfinished_change_names_is_no_path() {
    let valid = Clone::new().with_history();
    let lock = fs::read(valid.at("skills.lock.json")).unwrap();
    let lock: Value = serde_json::from_slice(&lock).unwrap();
    for name in [
        "../../../.chibi/plugins/evil",
        "../../canary/b",
        "/tmp/agent-skills-evil",
        "..",
        ".",
        "",
        "a/b",
        "\u{1b}]0;x\u{7}",
        "pdf\u{202e}txt",
        ".git",
    ] {
        let clone = Clone::new();
        fs::create_dir_all(clone.at("skills")).unwrap();
        let mut hostile = lock.clone();
        hostile["skills"][0]["name"] = json!(name);
        fs::write(clone.at("skills.lock.json"), hostile.to_string()).unwrap();
        // What a killed command of the same name would have left.
        let litter = clone.at("staging/1-0");
        fs::create_dir_all(litter.join("new/pdf/pdf")).unwrap();
        let intended = json!([{"name": name, "entry": null, "files": "Gone", "stash": null}]);
        for (file, text) in [
            ("intended.json", intended.to_string()),
            ("lock", String::new()),
            (".agent-skills", "1\n".to_owned()),
            ("new/pdf/pdf/SKILL.md", skill("evil")),
        ] {
            fs::write(litter.join(file), text).unwrap();
        }
        let before = clone.outside();
        let inside = crate::repository::files(&clone.at(""));
        for verb in VERBS {
            let ran = clone.run(verb);
            assert_eq!(clone.outside(), before, "{name:?}: {verb:?}: {ran:?}");
            let told = format!("{}{}", ran.stdout, ran.stderr);
            assert!(
                !told.contains(['\u{1b}', '\u{202e}', '\u{7}']),
                "{verb:?}: {told:?}"
            );
            assert!(litter.join("new/pdf/pdf/SKILL.md").exists(), "{verb:?}");
        }
        // Nothing of it was taken for ours, and nothing was put there.
        let mut now = crate::repository::files(&clone.at(""));
        now.retain(|(path, _)| !path.to_string_lossy().ends_with(".lock"));
        let mut expected = inside;
        expected.retain(|(path, _)| !path.to_string_lossy().ends_with(".lock"));
        assert_eq!(now, expected, "{name:?}");
    }
}

#[test]
fn a_host_that_works_in_a_clone_changes_nothing_outside_it() {
    for (place, target) in [
        ("staging", "../../.."),
        ("skills", "../../../.chibi/plugins"),
    ] {
        let clone = Clone::new().with_history();
        let _ = fs::rename(clone.at(place), clone.host.project().join("aside"));
        symlink(target, clone.at(place)).unwrap();
        let before = clone.outside();
        for arguments in [
            json!({"action": "install", "reference": "acme/pdf"}),
            json!({"action": "list_installed"}),
            json!({"action": "update"}),
            json!({"action": "remove", "name": "pdf"}),
        ] {
            clone.host.tool("skill_marketplace", &arguments);
            let mut now = clone.outside();
            // The model may install into the user's own skills; nothing else.
            now.retain(|(path, _)| !path.starts_with(clone.host.skills_dir().join("pdf")));
            assert_eq!(now, before, "{place}: {arguments}");
        }
    }
}

#[test]
fn the_users_own_links_work() {
    let hub = Hub::new();
    hub.skills(&["pdf"]);
    let host = hub.host();
    // Home's `.chibi`, as those have it who keep it on another disk.
    fs::rename(host.home().join(".chibi"), host.home().join("disk")).unwrap();
    symlink("disk", host.home().join(".chibi")).unwrap();
    // The configuration, as those have it who keep it in a repository of their own.
    let dotfile = host.home().join("dotfiles.toml");
    fs::write(&dotfile, "# mine\n").unwrap();
    symlink(&dotfile, host.plugin_dir().join("config.toml")).unwrap();
    host.succeeds(&["install", "acme/pdf"]);
    host.succeeds(&["install", "acme/pdf", "--layer", "personal"]);
    host.succeeds(&["config", "set", "tenant", "acme"]);
    assert!(
        host.home()
            .join("disk/plugins/agent-skills/skills/pdf/SKILL.md")
            .exists()
    );
    assert!(host.home().join("disk/skills/pdf/SKILL.md").exists());
    fs::read_to_string(&dotfile).unwrap().has("tenant");
    assert!(host.plugin_dir().join("config.toml").is_symlink());
    host.succeeds(&["remove", "pdf", "--layer", "personal"]);
    // A skill at its place as a link, as `npx skills` makes one for each agent.
    let real = host.project().join(".agents/skills/csv");
    write_at(real.join("SKILL.md"), skill("csv"));
    let agent = host.project().join(".claude/skills");
    fs::create_dir_all(&agent).unwrap();
    symlink("../../.agents/skills/csv", agent.join("csv")).unwrap();
    host.succeeds(&["trust", "--yes"]);
    assert_eq!(host.skill_tools(), ["skill_csv", "skill_pdf"]);
    let dir = project_link(host.project());
    let skills = host.project().join(".chibi/skills");
    fs::create_dir_all(&skills).unwrap();
    symlink(&dir, skills.join("mine")).unwrap();
    host.succeeds(&["remove", "mine", "--project"]);
    assert!(dir.join("SKILL.md").exists(), "only the link is removed");
}

fn project_link(project: &Path) -> PathBuf {
    let dir = project.join("mine");
    write_at(dir.join("SKILL.md"), skill("mine"));
    dir
}

/// As in a container that makes the clone its home, with the program elsewhere.
#[test]
fn a_link_in_a_clone_that_is_the_home_is_not_followed() {
    let host = Host::stdin();
    let thesis = host.home().join("victim/staging/2024-11/thesis");
    fs::create_dir_all(&thesis).unwrap();
    fs::write(host.home().join("victim/staging/7-0"), "").unwrap();
    symlink(host.home().join("victim"), host.project().join(".chibi")).unwrap();
    let source = host.home().join("source");
    write_at(source.join("SKILL.md"), skill("pdf"));
    let home = host.project().to_str().unwrap().to_owned();
    let host = host.var("HOME", &home);
    let words = [
        "install",
        "--yes",
        "--layer",
        "personal",
        source.to_str().unwrap(),
    ];
    host.fails(&words).has("/.chibi`: it is a symbolic link");
    assert_eq!(
        fs::read_dir(thesis.ancestors().nth(3).unwrap())
            .unwrap()
            .count(),
        1
    );
    fs::remove_file(host.project().join(".chibi")).unwrap();
    let mine = host.project().join(".chibi/staging/2024-11/thesis");
    fs::create_dir_all(&mine).unwrap();
    host.succeeds(&words);
    assert!(thesis.exists() && mine.exists());
}
