//! The main job with each git on this machine: Debian's own (`/usr/bin/git`), those on PATH, and those
//! that `AGENT_SKILLS_GITS` names, separated by colons. What one git does and another does not has
//! broken it before.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use crate::Host;
use crate::host::Has;
use crate::market::skill;
use crate::repository::{Hub, commit, files, git, rev};
use crate::server::Server;

/// The programs with their versions, each version once.
fn gits() -> Vec<(PathBuf, String)> {
    let named = std::env::var_os("AGENT_SKILLS_GITS").unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|dir| dir.join("git"));
    let debian = [PathBuf::from("/usr/bin/git")];
    let all = std::env::split_paths(&named)
        .filter(|path| path.is_absolute())
        .chain(on_path)
        .chain(debian);
    let mut seen = BTreeSet::new();
    let found: Vec<_> = all
        .filter_map(|program| {
            let output = Command::new(&program).arg("--version").output().ok()?;
            let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            seen.insert(version.clone()).then_some((program, version))
        })
        .collect();
    for named in std::env::split_paths(&named).filter(|path| path.is_absolute()) {
        assert!(named.exists(), "{} is not there", named.display());
    }
    if let [(_, version)] = &*found {
        println!("skipped: other versions of git, since there is only {version}");
    }
    assert!(!found.is_empty(), "there is no git");
    found
}

/// Runs a test with a host for each git, and GitHub's stand-in.
fn with_each(test: impl Fn(Host, &Hub)) {
    for (program, version) in gits() {
        println!("with {version}");
        let (first, hub) = (tempfile::tempdir().unwrap(), Hub::new());
        symlink(program, first.path().join("git")).unwrap();
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", first.path().display());
        let host = Host::stdin()
            .var("PATH", &path)
            .var("AGENT_SKILLS_GITHUB_BASE", &hub.base());
        test(host, &hub);
    }
}

/// `acme/skills` with two skills, of which `big` has a large file, and what git itself reads.
fn repository(hub: &Hub, may_filter: bool) -> PathBuf {
    let noise = (0..60_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let noise = noise.fold(String::new(), |text, n| text + &format!("{n:016x}"));
    let dir = hub.repository(
        "acme/skills",
        &[
            (".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs\n"),
            ("skills/.gitattributes", "*.txt text\n"),
            ("skills/pdf/SKILL.md", &skill("pdf")),
            ("skills/pdf/scripts/run.sh", "#!/bin/sh\necho ran\n"),
            ("skills/big/SKILL.md", &skill("big")),
            ("skills/big/noise.txt", &noise),
        ],
    );
    let may_filter = may_filter.to_string();
    git(&dir, &["config", "uploadpack.allowFilter", &may_filter]);
    dir
}

fn change(dir: &Path, text: &str) {
    fs::write(dir.join("skills/pdf/more.md"), text).unwrap();
    commit(dir);
}

#[test]
fn every_git_installs_updates_and_shows_history() {
    for may_filter in [true, false] {
        with_each(|host, hub| {
            let dir = repository(hub, may_filter);
            let first = rev(&dir, "HEAD");
            let who = ["-c", "user.name=t", "-c", "user.email=t@e"];
            git(&dir, &[&who[..], &["tag", "-a", "-m", "t", "v1"]].concat());
            host.succeeds(&["install", "--yes", "acme/skills@pdf"]);
            change(&dir, "second");
            change(&dir, "third");
            host.person(&["update", "--check"]).stdout.has("pdf");
            host.succeeds(&["update", "--yes", "pdf"]);
            let installed = host.skills_dir().join("pdf");
            assert_eq!(fs::read(installed.join("more.md")).unwrap(), b"third");
            let history = host.succeeds(&["info", "pdf", "--history"]);
            assert!(history.matches("change").count() >= 2, "{history}");
            host.succeeds(&["verify", "pdf"]).has("intact");
            if !may_filter {
                return;
            }
            for reference in [
                "acme/skills@pdf#v1",
                &format!("acme/skills@pdf#{first}"),
                "acme/skills/skills/pdf#v1",
            ] {
                host.succeeds(&["remove", "--yes", "pdf"]);
                host.succeeds(&["install", "--yes", reference]);
                assert!(!installed.join("more.md").exists(), "{reference}");
            }
            host.succeeds(&["remove", "--yes", "pdf"]);
            host.succeeds(&["install", "--yes", "--offline", "acme/skills@pdf"]);
            host.succeeds(&["install", "--yes", "acme/skills", "--all"]);
            assert!(host.skills_dir().join("big/noise.txt").exists());
        });
    }
}

#[test]
fn every_git_fetches_only_what_is_read() {
    with_each(|host, hub| {
        let dir = repository(hub, true);
        let server = Server::new(hub.dir());
        let sent = || server.behaviour.sent.load(Ordering::SeqCst);
        let url = server.url("acme/skills.git");
        host.succeeds(&["install", "--yes", &format!("{url}@pdf")]);
        change(&dir, "second");
        host.succeeds(&["update", "--yes", "pdf"]);
        host.succeeds(&["info", "pdf", "--history"]);
        assert!(sent() < 60_000, "{}", sent());
        let fetches = server.behaviour.fetches.load(Ordering::SeqCst);
        assert!(fetches < 12, "{fetches}");
        // What is missing is missing for a later command too: no git fetches it by itself.
        for (path, _) in files(&host.plugin_dir().join("cache/repositories")) {
            if path.ends_with("config") {
                let config = host.plugin_dir().join("cache/repositories").join(path);
                fs::read_to_string(config).unwrap().lacks("promisor");
            }
        }
        host.succeeds(&["install", "--yes", &format!("{url}@big")]);
        assert!(sent() > 200_000, "{}", sent());
    });
}

/// Writes an object that git itself would not write, and answers its id.
fn object(dir: &Path, kind: &str, bytes: &[u8]) -> String {
    let mut command = Command::new("git");
    let words = ["hash-object", "-t", kind, "-w", "--literally", "--stdin"];
    command.args(words).current_dir(dir);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Makes a commit of a tree the branch's next one.
fn committed(dir: &Path, tree: &str, who: &str) {
    let text = format!("tree {tree}\nparent {}\n{who}\n\nodd\n", rev(dir, "HEAD"));
    let id = object(dir, "commit", text.as_bytes());
    git(dir, &["update-ref", "refs/heads/main", &id]);
    git(dir, &["reset", "-q", "--hard"]);
}

#[test]
fn every_git_installs_what_has_odd_dates_and_authors() {
    let good = "author t <t@e> 1287367363 +0000";
    with_each(|host, hub| {
        let dir = repository(hub, true);
        let mut verb = ["install", "--yes", "acme/skills@pdf"];
        for (number, who) in [
            &format!("{good}\ncommitter t <t@e> 1287367363 -700"),
            &format!("author t <t@e> 01 +0000\n{good}"),
            "author t<t@e>1287367363 +0000\ncommitter <t@e 1287367363 +0000",
            &format!("{good}\n{good}\ncommitter t <t@e> 99999999999999999999 +51800"),
            good,
        ]
        .into_iter()
        .enumerate()
        {
            // It is the tip at first, and then history.
            change(&dir, &number.to_string());
            committed(&dir, &rev(&dir, "HEAD^{tree}"), who);
            host.succeeds(&verb);
            let more = host.skills_dir().join("pdf/more.md");
            assert_eq!(fs::read_to_string(more).unwrap(), number.to_string());
            verb = ["update", "--yes", "pdf"];
        }
        change(&dir, "last");
        host.succeeds(&verb);
        host.succeeds(&["info", "pdf", "--history"]).has("change");
    });
}

fn entry(mode: &str, name: &str, id: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).unwrap();
    let id = (0..id.len()).step_by(2).map(digit);
    let head = format!("{mode} {name}\0").into_bytes();
    head.into_iter().chain(id).collect()
}

#[test]
#[allow(
    clippy::too_many_lines,
    reason = "one tree, with all that is hostile in it"
)]
fn every_git_writes_nothing_of_a_hostile_tree_elsewhere() {
    with_each(|host, hub| {
        let dir = repository(hub, true);
        let who = "author t <t@e> 1 +0000\ncommitter t <t@e> 1 +0000";
        let file = |text: &str| object(&dir, "blob", text.as_bytes());
        let (good, evil) = (file(&skill("pdf")), file("evil"));
        let dot_git = object(&dir, "tree", &entry("100644", "config", &evil));
        let missing = "1".repeat(40);
        let skill_file = entry("100644", "SKILL.md", &good);
        let first = entry("100644", "A.md", &evil);
        let in_dir = entry("40000", "A.md", &dot_git);
        let before = |odd: Vec<u8>| [odd, skill_file.clone()];
        for (what, is_taken, entries) in [
            (".git", true, before(entry("40000", ".git", &dot_git))),
            (".GIT", true, before(entry("40000", ".GIT", &dot_git))),
            ("..", true, before(entry("40000", "..", &dot_git))),
            (".", true, before(entry("40000", ".", &dot_git))),
            ("slash", true, before(entry("100644", "../../evil", &evil))),
            ("root", true, before(entry("100644", "/tmp/evil", &evil))),
            ("empty", true, before(entry("100644", "", &evil))),
            ("padded", true, before(entry("0100644", "A.md", &evil))),
            ("no mode", true, before(entry("100640", "A.md", &evil))),
            ("link", true, before(entry("120000", ".gitmodules", &evil))),
            ("twice", true, before([&*first, &*first].concat())),
            ("both", false, before([&*first, &*in_dir].concat())),
            ("order", true, [skill_file.clone(), first.clone()]),
            ("nothing", false, before(entry("100644", "A.md", &missing))),
        ] {
            let pdf = object(&dir, "tree", &entries.concat());
            let skills = object(&dir, "tree", &entry("40000", "pdf", &pdf));
            let root = object(&dir, "tree", &entry("40000", "skills", &skills));
            let id = format!("tree {root}\n{who}\n\nodd\n");
            let id = object(&dir, "commit", id.as_bytes());
            git(&dir, &["update-ref", "refs/heads/main", &id]);
            let ran = host.person(&["install", "--yes", "acme/skills@pdf"]);
            // A server need not send such a tree.
            if is_taken && ran.status != 0 {
                println!("{what}: {}", ran.stderr);
            }
            for (path, _) in files(&host.skills_dir()) {
                let known = ["pdf/SKILL.md", "pdf/A.md", "pdf/A.md/config"];
                let is_known = known.iter().any(|one| path == Path::new(one));
                assert!(is_known, "{what}: {}", path.display());
            }
            let outside = [
                host.plugin_dir().join("evil"),
                host.skills_dir().join("evil"),
            ];
            assert!(outside.iter().all(|path| !path.exists()), "{what}");
            let told = ran.stderr.to_lowercase();
            assert!(!told.contains("disk"), "{what}: {told}");
            host.person(&["remove", "--yes", "pdf"]);
        }
    });
}
