//! Installing, updating and removing, through the command line and through the host.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, write_at};
use crate::repository::{Hub, commit};

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
    let host = hub.host();
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
