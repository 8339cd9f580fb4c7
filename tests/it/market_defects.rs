//! Defects of an earlier plugin of this kind that concern installing. The others are in `regressions.rs`.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::Host;
use crate::host::{Has, write_at};
use crate::market::{acme, skill};
use crate::repository::{Hub, commit};

#[test]
fn defect_05_remove_cannot_leave_the_skills_directory() {
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
    write_at(
        repository.join("skills/pdf/SKILL.md"),
        skill("pdf").replace("Body", "Branch body"),
    );
    commit(&repository);
    crate::repository::git(&repository, &["checkout", "-q", "main"]);
    host.succeeds(&["install", "acme/skills@pdf#next/one"]);
    host.tool("skill_pdf", &json!({}))
        .has("Branch body of pdf.");
    let lock = host.lockfile();
    lock.to_string().has("next/one").has("sha256");
    host.succeeds(&["update"]).has("up to date");
}
