//! Where a skill came from: commits of forks, names that move, histories that were rewritten, addresses
//! that git rewrites.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, write_at};
use crate::layers::{self, with_layers};
use crate::market_sources::skill;
use crate::market_updates::{body, installed, write};
use crate::repository::{Hub, git, rev};
use crate::terminal::converse;

/// The first entry of the lockfile.
pub fn entry(host: &Host) -> Value {
    host.lockfile()["skills"][0].clone()
}

fn change_lockfile(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

/// A source `acme/skills`, configured, and a commit that it serves and no branch of it leads to, as
/// hosts serve those of forks.
fn with_a_fork() -> (Host, Hub, String) {
    let (host, hub, dir) = installed("acme/skills@csv");
    host.succeeds(&["source", "add", "acme/skills"]);
    git(&dir, &["checkout", "-q", "-b", "fork"]);
    let evil = skill("pdf").replace("Body", "Evil body");
    write(&dir, "skills/pdf/SKILL.md", &evil);
    let fork = rev(&dir, "HEAD");
    git(&dir, &["checkout", "-q", "main"]);
    git(&dir, &["branch", "-q", "-D", "fork"]);
    (host, hub, fork)
}

#[test]
fn a_commit_on_no_branch_needs_a_person_to_install() {
    let (host, _hub, fork) = with_a_fork();
    for reference in [
        format!("acme/skills@pdf#{fork}"),
        format!("https://github.com/acme/skills/tree/{fork}/skills/pdf"),
        format!("acme/skills/skills/pdf#{}", fork.to_uppercase()),
    ] {
        let arguments = json!({"action": "install", "skill_ref": reference});
        host.tool("skill_marketplace", &arguments)
            .has("not in any branch");
        let ran = host.unattended(&["install", &reference, "--yes"]);
        assert_eq!(ran.status, 1, "{ran:?}");
        ran.stderr.has("not in any branch");
        // Nor where a person sits and sees nothing of it.
        host.fails(&["install", &reference])
            .has("not in any branch");
        host.succeeds(&["show", &reference])
            .has("not in any branch");
    }
    assert!(!host.skills_dir().join("pdf").exists());
    let reference = format!("acme/skills@pdf#{fork}");
    let mut command = host.command();
    let (shown, status) = converse(command.args(["install", &reference]), "y\n");
    assert_eq!(status, 0, "{shown}");
    shown.has("not in any branch");
    // A person may.
    body(&host).has("Evil body");
}

#[test]
fn a_projects_lockfile_gives_a_source_no_forks_commit() {
    let (host, _hub, fork) = with_a_fork();
    host.succeeds(&["install", "--project", "acme/skills@pdf"]);
    let project = host.project().join(".chibi");
    let lockfile = project.join("skills.lock.json");
    let honest: Value = serde_json::from_str(&fs::read_to_string(&lockfile).unwrap()).unwrap();
    let commit = honest["skills"][0]["commit"].as_str().unwrap().to_owned();
    fs::remove_dir_all(project.join("skills")).unwrap();
    change_lockfile(&lockfile, &commit, &fork);
    for words in [
        &["install"][..],
        &["install", "--yes"],
        &["install", "--frozen"],
    ] {
        host.fails(words);
        assert!(!project.join("skills/pdf").exists());
    }
    change_lockfile(&lockfile, &fork, &commit);
    host.succeeds(&["install"]);
    assert!(project.join("skills/pdf/SKILL.md").exists());
    for broken in ["main", "refs/heads/main", "--upload-pack=x", ""] {
        fs::remove_dir_all(project.join("skills")).unwrap();
        change_lockfile(&lockfile, &commit, broken);
        let told = host.fails(&["install"]);
        let refused = ["which commit it was", "the commit of `pdf`"];
        assert!(refused.iter().any(|why| told.contains(why)), "{told}");
        let mut restored = honest.clone();
        restored["skills"][0]["commit"] = json!(commit);
        fs::write(&lockfile, restored.to_string()).unwrap();
        host.succeeds(&["install"]);
    }
}

#[test]
fn a_tag_stays_a_tag_and_a_commit_a_commit() {
    let (host, _hub, dir) = installed("acme/skills@pdf#v1");
    assert_eq!(entry(&host)["ref"], "refs/tags/v1");
    let old = body(&host);
    let new = skill("pdf").replace("Body", "New body");
    let first = rev(&dir, "HEAD");
    for name in ["v1", &first] {
        git(&dir, &["checkout", "-q", "-b", name]);
        write(&dir, "skills/pdf/SKILL.md", &(new.clone() + name));
        git(&dir, &["checkout", "-q", "main"]);
    }
    assert!(host.succeeds(&["update"]).contains("up to date"));
    git(&dir, &["tag", "-d", "v1"]);
    let gone = host.fails(&["update"]);
    gone.has("no branch or tag is called `refs/tags/v1`");
    assert_eq!(body(&host), old);
    git(&dir, &["tag", "v1", &first]);
    let told = host.fails(&["install", "acme/skills@csv#v1"]);
    told.has("#refs/heads/v1").has("#refs/tags/v1");
    host.succeeds(&["remove", "pdf"]);
    host.succeeds(&["install", &format!("acme/skills@pdf#{first}")]);
    assert_eq!(body(&host), old, "never the branch of that name");
    assert!(host.succeeds(&["update"]).contains("up to date"));
}

#[test]
fn an_update_that_does_not_lead_on_is_told_and_asked_for() {
    type Rewrite = fn(&Path);
    let back: Rewrite = |dir| {
        git(dir, &["branch", "-q", "-f", "kept", "main"]);
        git(dir, &["reset", "-q", "--hard", "HEAD~1"]);
    };
    let unrelated: Rewrite = |dir| {
        git(dir, &["checkout", "-q", "--orphan", "other"]);
        let other = skill("pdf").replace("Body", "Other body");
        write(dir, "skills/pdf/SKILL.md", &other);
        git(dir, &["branch", "-q", "-M", "other", "main"]);
    };
    for (rewrite, told) in [(back, "a downgrade"), (unrelated, "history was rewritten")] {
        let (host, _hub, dir) = installed("acme/csv");
        let newer = skill("pdf").replace("Body", "Newer body");
        write(&dir, "skills/pdf/SKILL.md", &newer);
        host.succeeds(&["install", "acme/pdf"]);
        host.succeeds(&["remove", "csv"]);
        let old = body(&host);
        rewrite(&dir);
        host.succeeds(&["update", "--check"]).has(told);
        for words in [&["update"][..], &["update", "--yes", "pdf"]] {
            host.fails(words).has(told).has("--allow-downgrade");
        }
        host.tool("skill_marketplace", &json!({"action": "update"}))
            .has(told);
        let flag = json!({"args": ["update", "--allow-downgrade"]});
        host.blocks("skill_marketplace", &flag);
        assert_eq!(body(&host), old);
        let (shown, status) = converse(host.command().args(["update", "--yes"]), "n\n");
        assert_eq!(status, 0, "{shown}");
        assert!(shown.contains(told) && shown.contains("Update?"), "{shown}");
        assert_eq!(body(&host), old);
        host.succeeds(&["update", "--allow-downgrade"]);
        assert_ne!(body(&host), old);
        assert!(host.succeeds(&["update", "--check"]).contains("up to date"));
    }
}

#[test]
fn a_policy_on_sources_judges_where_git_really_goes() {
    let evil = Hub::new();
    evil.skills(&["pdf"]);
    let config = evil.dir().join("gitconfig");
    let under = |policy: &str| {
        let host = with_layers(Host::stdin())
            .var("GIT_CONFIG_GLOBAL", &config.to_string_lossy())
            .var("AGENT_SKILLS_GITHUB_BASE", "file:///nowhere/");
        layers::policy(&host, policy);
        host
    };
    let instead = "insteadOf = https://github.com/";
    write_at(&config, format!("[url \"{}\"]\n {instead}\n", evil.base()));
    let host = under("[sources]\nallow = [\"github.com/acme/*\"]\n");
    for words in [
        &["install", "acme/pdf"][..],
        &["install", "acme/pdf", "--yes"],
    ] {
        let ran = host.person(words);
        assert_eq!(ran.status, 1, "{ran:?}");
        ran.stderr.has("does not allow the source `file://");
        ran.stderr.has("AGENT_SKILLS_GITHUB_BASE is ignored");
    }
    assert!(!host.skills_dir().join("pdf").exists());
    // A policy that cannot be read says nothing that would help the variable.
    layers::policy(&host, "[sources\n");
    assert!(host.fails(&["install", "acme/pdf"]).contains("line 1"));
    // Allowed by both names it is installed, and stays so only as long as both are allowed.
    let both = format!("allow = [\"github.com/acme/*\", \"{}*\"]\n", evil.base());
    let host = under(&format!("[sources]\n{both}"));
    host.succeeds(&["install", "acme/pdf"]);
    assert_eq!(entry(&host)["source"], "https://github.com/acme/skills");
    let address = entry(&host)["address"].as_str().unwrap().to_owned();
    assert_eq!(address, evil.base() + "acme/skills");
    assert_eq!(host.skill_tools(), ["skill_pdf"]);
    let policy = host.home().join("enterprise/policy.toml");
    fs::write(policy, "[sources]\nallow = [\"github.com/acme/*\"]\n").unwrap();
    assert_eq!(host.skill_tools(), Vec::<String>::new());
}

#[test]
fn a_policy_on_sources_holds_for_what_a_lockfile_names() {
    let (host, _hub, _) = installed("acme/pdf");
    let host = with_layers(host);
    host.succeeds(&["install", "--project", "acme/skills@pdf"]);
    fs::remove_dir_all(host.project().join(".chibi/skills")).unwrap();
    let policy = host.home().join("enterprise/policy.toml");
    for text in [
        "block = [\"github.com/acme/*\"]",
        "allow = [\"github.com/other/*\"]",
    ] {
        fs::write(&policy, format!("[sources]\n{text}\n")).unwrap();
        host.fails(&["install", "--yes"]);
        assert!(!host.project().join(".chibi/skills/pdf").exists(), "{text}");
    }
}
