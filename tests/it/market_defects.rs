//! Defects of an earlier plugin of this kind that concern installing. The others are in `regressions.rs`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Host;
use crate::market::{acme, skill, two_installs_at_once_both_end_well};
use crate::repository::{Hub, commit};

#[test]
fn defect_05_remove_cannot_leave_the_skills_directory() {
    for host in Host::both() {
        let host = host.skill("x", "", "");
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
}

#[test]
fn defect_17_search_and_list_are_there() {
    for host in Host::both() {
        let hub = Hub::new();
        hub.repository(
            "anthropics/skills",
            &[("skills/pdf/SKILL.md", &skill("pdf"))],
        );
        let host = host.var("AGENT_SKILLS_GITHUB_BASE", &hub.base());
        for arguments in [
            json!({"action": "list"}),
            json!({"action": "search", "query": "pdf"}),
        ] {
            assert!(
                host.tool("skill_marketplace", &arguments)
                    .contains("Does pdf.")
            );
        }
    }
}

#[test]
fn defect_18_concurrent_installs_do_not_collide() {
    two_installs_at_once_both_end_well();
}

#[test]
fn defect_19_a_url_names_the_repository_and_not_a_skill() {
    let hub = Hub::new();
    // The last segment of the URL is `one`; the skill in it is called otherwise.
    hub.repository("acme/one", &[("skills/other/SKILL.md", &skill("other"))]);
    let host = Host::stdin();
    host.succeeds(&["install", &format!("{}acme/one", hub.base())]);
    assert_eq!(host.skill_tools(), ["skill_other"]);
}

#[test]
fn defect_20_an_install_is_pinned_and_can_be_of_another_branch() {
    let (host, hub) = acme(Host::stdin());
    let repository = Path::new(hub.base().strip_prefix("file://").unwrap()).join("acme/skills");
    crate::repository::git(&repository, &["checkout", "-q", "-b", "next/one"]);
    fs::write(
        repository.join("skills/pdf/SKILL.md"),
        skill("pdf").replace("Body", "Branch body"),
    )
    .unwrap();
    commit(&repository);
    crate::repository::git(&repository, &["checkout", "-q", "main"]);
    host.succeeds(&["install", "acme/skills@pdf#next/one"]);
    assert!(
        host.tool("skill_pdf", &json!({}))
            .contains("Branch body of pdf.")
    );
    let lock: Value =
        serde_json::from_slice(&fs::read(host.plugin_dir().join("skills.lock.json")).unwrap())
            .unwrap();
    let text = lock.to_string();
    assert!(
        text.contains("next/one") && text.contains("sha256"),
        "{text}"
    );
    assert!(host.succeeds(&["update"]).contains("up to date"));
}

#[test]
fn defect_22_yaml_is_read_by_the_maintained_fork() {
    let manifest = include_str!("../../Cargo.toml");
    assert!(manifest.contains("serde_yaml = { package = \"yaml_serde\""));
}
