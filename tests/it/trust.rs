//! Skills that come with a project: how trust is told, given and taken away, and what it covers.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::Host;
use crate::host::{Has, fifo, write_at};
use crate::layers::{installed, is_offered, put};
use crate::trust_ways::{evil, reaches_the_model};

#[test]
fn trust_is_told_given_always_and_taken_away() {
    let host = Host::stdin();
    evil(&host.project().join(".claude/skills"));
    let (answer, told) =
        host.hook_with_stderr("post_system_prompt", &json!({"context_name": "default"}));
    assert_eq!(answer, json!({}));
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines.len() == 1 && lines[0].contains("agent-skills trust "),
        "{told}"
    );
    assert!(installed(&host).iter().any(|skill| skill["name"] == "evil"
        && skill["offered"] == false
        && skill["layer"] == "project"));

    host.succeeds(&["trust", "--yes", "--always"]);
    put(
        &host.project().join(".claude/skills"),
        "evil",
        "",
        "something else",
    );
    assert!(is_offered(&host, "evil"));
    host.succeeds(&["trust", "--yes", "."]);
    fs::write(host.project().join(".claude/skills/evil/x"), "").unwrap();
    assert!(!is_offered(&host, "evil"));
    host.succeeds(&["trust", "--revoke"]);
    assert!(!is_offered(&host, "evil"));
    let mode = fs::metadata(host.plugin_dir().join("trust.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn an_untrusted_skill_takes_nobodys_place() {
    let host = Host::stdin();
    put(&host.skills_dir(), "evil", "", "plugin");
    evil(&host.project().join(".claude/skills"));
    host.tool("skill_evil", &json!({})).has("Body from plugin.");
    let careful = host.project().join(".claude/skills");
    put(&careful, "careful", "allowed-tools: Read", "project");
    host.succeeds(&["trust", "--yes"]);
    host.activates("careful");
    host.succeeds(&["trust", "--revoke"]);
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn the_model_can_neither_trust_nor_configure() {
    let host = Host::stdin();
    evil(&host.project().join(".claude/skills"));
    for words in [
        json!(["trust"]),
        json!(["trust", "--always"]),
        json!(["approve", "evil"]),
        json!(["enable", "evil"]),
        json!(["config", "set", "enforce", "off"]),
    ] {
        let args = json!({"args": words});
        host.blocks("agent-skills", &args);
        host.blocks("skill_marketplace", &args);
    }
    assert!(!reaches_the_model(&host));
    assert!(
        !host.plugin_dir().join("trust.json").exists()
            && !host.plugin_dir().join("config.toml").exists()
    );
}

#[test]
fn a_trusted_projects_configuration_tightens_and_never_loosens() {
    let host = Host::stdin()
        .skill("careful", "allowed-tools: Read", "")
        .skill("free", "", "");
    let project = host.project().join(".chibi/agent-skills.toml");
    fs::create_dir_all(project.parent().unwrap()).unwrap();
    let own = |text: &str| fs::write(host.plugin_dir().join("config.toml"), text).unwrap();
    let shell = json!({"command": "ls"});
    own("enforce = \"off\"");
    write_at(
        &project,
        "enforce = \"restrict\"\nstacking = \"intersect\"\ndeny = [\"WebFetch\"]\n",
    );
    host.activates("careful");
    host.allows("shell_exec", &shell);
    host.succeeds(&["trust", "--yes"]);
    host.blocks("shell_exec", &shell);
    host.activates("free");
    host.blocks("shell_exec", &shell);
    host.starts().activates("free");
    host.allows("shell_exec", &shell);
    host.blocks("fetch_url", &json!({"url": "https://example.com"}))
        .has("configuration");

    own("enforce = \"restrict\"\nstacking = \"intersect\"");
    fs::write(&project, "enforce = \"off\"\nstacking = \"replace\"\n").unwrap();
    host.succeeds(&["trust", "--yes"]);
    host.starts().activates("careful").activates("free");
    host.blocks("shell_exec", &shell);

    fs::write(&project, "\nalways_allowed = [\"shell_exec\"]\n").unwrap();
    host.succeeds(&["trust", "--yes"]);
    let message = host.blocks("shell_exec", &shell);
    message.has("line 2").has("always_allowed");
}

/// What of a project changed is asked for again, and said; the rest stays.
#[test]
fn trust_is_given_to_each_skill_for_itself() {
    let host = Host::stdin();
    let place = host.project().join(".claude/skills");
    for name in ["evil", "good", "fine"] {
        put(&place, name, "", name);
        fs::write(place.join(name).join("run.sh"), "echo").unwrap();
    }
    let told = host.succeeds(&["trust", "--yes"]);
    told.has(".claude/skills/evil: new");
    write_at(
        place.join("evil/SKILL.md"),
        "---\nname: evil\ndescription: EVIL\n---\nEVIL",
    );
    fs::remove_file(place.join("evil/run.sh")).unwrap();
    fs::write(place.join("evil/more.sh"), "echo").unwrap();
    put(&host.project().join(".agents/skills"), "late", "", "EVIL");
    assert!(!reaches_the_model(&host));
    for (name, offered) in [
        ("evil", false),
        ("late", false),
        ("good", true),
        ("fine", true),
    ] {
        assert_eq!(is_offered(&host, name), offered, "{name}");
    }
    let changed = "SKILL.md, more.sh (new), run.sh (gone)";
    for told in [
        host.succeeds(&["trust", "--list"]),
        host.succeeds(&["info", "evil"]).replace('\n', " "),
    ] {
        told.has(changed);
        // What it may use is not told either, so it is not said to be everything.
        told.lacks("every tool");
    }
    host.person(&["doctor"])
        .stdout
        .has("contains more than before");
    // One is trusted, and the others stay what they are.
    let told = host.succeeds(&["trust", "--yes", "--skill", "late"]);
    told.has(".agents/skills/late: new").lacks("evil");
    assert!(is_offered(&host, "late") && !is_offered(&host, "evil") && is_offered(&host, "good"));
    host.succeeds(&["trust", "--revoke", "--skill", "good"]);
    assert!(!is_offered(&host, "good") && is_offered(&host, "fine") && is_offered(&host, "late"));
    let told = host.fails(&["trust", "--yes", "--skill", "none"]);
    told.has("has no skill in a directory");
    host.fails(&["trust", "--revoke", "--skill", "good"])
        .has("was not trusted");
    let told = host.succeeds(&["trust", "--yes"]);
    told.has(&format!("evil: changed since: {changed}"));
    told.has("  2 are as before");
    assert!(is_offered(&host, "evil") && is_offered(&host, "good"));
}

#[test]
fn what_cannot_be_read_is_not_told_as_trusted() {
    let host = Host::stdin();
    let place = host.project().join(".claude/skills");
    for name in ["good", "odd"] {
        put(&place, name, "", "fine");
    }
    fifo(&place.join("odd/\u{202e}pipe"));
    let ran = host.person(&["trust", "--yes"]);
    assert_eq!(ran.status, 1, "one of two failed: {ran:?}");
    let told = ran.stdout + &ran.stderr;
    told.has("skills/good: new").lacks("skills/odd: new");
    assert!(
        told.contains("not trusted: ") && !reaches_the_model(&host),
        "{told}"
    );
    assert!(is_offered(&host, "good") && !is_offered(&host, "odd"));
    fs::remove_dir_all(place.join("good")).unwrap();
    let told = host.fails(&["trust", "--yes"]);
    told.has("nothing in").has("odd");
    let nearer = host.project().join("a");
    put(&nearer.join(".claude/skills"), "near", "", "fine");
    let ran = host.person(&["trust", "--yes", nearer.to_str().unwrap()]);
    assert_eq!(ran.status, 1, "one of two failed: {ran:?}");
    ran.stdout.has("skills/near: new");
    ran.stderr.has("nothing in");
}

#[test]
fn only_a_trusted_configuration_counts() {
    let host = Host::stdin().skill("careful", "", "");
    put(&host.project().join(".chibi/skills"), "fine", "", "fine");
    host.succeeds(&["trust", "--yes"]);
    let file = host.project().join(".chibi/agent-skills.toml");
    let is_hidden = || !is_offered(&host, "careful");
    fs::write(&file, "[visibility]\ncareful = \"off\"\n").unwrap();
    assert!(!is_hidden() && is_offered(&host, "fine"));
    host.succeeds(&["trust", "--yes"]);
    assert!(is_hidden());
    fs::write(&file, "[visibility]\ncareful = \"off\"\nfine = \"off\"\n").unwrap();
    assert!(!is_hidden() && is_offered(&host, "fine"));
}

#[test]
fn a_record_in_another_form_trusts_nothing() {
    let host = Host::stdin();
    evil(&host.project().join(".claude/skills"));
    let key = host.project().canonicalize().unwrap();
    let key = key.to_str().unwrap();
    let file = host.plugin_dir().join("trust.json");
    let record = |version: u32, trusted: &serde_json::Value| {
        let text = json!({"version": version, "entries": {key: trusted}}).to_string();
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    };
    record(1, &json!("always"));
    assert!(is_offered(&host, "evil"));
    for (version, odd) in [
        (2, json!("always")),
        (0, json!("always")),
        (1, json!(1)),
        (1, json!({".claude/skills/evil": "always"})),
        (1, json!({".claude/skills/evil": {"digest": "always"}})),
        (1, json!("")),
        (1, json!("sha256:00")),
    ] {
        record(version, &odd);
        assert!(!reaches_the_model(&host), "{version} {odd}");
    }
}
