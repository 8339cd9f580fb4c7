//! Installing, updating and removing, through the command line and through the host.

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, write_at};
use crate::repository::{Hub, commit, files};

pub fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\nBody of {name}.\n")
}

/// A host whose GitHub is a directory with the repository `acme/skills`.
pub fn acme(host: Host) -> (Host, Hub) {
    let hub = Hub::new();
    let (pdf, csv) = (skill("pdf"), skill("csv"));
    hub.repository(
        "acme/skills",
        &[
            ("README.md", "readme"),
            ("skills/pdf/SKILL.md", &pdf),
            ("skills/pdf/scripts/run.sh", "#!/bin/sh\necho ran\n"),
            ("skills/csv/SKILL.md", &csv),
        ],
    );
    (host.var("AGENT_SKILLS_GITHUB_BASE", &hub.base()), hub)
}

#[test]
fn a_skill_is_installed_used_updated_and_removed() {
    for host in Host::both() {
        let (host, hub) = acme(host);
        let answer = host.tool("agent-skills", &json!({"args": ["install", "acme/pdf"]}));
        assert!(answer.contains("\ninstalled `pdf` from "), "{answer}");
        host.tool(
            "skill_marketplace",
            &json!({"action": "install", "skill_ref": "acme/pdf"}),
        )
        .has("already installed")
        .has("update pdf");
        assert_eq!(host.skill_tools(), ["skill_pdf"]);
        host.activates("pdf")
            .starts()
            .tool("skill_pdf", &json!({}))
            .has("Body of pdf.");
        let run = json!({"skill": "pdf", "script": "scripts/run.sh"});
        assert_eq!(host.tool("run_skill_script", &run), "ran\n");

        let repository = hub.base().replace("file://", "") + "acme/skills";
        let file = Path::new(&repository).join("skills/pdf/SKILL.md");
        fs::write(file, skill("pdf").replace("Body", "New body")).unwrap();
        commit(Path::new(&repository));
        let updated = host.tool("skill_marketplace", &json!({"action": "update"}));
        assert!(updated.contains("`pdf` was updated from "), "{updated}");
        host.tool("skill_pdf", &json!({})).has("New body of pdf.");
        host.succeeds(&["update", "pdf"]).has("up to date");

        host.succeeds(&["remove", "acme/pdf"]).has("removed `pdf`");
        assert!(host.skill_tools().is_empty());
    }
}

#[test]
fn several_skills_are_listed_and_none_is_guessed() {
    let (host, _hub) = acme(Host::stdin());
    host.fails(&["install", "github:acme/skills"]);
    assert!(host.skill_tools().is_empty());
    host.succeeds(&["install", "github:acme/skills", "--skill", "csv"]);
    assert_eq!(host.skill_tools(), ["skill_csv"]);
    host.succeeds(&["install", "github:acme/skills", "--all"]);
    assert_eq!(host.skill_tools(), ["skill_csv", "skill_pdf"]);
}

#[test]
fn a_namesake_that_is_left_out_is_named() {
    let host = Host::stdin();
    let dir = host.home().join("source/skills");
    for (name, more) in [("one", ""), ("two", "More.\n"), ("copy", "")] {
        let text = skill("deploy") + more;
        write_at(dir.join(name).join("SKILL.md"), text);
    }
    let source = host.home().join("source");
    let told = host.succeeds(&["install", "--yes", source.to_str().unwrap(), "--all"]);
    let note = "note: `skills/two` was left out, since it is called `deploy` too";
    assert!(told.contains(note), "{told}");
    assert_eq!(told.matches("was left out").count(), 1, "{told}");
    let words = ["--skill", "skills/two", "--name", "other"];
    host.succeeds(&[&["install", "--yes", source.to_str().unwrap()], &words[..]].concat());
    assert_eq!(host.skill_tools(), ["skill_deploy", "skill_other"]);
}

#[test]
fn errors_go_to_the_model_as_text() {
    let host = Host::stdin();
    let (host, _hub) = acme(host);
    let answer = host.tool(
        "agent-skills",
        &json!({"args": ["install", "acme/nothing"]}),
    );
    assert!(answer.starts_with("Error: "), "{answer}");
    host.fails(&["install"]).has("skills.lock.json");
    host.tool("agent-skills", &json!({"args": ["explode"]}))
        .begins("Error: ");
}

#[test]
fn list_installed_tells_of_every_directory() {
    let host = Host::stdin()
        .skill("good", "allowed-tools: Read Nonsense", "")
        .file("bad/SKILL.md", "no frontmatter")
        .file(
            "odd/SKILL.md",
            "---\nname: Odd_Name\ndescription: |\n  a <b>\n  & c\n---\n",
        );
    for spelling in ["ls", "list", "list_installed"] {
        let all: Value = serde_json::from_str(&host.succeeds(&[spelling, "--json"])).unwrap();
        let [bad, good, odd] = all["skills"].as_array().unwrap().as_slice() else {
            panic!("{all}")
        };
        assert_eq!(
            (&bad["name"], &bad["offered"], &bad["tool"]),
            (&json!("bad"), &json!(false), &Value::Null)
        );
        assert!(
            bad["diagnostics"][0]["level"] == "error" && bad["diagnostics"][0]["code"].is_string()
        );
        assert_eq!(
            (&good["tool"], &good["offered"]),
            (&json!("skill_good"), &json!(true))
        );
        assert_eq!(good["restriction"]["allowed"], json!(["Read Nonsense"]));
        good["diagnostics"].to_string().has("unknown-tool");
        assert_eq!(odd["restriction"], Value::Null);
        assert_eq!(
            (&odd["name"], &odd["description"]),
            (&json!("odd-name"), &json!("a <b>\n& c"))
        );
    }
}

#[test]
fn list_and_search_work_offline_after_the_first_time() {
    let hub = Hub::new();
    let (pdf, csv) = (skill("pdf"), skill("csv"));
    hub.repository(
        "anthropics/skills",
        &[("skills/pdf/SKILL.md", &pdf), ("skills/csv/SKILL.md", &csv)],
    );
    let host = Host::stdin().var("AGENT_SKILLS_GITHUB_BASE", &hub.base());
    host.succeeds(&["search"]);
    drop(hub);
    host.succeeds(&["search", "pdf", "--offline"]).has("pdf");
    host.succeeds(&["search", "pdf", "--offline"]).lacks("csv");
    let json: Value =
        serde_json::from_str(&host.succeeds(&["search", "--offline", "--json"])).unwrap();
    assert_eq!(json["skills"].as_array().unwrap().len(), 2);
    let answer = host.tool(
        "skill_marketplace",
        &json!({"action": "search", "query": "csv"}),
    );
    assert!(
        answer.contains("Does csv."),
        "the cache serves when the source is gone: {answer}"
    );
}

#[test]
fn all_four_collections_install_from_git() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    if !corpus.is_dir() {
        println!("skipped: ../shared/corpus is not there");
        return;
    }
    let hub = Hub::new();
    let host = Host::stdin().var("AGENT_SKILLS_GITHUB_BASE", &hub.base());
    for (collection, skill) in [
        ("anthropics+skills", "mcp-builder"),
        ("expo+skills", "expo-router"),
        ("getsentry+skills", "code-review"),
        ("obra+superpowers", "brainstorming"),
    ] {
        let name = collection.replace('+', "/");
        hub.repository_of(&name, &corpus.join(collection));
        host.succeeds(&["install", &format!("{name}@{skill}"), "--yes"]);
        host.activates(skill);
    }
    let installed: Value = serde_json::from_str(&host.succeeds(&["list", "--json"])).unwrap();
    assert_eq!(installed["skills"].as_array().unwrap().len(), 4);
}

/// A pseudo-random number generator: the same numbers in every run.
fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

#[test]
fn an_install_killed_anywhere_leaves_nothing_or_all() {
    let (host, hub) = acme(Host::stdin());
    let source =
        Path::new(hub.base().strip_prefix("file://").unwrap()).join("acme/skills/skills/pdf");
    let whole = files(&source);
    let started = Instant::now();
    host.succeeds(&["install", "acme/pdf"]);
    let duration = started.elapsed();
    host.succeeds(&["remove", "pdf"]);
    let known = listing(&host);
    let (mut seed, mut landed) = (88_172_645_463_325_252, 0);
    for attempt in 0..20 {
        let mut child = host
            .command()
            .args(["install", "acme/pdf"])
            .spawn()
            .unwrap();
        // Every other kill aims at the end, where things are moved into place.
        let share = random(&mut seed) % 1000;
        let share = if attempt % 2 == 0 {
            share
        } else {
            850 + share / 4
        };
        std::thread::sleep(duration * u32::try_from(share).unwrap() / 1000);
        child.kill().unwrap();
        child.wait().unwrap();
        let installed = host.skills_dir().join("pdf");
        if installed.exists() {
            assert_eq!(files(&installed), whole, "attempt {attempt}");
            landed += 1;
        }
        let in_skills: Vec<_> = fs::read_dir(host.skills_dir()).unwrap().collect();
        assert!(in_skills.len() <= 1, "attempt {attempt}: {in_skills:?}");
        // The next commands put right whatever was left, and leave no litter.
        host.succeeds(&["install", "acme/pdf"]);
        assert_eq!(files(&installed), whole, "attempt {attempt}");
        host.succeeds(&["remove", "pdf"]);
        assert_eq!(listing(&host), known, "attempt {attempt}");
    }
    println!("{landed} of 20 installs had landed when they were killed");
}

/// What lies in the plugin directory, down to the directories of single skills and repositories.
fn listing(host: &Host) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(host.plugin_dir()).unwrap().map(Result::unwrap) {
        names.push(entry.path().display().to_string());
        if entry.path().is_dir() {
            let below = fs::read_dir(entry.path()).unwrap().map(Result::unwrap);
            names.extend(below.map(|entry| entry.path().display().to_string()));
        }
    }
    names.sort();
    names
}

#[test]
fn two_installs_at_once_both_end_well() {
    let (host, _hub) = acme(Host::stdin());
    let start = |reference: &str| host.command().args(["install", reference]).spawn().unwrap();
    for references in [["acme/pdf", "acme/pdf"], ["acme/csv", "acme/pdf"]] {
        let running = references.map(start);
        for child in running {
            let output = child.wait_with_output().unwrap();
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    assert_eq!(host.skill_tools(), ["skill_csv", "skill_pdf"]);
}
