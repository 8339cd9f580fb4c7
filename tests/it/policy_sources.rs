//! A policy on sources is about places, whichever way their addresses are written, and nothing is
//! asked of a source that it refuses.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use serde_json::json;

use crate::Host;
use crate::archives::zip;
use crate::host::Has;
use crate::layers::codes;
use crate::market_sources::skill;
use crate::policy::{lockfile, under};
use crate::repository::Hub;
use crate::server::Server;

/// A host under this policy whose ssh leads to a repository with the skill `pdf`, and the file that
/// shows that ssh was started.
fn with_ssh(hub: &Hub, policy: &str) -> (Host, PathBuf) {
    let repository = hub.dir().join("acme/skills");
    if !repository.exists() {
        hub.repository("acme/skills", &[("SKILL.md", &skill("pdf"))]);
    }
    let (ssh, asked) = (hub.dir().join("ssh"), hub.dir().join("asked"));
    let script = format!(
        "#!/bin/sh\n: > '{}'\nexec git-upload-pack '{}'\n",
        asked.display(),
        repository.display()
    );
    fs::write(&ssh, script).unwrap();
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let config = hub.dir().join("gitconfig");
    let text = "[url \"git@github.com:\"]\n insteadOf = https://github.com/\n";
    fs::write(&config, text).unwrap();
    let host = Host::stdin()
        .var("GIT_CONFIG_GLOBAL", &config.to_string_lossy())
        .var("GIT_SSH_COMMAND", &ssh.to_string_lossy());
    (under(host, policy), asked)
}

#[test]
fn no_spelling_of_a_blocked_source_is_contacted() {
    let hub = Hub::new();
    for policy in [
        "[sources]\nblock = [\"github.com/evil/*\"]\n",
        "[sources]\nallow = [\"github.com/acme/*\"]\n",
    ] {
        let (host, asked) = with_ssh(&hub, policy);
        host.config("model_installs = \"any\"\n");
        for reference in [
            "evil/pdf",
            "evil/skills@pdf",
            "https://github.com/evil/skills",
            "git@github.com:evil/skills.git",
            "git@github.com:/evil/skills.git",
            "git@GitHub.com:evil/skills.git",
            "ssh://git@github.com/evil/skills",
            "ssh://git@github.com:22/evil/skills",
            "ssh://git@github.com/%65vil/skills",
            "ssh://git@github.com/acme/%2e%2e/evil/skills",
            "ssh://git@ssh.github.com:443/evil/skills",
        ] {
            let told = host.fails(&["install", "--yes", reference]);
            assert!(told.contains("policy"), "{reference}: {told}");
            let arguments = json!({"action": "install", "skill_ref": reference});
            let told = host.tool("skill_marketplace", &arguments);
            assert!(told.contains("policy"), "{reference}: {told}");
            assert!(!asked.exists(), "{reference}");
            assert!(!host.skills_dir().join("pdf").exists(), "{reference}");
        }
    }
}

#[test]
fn a_local_source_is_where_its_links_lead() {
    let source = tempfile::tempdir().unwrap();
    let path = |name: &str| source.path().join(name).display().to_string();
    fs::create_dir_all(path("evil/pdf")).unwrap();
    fs::write(path("evil/pdf/SKILL.md"), skill("pdf")).unwrap();
    symlink("evil", path("acme")).unwrap();
    let real = source.path().canonicalize().unwrap();
    for policy in [
        format!("block = [\"{}/*\"]", real.join("evil").display()),
        format!("allow = [\"{}/*\"]", path("acme")),
        format!("allow = [\"{}/*\"]", path("EVIL")),
    ] {
        let host = under(Host::stdin(), &format!("[sources]\n{policy}\n"));
        for reference in [path("acme/pdf"), path("evil/pdf")] {
            let told = host.fails(&["install", "--yes", &reference]);
            assert!(told.contains("policy"), "{policy} {reference}: {told}");
        }
    }
    let allowed = format!("[sources]\nallow = [\"{}/*\"]\n", real.display());
    let host = under(Host::stdin(), &allowed);
    host.succeeds(&["install", "--yes", &path("acme/pdf")]);
    assert_eq!(host.skill_tools(), ["skill_pdf"]);
}

#[test]
fn every_spelling_of_an_allowed_source_is_installed() {
    let hub = Hub::new();
    let (host, asked) = with_ssh(&hub, "[sources]\nallow = [\"github.com/acme/*\"]\n");
    for reference in [
        "acme/skills@pdf",
        "git@github.com:acme/skills.git",
        "ssh://git@github.com:22/acme/skills",
    ] {
        host.succeeds(&["install", "--yes", reference]);
        assert_eq!(host.skill_tools(), ["skill_pdf"], "{reference}");
        host.succeeds(&["update"]);
        host.succeeds(&["remove", "pdf"]);
    }
    fs::remove_file(asked).unwrap();
}

#[test]
fn a_reading_that_is_refused_leaves_the_others() {
    let hub = Hub::new();
    let (host, _) = with_ssh(&hub, "[sources]\nallow = [\"github.com/acme/pdf\"]\n");
    host.succeeds(&["install", "--yes", "acme/pdf"]);
    assert_eq!(host.skill_tools(), ["skill_pdf"]);
}

#[test]
fn an_update_contacts_no_source_that_is_blocked() {
    let hub = Hub::new();
    let (host, asked) = with_ssh(&hub, "");
    host.succeeds(&["install", "--yes", "git@github.com:acme/skills.git"]);
    fs::remove_file(&asked).unwrap();
    let policy = host.home().join("enterprise/policy.toml");
    fs::write(policy, "[sources]\nblock = [\"github.com/acme/*\"]\n").unwrap();
    for words in [
        &["update"][..],
        &["update", "--check"],
        &["update", "--dry-run"],
    ] {
        let ran = host.person(words);
        assert_eq!(ran.status, 1, "{ran:?}");
        ran.stderr.has("blocks the source");
    }
    assert!(!asked.exists());
}

#[test]
fn an_installed_skill_of_a_blocked_source_is_hidden() {
    for source in [
        "git@github.com:evil/skills.git",
        "ssh://git@github.com:22/evil/skills",
        "https://github.com:443/%65vil/skills",
        "https://github.com./evil/skills/",
    ] {
        let host = under(
            Host::stdin(),
            "[sources]\nblock = [\"github.com/evil/*\"]\n",
        )
        .skill("evil", "", "");
        fs::write(host.plugin_dir().join("skills.lock.json"), lockfile(source)).unwrap();
        let hidden = "hidden-policy".to_owned();
        assert!(codes(&host, "evil").contains(&hidden), "{source}");
        assert!(host.skill_tools().is_empty(), "{source}");
    }
}

/// Two servers, of which a policy allows the first below `/ours`, where all leads to the second.
fn two_servers(hub: &Hub) -> (Server, Server, Host) {
    let (ours, theirs) = (Server::new(hub.dir()), Server::new(hub.dir()));
    hub.repository("acme/skills", &[("SKILL.md", &skill("pdf"))]);
    theirs.file("SKILL.md", skill("pdf"));
    theirs.file("x.zip", zip(&[("SKILL.md", &skill("pdf"))]));
    let git = "/info/refs?service=git-upload-pack";
    for (from, to) in [
        ("/ours/x.zip", theirs.url("x.zip")),
        ("/ours/SKILL.md", theirs.url("SKILL.md")),
        (
            "/ours/skills.git/info/refs",
            theirs.url("acme/skills.git") + git,
        ),
    ] {
        let mut redirects = ours.behaviour.redirects.lock().unwrap();
        redirects.insert(from.to_owned(), to);
    }
    let index = r#"{"skills":[{"name":"pdf","description":"d","files":["SKILL.md"]}]}"#;
    ours.file(".well-known/agent-skills/index.json", index);
    ours.file(".well-known/agent-skills/pdf/SKILL.md", skill("pdf"));
    let allowed = ours.url("ours").replace("http://", "");
    let policy = format!("[sources]\nallow = [\"{allowed}*\"]\n");
    (ours, theirs, under(Host::stdin(), &policy))
}

#[test]
fn a_redirect_leads_to_no_source_that_is_refused() {
    let hub = Hub::new();
    let (ours, theirs, host) = two_servers(&hub);
    for path in ["ours/x.zip", "ours/SKILL.md", "ours/skills.git"] {
        let told = host.fails(&["install", "--yes", &ours.url(path)]);
        assert!(told.contains("redirect") || told.contains("302"), "{told}");
        assert!(told.contains("policy"), "{path}: {told}");
    }
    // What this cached could be installed with `--offline`.
    let told = host.fails(&["show", &ours.url("ours/skills.git")]);
    told.has("302");
    assert_eq!(theirs.take_seen(), [""; 0]);
}

#[test]
fn a_sites_root_is_a_source_of_its_own() {
    let hub = Hub::new();
    let (ours, _theirs, host) = two_servers(&hub);
    let told = host.fails(&["install", "--yes", &ours.url("ours")]);
    told.has("does not allow the source");
    assert!(!host.skills_dir().join("pdf").exists());
}

#[test]
fn where_a_redirect_led_to_is_shown_and_recorded() {
    let hub = Hub::new();
    let (ours, theirs, _) = two_servers(&hub);
    let host = Host::stdin();
    let told = host.succeeds(&["show", &ours.url("ours/x.zip")]);
    let led = format!("ours/x.zip redirected to {}", theirs.url("x.zip"));
    told.has(&led);
    host.succeeds(&["install", "--yes", &ours.url("ours/x.zip")]);
    let lock = fs::read_to_string(host.plugin_dir().join("skills.lock.json")).unwrap();
    let recorded = format!(r#""address": "{}""#, theirs.url("x.zip"));
    lock.has(&recorded);
}
