//! Skills that a policy requires: nothing hides, replaces or ends them, and what happens while one
//! is missing.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::Host;
use crate::always_on::prompt_in;
use crate::host::{Has, write_at};
use crate::layers::{codes, is_offered, layer_dir, put, read};
use crate::policy::{lockfile, policy_file, under};

pub const ANYWHERE: &str = "[skills]\nrequire = [{name = 'must', source = 'github.com/acme/*'}]\n";

/// A host whose plugin directory has the skill `must` from github.com/acme.
pub fn with_must(host: Host, policy: &str) -> Host {
    let host = under(host, policy);
    put(&host.skills_dir(), "must", "", "plugin");
    lock_must(&host.plugin_dir());
    host
}

/// A lockfile that says that `skills/must` below `base` is as github.com/acme has it.
pub fn lock_must(base: &Path) {
    let mut digest = Sha256::new();
    let dir = base.join("skills/must");
    let entries = fs::read_dir(&dir).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    for name in names {
        let content = fs::read(dir.join(&name)).unwrap();
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name.as_encoded_bytes());
        digest.update([0]);
        digest.update((content.len() as u64).to_le_bytes());
        digest.update(content);
    }
    let digest = format!("\"sha256\":\"{:x}\"", digest.finalize());
    let lock = lockfile("https://github.com/acme/skills").replace("evil", "must");
    let lock = lock.replace("\"sha256\":\"\"", &digest);
    fs::write(base.join("skills.lock.json"), lock).unwrap();
}

#[test]
fn no_configuration_hides_a_required_skill() {
    for host in Host::both() {
        let host = with_must(host, ANYWHERE);
        assert!(is_offered(&host, "must"));
        for hides in [
            "[visibility]\nmust = \"off\"",
            "[visibility]\nmust = \"user\"",
            "[visibility]\nmust = \"name-only\"",
            "[catalog]\n\"*\" = [\"other\"]",
        ] {
            host.config(hides);
            let prompt = host.prompt();
            assert!(prompt.contains("From plugin."), "{hides}: {prompt}");
            let tools = host.tool_names();
            assert!(
                tools.contains(&"skill_must".to_owned()),
                "{hides}: {tools:?}"
            );
        }
        host.config("");
        host.fails(&["disable", "must"]).has("requires `must`");
        let project = host.project().join(".chibi/agent-skills.toml");
        write_at(project, "[visibility]\nmust = \"off\"\n");
        host.succeeds(&["trust", "--yes", "--always"]);
        assert!(is_offered(&host, "must"));
        // Without the requirement, each of them does.
        fs::write(policy_file(&host), "").unwrap();
        assert!(!is_offered(&host, "must"));
    }
}

#[test]
fn neither_author_nor_scope_hides_a_required_skill() {
    let host = with_must(Host::stdin(), ANYWHERE);
    for more in [
        "disable-model-invocation: true",
        "scope: {tenants: [acme]}",
        "scope: {agents: [ops]}",
    ] {
        put(&host.skills_dir(), "must", more, "plugin");
        lock_must(&host.plugin_dir());
        host.starts();
        assert!(host.prompt().contains("From plugin."), "{more}");
    }
}

#[test]
fn no_other_skill_takes_the_place_of_a_required_one() {
    let host = with_must(Host::stdin(), ANYWHERE);
    put(
        &layer_dir(&host, "personal"),
        "must",
        "priority: 99",
        "personal",
    );
    put(
        &layer_dir(&host, "project"),
        "must",
        "priority: 99",
        "project",
    );
    host.succeeds(&["trust", "--yes", "--always"]);
    host.starts();
    assert!(host.prompt().contains("From plugin."));
    assert_eq!(read(&host, "must"), "plugin");
    for other in ["personal/must", "project/must"] {
        assert!(read(&host, other).starts_with("Error: "), "{other}");
    }
    assert!(codes(&host, "must").contains(&"hidden-policy".to_owned()));
    // Nor once the required one is gone.
    fs::remove_dir_all(host.skills_dir().join("must")).unwrap();
    assert!(!is_offered(&host, "must"));
    assert!(read(&host, "must").starts_with("Error: "));
}

#[test]
fn a_name_alone_requires_the_administrators_skill() {
    let host = with_must(Host::stdin(), "[skills]\nrequire = ['Must']\n");
    assert!(!is_offered(&host, "must"));
    host.person(&["doctor"])
        .stdout
        .has("only one in the administrator's directory");
    put(&layer_dir(&host, "enterprise"), "must", "", "enterprise");
    assert!(is_offered(&host, "must"));
    assert_eq!(read(&host, "must"), "enterprise");
    for gone in ["project/must", "plugin/must"] {
        assert!(read(&host, gone).starts_with("Error: "), "{gone}");
    }
    let remove = ["remove", "--layer", "enterprise", "--yes", "must"];
    host.fails(&remove).has("requires the skill `must`");
    host.succeeds(&["remove", "--layer", "plugin", "--yes", "must"]);
    let rollback = ["rollback", "--layer", "enterprise", "must"];
    let told = host.fails(&rollback);
    told.has("requires the skill `must`");
}

#[test]
fn a_required_skill_is_in_force_in_every_conversation() {
    let policy = "[skills]\nrequire = [{name = 'must', in_force = 'always'}]\n";
    let host = under(Host::stdin(), policy).skill("free", "", "body");
    put(
        &layer_dir(&host, "enterprise"),
        "must",
        "allowed-tools: Read",
        "enterprise",
    );
    host.config("max_active = 1\nstacking = \"intersect\"");
    host.starts();
    let (prompt, told) = prompt_in(&host, "ops");
    assert!(prompt.contains("Body from enterprise."), "{prompt} {told}");
    let list = json!({"command": "ls"});
    host.blocks("shell_exec", &list);
    host.tool("skill_session", &json!({"action": "unload", "all": true}));
    host.blocks("shell_exec", &list);
    host.succeeds(&["deactivate"]);
    host.blocks("shell_exec", &list);
    let (prompt, _) = prompt_in(&host, "notes");
    assert!(prompt.contains("Body from enterprise."));
    // A mistake in the user's file does not lift it.
    host.config("[visibilty]\n");
    host.starts();
    host.blocks("shell_exec", &list);
}

#[test]
fn a_missing_skill_is_told_and_lets_the_conversation_go_on() {
    let policy = "[skills]\nrequire = [{name = 'must', in_force = 'always'}]\n";
    let host = under(Host::stdin(), policy).skill("free", "", "body");
    host.starts();
    let data = json!({"context_name": "ops"});
    let (answer, told) = host.hook_with_stderr("post_system_prompt", &data);
    answer["inject"]
        .as_str()
        .unwrap()
        .has("- free: ")
        .lacks("must");
    told.has("requires the skill `must`: there is no");
    host.hook_with_stderr("post_system_prompt", &data);
    host.allows("shell_exec", &json!({"command": "ls"}));
    let events = host.json(&["audit", "--event", "missing", "--json"]);
    let events = events["events"].as_array().map_or(0, Vec::len);
    assert_eq!(events, 1);
    let doctor = host.person(&["doctor"]);
    assert_eq!(doctor.status, 1);
    assert!(doctor.stdout.contains("requires the skill `must`"));
}

#[test]
fn a_missing_skill_can_stop_everything_but_reading() {
    let policy = "[skills]\nmissing = 'block'\nrequire = [{name = 'must', in_force = 'always'}]\n";
    let host = under(Host::stdin(), policy).skill("free", "", "body");
    host.starts();
    assert!(!is_offered(&host, "free"));
    assert!(read(&host, "free").contains("requires the skill `must`"));
    let list = json!({"command": "ls"});
    host.blocks("shell_exec", &list).has("policy explain must");
    put(&layer_dir(&host, "enterprise"), "must", "", "enterprise");
    host.starts();
    host.prompt();
    assert!(is_offered(&host, "free"));
    host.allows("shell_exec", &list);
}

#[test]
fn older_versions_are_neither_offered_nor_installed() {
    let policy = "[skills.versions]\npdf = '>=1.10'\n";
    let host = under(Host::stdin(), policy);
    let source = host.home().join("source");
    for (version, is_new) in [
        ("version: 1.9", false),
        ("", false),
        ("metadata: {version: '1.10'}", true),
        ("version: 2.0-rc1", true),
    ] {
        put(&host.skills_dir(), "pdf", version, "plugin");
        host.starts();
        assert_eq!(is_offered(&host, "pdf"), is_new, "{version}");
        fs::remove_dir_all(host.skills_dir().join("pdf")).unwrap();
        put(&source, "pdf", version, "x");
        let from = source.join("pdf");
        let install = ["install", "--yes", from.to_str().unwrap()];
        if is_new {
            host.succeeds(&install);
            host.succeeds(&["remove", "--yes", "pdf"]);
        } else {
            host.fails(&install).has("at least 1.10 is required");
        }
    }
}

#[test]
fn an_update_to_an_older_version_is_refused() {
    let host = under(Host::stdin(), "");
    let source = host.home().join("source");
    put(&source, "pdf", "version: 1.1", "x");
    let from = source.join("pdf");
    host.succeeds(&["install", "--yes", from.to_str().unwrap()]);
    fs::write(policy_file(&host), "[skills.versions]\npdf = '1.1'\n").unwrap();
    put(&source, "pdf", "version: 1.0", "y");
    host.fails(&["update", "--yes", "pdf"])
        .has("its version is 1.0");
    assert_eq!(read(&host, "pdf"), "x");
}

#[test]
fn a_required_skill_from_elsewhere_is_not_installed() {
    let host = under(Host::stdin(), ANYWHERE);
    let source = host.home().join("source");
    put(&source, "must", "", "x");
    let from = source.join("must");
    host.fails(&["install", "--yes", from.to_str().unwrap()])
        .has("it has to be from `github.com/acme/*`");
    let info = host.json(&["list", "--json"]);
    assert_eq!(info["skills"].as_array().unwrap().len(), 0);
}

#[test]
fn no_list_prunes_a_required_skill() {
    let host = under(Host::stdin(), "");
    let source = host.home().join("source");
    put(&source, "must", "", "x");
    put(&source, "free", "", "x");
    for name in ["must", "free"] {
        host.succeeds(&["install", "--yes", source.join(name).to_str().unwrap()]);
    }
    let list = host.home().join("list.json");
    let lock = fs::read(host.plugin_dir().join("skills.lock.json")).unwrap();
    let mut lock: Value = serde_json::from_slice(&lock).unwrap();
    let listed = lock["skills"].as_array_mut().unwrap();
    listed.retain(|one| one["name"] != "must");
    fs::write(&list, lock.to_string()).unwrap();
    let policy = "[skills]\nrequire = [{name = 'must', source = '/*'}]\n";
    fs::write(policy_file(&host), policy).unwrap();
    let list = list.to_str().unwrap();
    let sync = ["sync", "--yes", "--prune", "--layer", "plugin", list];
    host.fails(&sync).has("requires the skill `must`");
    assert!(is_offered(&host, "must"));
    fs::write(policy_file(&host), "").unwrap();
    assert_eq!(host.person(&sync).status, 3);
    assert!(!is_offered(&host, "must"));
}
