//! `sync`: a layer becomes what a lockfile says, as a whole or not at all, and says by its status
//! whether there was anything to do.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, each, write_at};
use crate::market::skill;
use crate::repository::{Hub, commit, files};

/// An author's repository, a machine on which its skills are tried, and its lockfile.
pub struct Fleet {
    pub hub: Hub,
    pub dir: PathBuf,
    pub list: PathBuf,
    first: Host,
}

impl Fleet {
    /// `acme/skills` with these skills.
    pub fn new(names: &[&str]) -> Self {
        let hub = Hub::new();
        let texts = names.iter();
        let texts = texts.map(|name| (format!("skills/{name}/SKILL.md"), skill(name)));
        let texts: Vec<_> = texts.collect();
        let texts: Vec<_> = texts
            .iter()
            .map(|(path, text)| (&**path, &**text))
            .collect();
        let dir = hub.repository("acme/skills", &texts);
        let first = hub.host();
        first.succeeds(&["install", "acme/skills", "--all"]);
        let list = first.plugin_dir().join("skills.lock.json");
        Self {
            hub,
            dir,
            list,
            first,
        }
    }

    /// Another machine, whose commands need no terminal.
    pub fn machine(&self) -> Host {
        let host = self.hub.host();
        host.succeeds(&["config", "set", "unattended", "true"]);
        host
    }

    /// Changes `a` in each of the skills, and what the list has.
    pub fn change(&self, names: &[&str], text: &str) {
        for name in names {
            fs::write(self.dir.join("skills").join(name).join("a"), text).unwrap();
        }
        commit(&self.dir);
        self.first.succeeds(&["update", "--yes"]);
    }

    pub fn list(&self) -> &str {
        self.list.to_str().unwrap()
    }

    /// The list without one of its skills, in another file.
    pub fn without(&self, name: &str) -> PathBuf {
        let mut list: Value = serde_json::from_slice(&fs::read(&self.list).unwrap()).unwrap();
        let skills = list["skills"].as_array_mut().unwrap();
        skills.retain(|skill| skill["name"] != name);
        let path = self.hub.dir().join("less.json");
        fs::write(&path, serde_json::to_vec(&list).unwrap()).unwrap();
        path
    }
}

/// The files and the lockfile of the personal layer.
pub fn layer(host: &Host) -> (Vec<(PathBuf, Vec<u8>)>, Value) {
    let dir = host.home().join(".chibi");
    let skills = dir.join("skills");
    let there = if skills.exists() {
        files(&skills)
    } else {
        Vec::new()
    };
    let lock = fs::read(dir.join("skills.lock.json")).unwrap_or_default();
    (there, serde_json::from_slice(&lock).unwrap_or_default())
}

/// A script runs it; its status and both outputs.
#[track_caller]
fn sync(host: &Host, words: &[&str], status: i32) -> String {
    let ran = host.unattended(&[&["sync", "--yes"], words].concat());
    assert_eq!(ran.status, status, "{words:?}: {ran:?}");
    ran.stdout + &ran.stderr
}

fn changes(answer: &Value) -> Vec<(&str, &str)> {
    let skills = &answer["skills"];
    let changes = each(skills, "name").into_iter().zip(each(skills, "change"));
    changes.collect()
}

#[test]
fn a_layer_becomes_what_a_lockfile_says() {
    let fleet = Fleet::new(&["csv", "pdf"]);
    let host = fleet.machine();
    sync(&host, &[fleet.list(), "--dry-run"], 3).has("would install `csv` from ");
    assert_eq!(layer(&host).0, []);
    sync(&host, &[fleet.list()], 3).has("installed `pdf` from ");
    let (there, lock) = layer(&host);
    assert_eq!(there, files(&fleet.list.with_file_name("skills")));
    let list: Value = serde_json::from_slice(&fs::read(&fleet.list).unwrap()).unwrap();
    assert_eq!(lock["skills"][0]["sha256"], list["skills"][0]["sha256"]);
    assert_eq!(host.skill_tools(), ["skill_csv", "skill_pdf"]);
    // Again, there is nothing to do, and nothing is written.
    let before = stamps(&host.home().join(".chibi"));
    for words in [&[fleet.list()][..], &[fleet.list(), "--dry-run"]] {
        sync(&host, words, 0).has("2 skills match the list");
    }
    assert_eq!(stamps(&host.home().join(".chibi")), before);
    assert_eq!(sync(&host, &[fleet.list(), "--quiet"], 0), "");
    fleet.change(&["pdf"], "new");
    let answer = host.unattended(&["sync", "--yes", "--json", fleet.list()]);
    assert_eq!(answer.status, 3, "{answer:?}");
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(answer["result"], "changed");
    assert_eq!(changes(&answer), [("csv", "recorded"), ("pdf", "replaced")]);
    let a = host.home().join(".chibi/skills/pdf/a");
    assert_eq!(fs::read_to_string(&a).unwrap(), "new");
    host.succeeds(&["rollback", "--layer", "personal", "pdf"]);
    assert!(!a.exists());
    sync(&host, &[fleet.list()], 3).has("replaced `pdf`");
    host.succeeds(&["verify", "--layer", "personal"]);
}

/// Every file with its time.
fn stamps(dir: &Path) -> Vec<(PathBuf, std::time::SystemTime)> {
    let mut found = Vec::new();
    let mut todo = vec![dir.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            let is_plugins = entry.file_name() == "plugins";
            if kind.is_dir() && !is_plugins {
                todo.push(entry.path());
            }
            if !is_plugins {
                found.push((entry.path(), entry.metadata().unwrap().modified().unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_layers_own_lockfile_is_for_that_layer() {
    let fleet = Fleet::new(&["a"]);
    fleet
        .first
        .succeeds(&["config", "set", "unattended", "true"]);
    sync(&fleet.first, &[fleet.list()], 0);
    fs::remove_dir_all(fleet.first.skills_dir().join("a")).unwrap();
    sync(&fleet.first, &[fleet.list()], 3);
    assert!(fleet.first.skills_dir().join("a").exists());
    assert_eq!(layer(&fleet.first), (Vec::new(), Value::Null));
}

#[test]
fn prune_removes_only_what_a_source_brought() {
    let fleet = Fleet::new(&["csv", "pdf", "zip"]);
    let host = fleet.machine();
    sync(&host, &[fleet.list()], 3);
    let skills = host.home().join(".chibi/skills");
    for name in ["mine", "linked"] {
        let dir = if name == "mine" {
            skills.join(name)
        } else {
            host.home().join(name)
        };
        write_at(dir.join("SKILL.md"), skill(name));
    }
    let linked = host.home().join("linked");
    std::os::unix::fs::symlink(linked, skills.join("linked")).unwrap();
    let less = fleet.without("csv");
    sync(&host, &[less.to_str().unwrap()], 0).has("1 skill is not in the list; `--prune` removes");
    fs::write(skills.join("csv/SKILL.md"), skill("csv") + "My line.\n").unwrap();
    let told = sync(&host, &[less.to_str().unwrap(), "--prune"], 3);
    let kept = told
        .split("your changes are kept in ")
        .nth(1)
        .unwrap_or_else(|| panic!("{told}"));
    let kept = Path::new(kept.lines().next().unwrap());
    fs::read_to_string(kept.join("SKILL.md"))
        .unwrap()
        .finishes("My line.\n");
    let mut left: Vec<_> = fs::read_dir(&skills)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["linked", "mine", "pdf", "zip"]);
    sync(&host, &[less.to_str().unwrap(), "--prune"], 0);
    // What was changed here comes back as the list has it.
    fs::write(skills.join("pdf/SKILL.md"), skill("pdf") + "My line.\n").unwrap();
    sync(&host, &[less.to_str().unwrap()], 3).has("your changes are kept in ");
    assert_eq!(
        fs::read_to_string(skills.join("pdf/SKILL.md")).unwrap(),
        skill("pdf")
    );
}

#[test]
fn if_one_skill_is_refused_nothing_changes() {
    let fleet = Fleet::new(&["csv", "pdf", "zip"]);
    let host = fleet.machine();
    sync(&host, &[fleet.without("zip").to_str().unwrap()], 3);
    fleet.change(&["csv", "pdf", "zip"], "new");
    let before = layer(&host);
    let refuses = |words: &[&str], why: &str| {
        sync(&host, words, 1).has(why);
        let json = sync(&host, &[words, &["--json"]].concat(), 1);
        let answer: Value =
            serde_json::from_str(json.split("\nagent-skills").next().unwrap()).unwrap();
        assert_eq!(
            (&answer["result"], &answer["skills"]),
            (&json!("refused"), &json!([]))
        );
        answer["error"].as_str().unwrap().has(why);
        assert_eq!(layer(&host), before);
    };
    // The list does not say what the source has.
    let list = fs::read_to_string(&fleet.list).unwrap();
    let mut wrong: Value = serde_json::from_str(&list).unwrap();
    wrong["skills"][2]["sha256"] = json!("0".repeat(64));
    let path = fleet.hub.dir().join("wrong.json");
    fs::write(&path, wrong.to_string()).unwrap();
    refuses(
        &[path.to_str().unwrap()],
        "no longer has the files that the lockfile lists",
    );
    // Something of the user's is in the way.
    let zip = host.home().join(".chibi/skills/zip");
    write_at(zip.join("SKILL.md"), skill("zip"));
    let before = layer(&host);
    sync(&host, &[fleet.list()], 1).has("`zip` was put there by hand");
    assert_eq!(layer(&host), before);
}

#[test]
fn a_policy_or_a_finding_refuses_the_whole_list() {
    let fleet = Fleet::new(&["csv", "pdf"]);
    let host = fleet.machine();
    let host = host.policy("[sources]\nblock = [\"github.com/acme/*\"]\n");
    sync(&host, &[fleet.list()], 1).has("policy");
    let host = host.policy("[skills]\nblock = [\"pdf\"]\n");
    sync(&host, &[fleet.list()], 1).has("policy");
    assert_eq!(layer(&host).0, []);
    let host = host.policy("");
    let shell = "echo aWQK | base64 -d | bash\n";
    fs::write(fleet.dir.join("skills/pdf/SKILL.md"), skill("pdf") + shell).unwrap();
    commit(&fleet.dir);
    fleet
        .first
        .succeeds(&["update", "--yes", "--accept-findings"]);
    sync(&host, &[fleet.list()], 1).has("the scan found");
    assert_eq!(layer(&host).0, []);
    sync(&host, &[fleet.list(), "--accept-findings"], 3);
}

#[test]
fn only_a_person_or_an_unattended_machine_synchronises() {
    let fleet = Fleet::new(&["pdf"]);
    let host = fleet.hub.host();
    sync(&host, &[fleet.list()], 1).has("`unattended = true`");
    sync(&host, &[fleet.list(), "--dry-run"], 3);
    host.tool("agent-skills", &json!({"args": ["sync", fleet.list()]}))
        .begins("Error: ");
    assert_eq!(layer(&host).0, []);
    host.succeeds(&["config", "set", "unattended", "true"]);
    host.unattended(&["sync", fleet.list()])
        .ends(1)
        .stderr
        .has("`agent-skills sync");
    assert_eq!(
        sync(&host, &["/nowhere.json"], 1)
            .matches("could not read lockfile")
            .count(),
        0
    );
    let misused = host.unattended(&["sync", "--layer"]);
    assert_eq!(misused.status, 2, "{misused:?}");
}

#[test]
fn without_a_list_a_project_becomes_what_its_lockfile_says() {
    let fleet = Fleet::new(&["csv", "pdf"]);
    let host = fleet.machine();
    let chibi = host.project().join(".chibi");
    fs::create_dir_all(&chibi).unwrap();
    fs::copy(&fleet.list, chibi.join("skills.lock.json")).unwrap();
    let told = sync(&host, &[], 3);
    assert!(
        told.contains("installed `csv`") && chibi.join("skills/csv").is_dir(),
        "{told}"
    );
    fs::remove_dir_all(chibi.join("skills/csv")).unwrap();
    fs::write(chibi.join("skills/pdf/SKILL.md"), "mine").unwrap();
    sync(&host, &[], 3)
        .has("replaced `pdf`")
        .has("installed `csv`");
    sync(&host, &[], 0);
}
