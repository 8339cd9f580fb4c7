//! Sources, manifests, looking before installing, two skills of one name, links.

use std::fs;

use serde_json::json;

use crate::Host;
use crate::host::{Has, each, write_at};
pub use crate::market::skill;
use crate::repository::{Hub, commit};

/// A host whose GitHub is a directory, with `anthropics/skills` and `acme/tools`.
fn two_sources() -> (Host, Hub) {
    let hub = Hub::new();
    hub.repository(
        "anthropics/skills",
        &[
            ("skills/pdf/SKILL.md", &skill("pdf")),
            ("skills/csv/SKILL.md", &skill("csv")),
        ],
    );
    let manifest = r#"{"name":"acme-shop","metadata":{"pluginRoot":"./plugins"},"plugins":[
        {"name":"documents","source":"./","skills":["./skills/pdf","./skills/docx"],"keywords":["office"]},
        {"name":"elsewhere","description":"Kept elsewhere","source":{"source":"github","repo":"other/one"}}]}"#;
    let pdf = skill("pdf").replace("Does", "Acme does");
    hub.repository(
        "acme/tools",
        &[
            (".claude-plugin/marketplace.json", manifest),
            ("skills/pdf/SKILL.md", &pdf),
            ("skills/docx/SKILL.md", &skill("docx")),
            ("skills/lone/SKILL.md", &skill("lone")),
        ],
    );
    hub.repository("other/one", &[("SKILL.md", &skill("one"))]);
    let host = hub.host();
    (host, hub)
}

#[test]
fn list_and_search_cover_every_source() {
    let (host, hub) = two_sources();
    host.succeeds(&["source", "add", "acme/tools"]);
    host.succeeds(&["search"]);
    // A name that one source has; one that two have; one of a source by either of its names.
    host.succeeds(&["install", "lone"]);
    host.fails(&["install", "pdf"]);
    host.succeeds(&["install", "docx@acme-tools"]);
    host.succeeds(&["install", "elsewhere@acme-shop"]);
    assert_eq!(
        host.skill_tools(),
        ["skill_docx", "skill_lone", "skill_one"]
    );
    // All of it is there without a network.
    drop(hub);
    host.succeeds(&["search", "csv", "--offline"])
        .has("anthropics/skills@csv");
    assert_eq!(host.person(&["source", "update"]).status, 1);
    host.succeeds(&["source", "remove", "acme-tools"]);
    host.succeeds(&["search", "--offline"]).lacks("acme");
}

#[test]
fn a_source_that_is_gone_does_not_hide_the_others() {
    let (host, hub) = two_sources();
    host.succeeds(&["source", "add", "acme/tools"]);
    fs::remove_dir_all(host.plugin_dir().join("cache")).unwrap();
    fs::remove_dir_all(hub.dir().join("acme/tools")).unwrap();
    let ran = host.person(&["search"]);
    ran.stdout.has("anthropics/skills@csv");
    ran.stderr.has("was left out");
}

#[test]
fn a_model_may_install_from_a_configured_source_and_no_further() {
    let (host, _hub) = two_sources();
    let install = |reference: &str| json!({"action": "install", "skill_ref": reference});
    host.blocks("skill_marketplace", &install("acme/tools@docx"));
    host.succeeds(&["source", "add", "acme/tools"]);
    host.allows("skill_marketplace", &install("acme/tools@docx"));
    host.allows("skill_marketplace", &install("docx@acme-tools"));
    host.blocks(
        "skill_marketplace",
        &json!({"args": ["install", "--accept-findings", "acme/tools@docx"]}),
    );
}

#[test]
fn a_plugin_of_the_manifest_stands_for_its_skills() {
    let (host, _hub) = two_sources();
    host.fails(&["install", "acme/tools@documents"]);
    host.succeeds(&["install", "acme/tools@documents", "--all"]);
    assert_eq!(host.skill_tools(), ["skill_docx", "skill_pdf"]);
}

#[test]
fn a_second_source_installs_beside_the_first() {
    let (host, hub) = two_sources();
    host.succeeds(&["install", "anthropics/skills@pdf"]);
    host.succeeds(&["install", "acme/tools@pdf"])
        .has("it is called `acme-pdf` here, because another skill is called `pdf`");
    host.succeeds(&["install", "acme/tools@pdf"]);
    assert_eq!(host.skill_tools(), ["skill_acme-pdf", "skill_pdf"]);
    host.tool("skill_acme-pdf", &json!({})).has("Body of pdf.");
    let lock = host.lockfile();
    assert_eq!(
        each(&lock["skills"], "id"),
        [
            "https://github.com/acme/tools#skills/pdf",
            "https://github.com/anthropics/skills#skills/pdf"
        ]
    );

    let file = hub.dir().join("acme/tools/skills/pdf/SKILL.md");
    fs::write(&file, skill("pdf").replace("Body", "New body")).unwrap();
    commit(&hub.dir().join("acme/tools"));
    host.succeeds(&["update"]);
    let body = |name: &str| fs::read_to_string(host.skills_dir().join(name).join("SKILL.md"));
    body("acme--pdf").unwrap().has("New body");
    body("pdf").unwrap().lacks("New body");
    host.succeeds(&["remove", "anthropics/pdf"]);
    assert_eq!(host.skill_tools(), ["skill_acme-pdf"]);
    host.succeeds(&["remove", "acme/pdf"]);
    assert!(host.skill_tools().is_empty());
}

#[test]
fn an_author_links_a_working_copy_by_hand() {
    let (host, _hub) = two_sources();
    let copy = host.home().join("work/mine");
    write_at(copy.join("SKILL.md"), skill("mine"));
    fs::create_dir_all(host.skills_dir()).unwrap();
    std::os::unix::fs::symlink(&copy, host.skills_dir().join("mine")).unwrap();
    write_at(
        copy.join("SKILL.md"),
        skill("mine").replace("Body", "Newest body"),
    );
    host.activates("mine")
        .starts()
        .tool("skill_mine", &json!({}))
        .has("Newest body");
    host.succeeds(&["remove", "mine"]);
    assert!(copy.join("SKILL.md").exists());
    assert!(host.skill_tools().is_empty());
}
