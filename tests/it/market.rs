//! Installing, updating and removing, through the command line and through the host.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, write_at};
use crate::repository::{Hub, commit, git};

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
        host.tool("agent-skills", &json!({"args": ["install", "acme/pdf"]}))
            .has("\ninstalled `pdf` from ");
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
        host.tool("skill_marketplace", &json!({"action": "update"}))
            .has("`pdf` was updated from ");
        host.tool("skill_pdf", &json!({})).has("New body of pdf.");
        host.succeeds(&["update", "pdf"]).has("up to date");

        host.succeeds(&["remove", "acme/pdf"]).has("removed `pdf`");
        assert!(host.skill_tools().is_empty());
    }
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
    told.has(note);
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
        let all = host.json(&[spelling, "--json"]);
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
fn remove_cannot_leave_the_skills_directory() {
    let host = Host::stdin().skill("x", "", "");
    fs::write(host.plugin_dir().join("precious"), "p").unwrap();
    for name in [
        "..",
        "x/..",
        "../..",
        "/",
        ".",
        "",
        "../skills",
        "x/../..",
        "/etc",
    ] {
        let answer = host.tool("agent-skills", &json!({"args": ["remove", name]}));
        assert!(answer.starts_with("Error: "), "{name:?}: {answer}");
        assert!(host.skills_dir().join("x/SKILL.md").exists(), "{name:?}");
        assert!(host.plugin_dir().join("precious").exists(), "{name:?}");
    }
}

#[test]
fn a_url_names_the_repository_and_not_a_skill() {
    let hub = Hub::new();
    // The last segment of the URL is `one`; the skill in it is called otherwise.
    hub.repository("acme/one", &[("skills/other/SKILL.md", &skill("other"))]);
    let host = Host::stdin();
    host.succeeds(&["install", &format!("{}acme/one", hub.base())]);
    assert_eq!(host.skill_tools(), ["skill_other"]);
}

#[test]
fn an_install_is_pinned_and_can_be_of_another_branch() {
    let (host, hub) = acme(Host::stdin());
    let repository = Path::new(hub.base().strip_prefix("file://").unwrap()).join("acme/skills");
    git(&repository, &["checkout", "-q", "-b", "next/one"]);
    write_at(
        repository.join("skills/pdf/SKILL.md"),
        skill("pdf").replace("Body", "Branch body"),
    );
    commit(&repository);
    git(&repository, &["checkout", "-q", "main"]);
    host.succeeds(&["install", "acme/skills@pdf#next/one"]);
    host.tool("skill_pdf", &json!({}))
        .has("Branch body of pdf.");
    let lock = host.lockfile();
    lock.to_string().has("next/one").has("sha256");
    host.succeeds(&["update"]).has("up to date");
}
