//! Sources, manifests, looking before installing, two skills of one name, links.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::repository::{Hub, commit};

pub fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\nBody of {name}.\n")
}

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
    hub.repository(
        "acme/tools",
        &[
            (".claude-plugin/marketplace.json", manifest),
            (
                "skills/pdf/SKILL.md",
                &skill("pdf").replace("Does", "Acme does"),
            ),
            ("skills/docx/SKILL.md", &skill("docx")),
            ("skills/lone/SKILL.md", &skill("lone")),
        ],
    );
    hub.repository("other/one", &[("SKILL.md", &skill("one"))]);
    let host = Host::stdin().var("AGENT_SKILLS_GITHUB_BASE", &hub.base());
    (host, hub)
}

#[test]
fn list_and_search_cover_every_source() {
    let (host, hub) = two_sources();
    host.succeeds(&["sources", "add", "acme/tools"]);
    let listed = host.succeeds(&["list"]);
    for reference in [
        "anthropics/skills@csv",
        "acme/tools@docx",
        "elsewhere@acme-tools",
    ] {
        assert!(listed.contains(reference), "{listed}");
    }
    assert!(
        host.succeeds(&["search", "office"])
            .starts_with("acme/tools@docx")
    );
    // A name that one source has; one that two have; one of a source by either of its names.
    host.succeeds(&["install", "lone"]);
    let error = host.fails(&["install", "pdf"]);
    assert!(
        error.contains("anthropics/skills@pdf") && error.contains("acme/tools@pdf"),
        "{error}"
    );
    host.succeeds(&["install", "docx@acme-tools"]);
    host.succeeds(&["install", "elsewhere@acme-shop"]);
    assert_eq!(
        host.skill_tools(),
        ["skill_docx", "skill_lone", "skill_one"]
    );
    // All of it is there without a network.
    drop(hub);
    assert!(
        host.succeeds(&["search", "csv", "--offline"])
            .contains("anthropics/skills@csv")
    );
    assert_eq!(host.person(&["sources", "update"]).status, 1);
    host.succeeds(&["sources", "remove", "acme-tools"]);
    assert!(!host.succeeds(&["list", "--offline"]).contains("acme"));
}

#[test]
fn a_source_that_is_gone_does_not_hide_the_others() {
    let (host, hub) = two_sources();
    host.succeeds(&["sources", "add", "acme/tools"]);
    fs::remove_dir_all(host.plugin_dir().join("cache")).unwrap();
    fs::remove_dir_all(hub.dir().join("acme/tools")).unwrap();
    let ran = host.person(&["list"]);
    assert!(
        ran.stdout.contains("anthropics/skills@csv") && ran.stderr.contains("was left out"),
        "{ran:?}"
    );
}

#[test]
fn a_model_may_install_from_a_configured_source_and_no_further() {
    let (host, _hub) = two_sources();
    let install = |reference: &str| json!({"action": "install", "skill_ref": reference});
    host.blocks("skill_marketplace", &install("acme/tools@docx"));
    host.succeeds(&["sources", "add", "acme/tools"]);
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
    let error = host.fails(&["install", "acme/tools@documents"]);
    assert!(
        error.contains("there are 2 skills") && error.contains("of documents"),
        "{error}"
    );
    assert!(!error.contains("lone"), "{error}");
    host.succeeds(&["install", "acme/tools@documents", "--all"]);
    assert_eq!(host.skill_tools(), ["skill_docx", "skill_pdf"]);
}

#[test]
fn a_reading_can_be_forced_and_is_told() {
    let (host, hub) = two_sources();
    hub.repository("acme/skills", &[("skills/tools/SKILL.md", &skill("tools"))]);
    let ran = host.person(&["show", "acme/tools"]);
    assert!(
        ran.stderr
            .contains("skill `tools` of repository acme/skills"),
        "{ran:?}"
    );
    let error = host.fails(&["install", "acme/tools", "--reading", "repo"]);
    assert!(error.contains("3 skills"), "{error}");
    host.succeeds(&["install", "acme/tools", "--reading", "registry"]);
}

#[test]
fn a_name_that_is_a_branch_too_is_remarked_on() {
    let (host, hub) = two_sources();
    crate::repository::git(&hub.dir().join("acme/tools"), &["branch", "docx"]);
    let ran = host.person(&["install", "acme/tools@docx"]);
    assert!(
        ran.stderr.contains("`docx` is a branch or tag, too"),
        "{ran:?}"
    );
}

#[test]
fn a_skill_is_looked_at_before_it_is_installed() {
    let (host, _hub) = two_sources();
    let shown = host.succeeds(&["show", "acme/tools@pdf"]);
    assert!(
        shown.contains("Acme does pdf.") && shown.contains("SKILL.md"),
        "{shown}"
    );
    let json: Value =
        serde_json::from_str(&host.succeeds(&["show", "acme/tools@pdf", "--json"])).unwrap();
    assert_eq!(json["skills"][0]["paths"], json!(["SKILL.md"]));
    assert!(
        host.succeeds(&["cat", "acme/tools@pdf:SKILL.md"])
            .contains("Body of pdf.")
    );
    for bad in [
        "acme/tools@pdf:../docx/SKILL.md",
        "acme/tools@pdf:none",
        "acme/tools@pdf:",
    ] {
        assert_eq!(host.person(&["cat", bad]).status, 1, "{bad}");
    }
    assert!(host.skill_tools().is_empty());
    assert!(!host.plugin_dir().join("skills.lock.json").exists());
}

#[test]
fn a_second_source_installs_beside_the_first() {
    let (host, hub) = two_sources();
    host.succeeds(&["install", "anthropics/skills@pdf"]);
    assert!(
        host.succeeds(&["install", "acme/tools@pdf"])
            .contains("installed `acme--pdf`")
    );
    assert!(
        host.succeeds(&["install", "acme/tools@pdf"])
            .contains("already installed")
    );
    assert_eq!(host.skill_tools(), ["skill_acme-pdf", "skill_pdf"]);
    assert!(
        host.tool("skill_acme-pdf", &json!({}))
            .contains("Body of pdf.")
    );
    let lock: Value =
        serde_json::from_slice(&fs::read(host.plugin_dir().join("skills.lock.json")).unwrap())
            .unwrap();
    let ids: Vec<&str> = lock["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "https://github.com/acme/tools#skills/pdf",
            "https://github.com/anthropics/skills#skills/pdf"
        ]
    );

    let file = hub.dir().join("acme/tools/skills/pdf/SKILL.md");
    fs::write(&file, skill("pdf").replace("Body", "New body")).unwrap();
    commit(&hub.dir().join("acme/tools"));
    let updated = host.succeeds(&["update"]);
    assert!(
        updated.contains("`acme--pdf` was updated") && updated.contains("`pdf` is up to date"),
        "{updated}"
    );
    host.succeeds(&["remove", "anthropics/pdf"]);
    assert_eq!(host.skill_tools(), ["skill_acme-pdf"]);
    host.succeeds(&["remove", "acme/pdf"]);
    assert!(host.skill_tools().is_empty());
}

#[test]
fn a_name_of_its_own_can_be_given() {
    let (host, _hub) = two_sources();
    host.succeeds(&["install", "anthropics/skills@pdf"]);
    host.succeeds(&["install", "acme/tools@pdf", "--name", "acme-papers"]);
    assert_eq!(host.skill_tools(), ["skill_acme-papers", "skill_pdf"]);
    let told = host.succeeds(&["install", "acme/tools@pdf"]);
    assert!(
        told.contains("`acme-papers--` is already installed"),
        "{told}"
    );
    host.succeeds(&["remove", "acme-papers"]);
    assert_eq!(host.skill_tools(), ["skill_pdf"]);
}

#[test]
fn an_author_links_a_working_copy() {
    let (host, _hub) = two_sources();
    let copy = host.home().join("work/mine");
    fs::create_dir_all(&copy).unwrap();
    fs::write(copy.join("SKILL.md"), skill("mine")).unwrap();
    host.succeeds(&["link", copy.to_str().unwrap()]);
    fs::write(
        copy.join("SKILL.md"),
        skill("mine").replace("Body", "Newest body"),
    )
    .unwrap();
    assert!(
        host.activates("mine")
            .starts()
            .tool("skill_mine", &json!({}))
            .contains("Newest body")
    );
    host.succeeds(&["remove", "mine"]);
    assert!(copy.join("SKILL.md").exists());
    assert!(host.skill_tools().is_empty());
}
