//! An administrator's policy: what it allows, what it denies, and what holds whatever is configured.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::Host;
use crate::host::{Has, fifo, finish, write_at};
use crate::layers::{codes, installed, is_offered, put, with_layers};

pub fn policy_file(host: &Host) -> PathBuf {
    host.home().join("enterprise/policy.toml")
}

/// A host under this policy.
pub fn under(host: Host, policy: &str) -> Host {
    let host = with_layers(host);
    fs::write(policy_file(&host), policy).unwrap();
    host
}

pub fn with_var(host: &mut Host, name: &str, value: &str) {
    *host = std::mem::replace(host, Host::stdin()).var(name, value);
}

pub fn lockfile(source: &str) -> String {
    json!({"version": 1, "skills": [{
        "id": "x", "name": "evil", "source": source, "kind": "git", "requested": "x", "ref": null,
        "commit": null, "path": "", "tree": null, "sha256": "", "files": {}, "license": null,
    }]})
    .to_string()
}

#[test]
fn what_the_policy_allows_is_offered() {
    let host = Host::stdin();
    let policy = "[skills]\nallow = [\"go*\"]\nblock = [\"gone\"]\n[sources]\nallow = [\"github.com/acme/*\"]\n\
                  [approval]\nrequire = [\"scripts\"]\n";
    let host = under(host, policy);
    put(&host.skills_dir(), "good", "", "x");
    write_at(
        host.plugin_dir().join("skills.lock.json"),
        lockfile("https://github.com/acme/skills").replace("evil", "good"),
    );
    assert!(is_offered(&host, "good"));
    fs::write(host.skills_dir().join("good/run.sh"), "echo ran").unwrap();
    assert!(!is_offered(&host, "good"));
    host.succeeds(&["approve", "--yes", "good"]);
    assert!(is_offered(&host, "good"));
    let run = json!({"skill": "good", "script": "run.sh"});
    assert_eq!(host.tool("run_skill_script", &run), "ran\n");
}

#[test]
fn a_policy_refuses_installs() {
    let host = Host::stdin();
    let source = host.home().join("source");
    put(&source, "evil", "", "x");
    let source = source.join("evil");
    let host = under(host, "[skills]\nblock = [\"evil\"]");
    let install = ["install", source.to_str().unwrap()];
    host.fails(&install).has("blocks skills named `evil`");
    fs::write(policy_file(&host), "[sources]\nblock = [\"/*\"]").unwrap();
    host.fails(&install).has("blocks the source");
    fs::write(policy_file(&host), "[sources\n").unwrap();
    host.fails(&install).has("line 1");
    assert!(!host.skills_dir().join("evil").exists());
    fs::write(policy_file(&host), "").unwrap();
    host.succeeds(&install);
}

#[test]
fn denied_tools_are_denied_with_and_without_a_skill() {
    let host = under(
        Host::stdin(),
        "[tools]\ndeny = [\"WebFetch\", \"Bash(rm:*)\"]",
    )
    .skill("free", "", "")
    .skill("fetching", "allowed-tools: WebFetch Bash", "");
    host.config("enforce = \"off\"\nalways_allowed = [\"fetch_url\", \"shell_exec\"]");
    let fetch = json!({"url": "https://example.com"});
    let rm = json!({"command": "rm -rf x"});
    let denied = || {
        let message = host.blocks("fetch_url", &fetch);
        message.has("policy").has("WebFetch");
        host.blocks("shell_exec", &rm);
        let command = json!({"tool_name": "shell_exec", "command": "rm -rf x"});
        assert_eq!(host.hook("pre_shell_exec", &command)["denied"], json!(true));
    };
    denied();
    host.allows("file_head", &json!({"path": "x"}));
    // Which tool is called, the policy has to know.
    assert_eq!(host.hook("pre_tool", &json!({}))["block"], json!(true));
    assert_eq!(
        host.hook("pre_fetch_url", &json!({}))["denied"],
        json!(true)
    );
    for skill in ["free", "fetching"] {
        host.activates(skill);
        denied();
    }
    let tools = json!({"tools": [{"name": "fetch_url", "type": "network"}]});
    host.hook("pre_api_tools", &tools)["exclude"]
        .to_string()
        .has("fetch_url");
}

#[test]
fn floors_hold_whatever_is_configured() {
    let shell = json!({"command": "ls"});
    for (floor, config) in [
        ("mode = 'restrict'", "enforce = 'warn'"),
        (
            "mode = 'restrict'\nstacking = 'intersect'",
            "stacking = 'replace'",
        ),
    ] {
        let host = under(Host::stdin(), &format!("[enforce]\n{floor}"))
            .skill("free", "", "")
            .skill("careful", "allowed-tools: Read", "");
        host.config(config);
        host.activates("careful").blocks("shell_exec", &shell);
        let stacks = config.contains("stacking");
        host.activates("free");
        assert_eq!(host.pre_tool("shell_exec", &shell) != json!({}), stacks);
    }
    let host = under(Host::stdin(), "[enforce]\nmode = \"restrict\"");
    host.config("enforce = \"off\"");
    assert_eq!(
        host.succeeds(&["config", "get", "enforce"]),
        "enforce = \"restrict\"  # policy\n"
    );
}

#[test]
fn an_unreadable_policy_closes_everything_but_reading() {
    type Break = fn(&mut Host);
    let texts: [&[u8]; 6] = [
        b"\n[skills\n",
        b"[skill]\nblock = []",
        b"[skills]\nblocked = []",
        b"[skills]\nblock = \"x\"",
        b"[tools]\ndeny = [\"\"]",
        &[0xff, 0, 0xfe],
    ];
    let others: [Break; 4] = [
        |host| fs::create_dir(policy_file(host)).unwrap(),
        |host| fifo(&policy_file(host)),
        |host| symlink("policy.toml", policy_file(host)).unwrap(),
        |host| with_var(host, "AGENT_SKILLS_POLICY", "/no/such/policy.toml"),
    ];
    let mut hosts = Vec::new();
    for text in texts {
        let host = with_layers(Host::stdin());
        fs::write(policy_file(&host), text).unwrap();
        hosts.push(host);
    }
    for spoil in others {
        let mut host = with_layers(Host::stdin());
        spoil(&mut host);
        hosts.push(host);
    }
    for (way, host) in hosts.into_iter().enumerate() {
        let host = host.skill("free", "", "");
        host.blocks("shell_exec", &json!({"command": "ls"}))
            .has("cannot be read");
        host.blocks("write_file", &json!({"path": "x", "content": ""}));
        host.blocks("some_plugin_tool", &json!({}));
        host.blocks("run_skill_script", &json!({"skill": "free", "script": "x"}));
        host.blocks(
            "skill_marketplace",
            &json!({"action": "install", "skill_ref": "anthropics/skills@pdf"}),
        );
        host.allows("file_head", &json!({"path": "x"}));
        host.allows("skill_marketplace", &json!({"action": "list_installed"}));
        assert!(!is_offered(&host, "free"), "{way}");
        let (_, told) = host.hook_with_stderr("post_system_prompt", &json!({}));
        told.has("no skill is offered");
        let codes = codes(&host, "free");
        assert!(codes.contains(&"hidden-policy".to_owned()), "{way}");
    }
}

/// Inside a mount namespace, `/etc` can be what it is on an administered machine.
#[test]
fn what_root_has_set_up_no_variable_takes_away() {
    let probe = Command::new("unshare")
        .args(["-rm", "mount", "-t", "tmpfs", "none", "/etc"])
        .output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        println!("skipped: this system gives no mount namespace to play root's /etc in");
        return;
    }
    let host = with_layers(Host::stdin());
    put(
        &host.home().join("enterprise/skills"),
        "corp",
        "",
        "the user's variable",
    );
    put(&host.home().join("etc/skills"), "corp", "", "root");
    put(&host.skills_dir(), "evil", "", "x");
    put(&host.skills_dir(), "worse", "", "x");
    put(&host.skills_dir(), "waits", "", "x");
    write_at(
        policy_file(&host),
        "[skills]\nblock = [\"worse\"]\nallow = [\"*\"]",
    );
    write_at(
        host.home().join("etc/policy.toml"),
        "[skills]\nblock = [\"evil\"]\n[approval]\nrequire = [\"all\"]\n",
    );
    host.succeeds(&["approve", "--yes", "waits"]);
    assert!(host.plugin_dir().join("approvals.json").exists());
    // The script has no terminal.
    host.succeeds(&["config", "set", "unattended", "true"]);
    let script = r#"
        mount -t tmpfs none /etc && mkdir -p /etc/chibi && cp -r "$HOME/etc" /etc/chibi/agent-skills &&
        chmod -R go-w /etc/chibi && "$EXE" list --json && "$EXE" approve --yes waits >&2 &&
        "$EXE" list --json && cat /etc/chibi/agent-skills/approvals.json >&2 &&
        chmod 666 /etc/chibi/agent-skills/approvals.json && "$EXE" list --json"#;
    let mut shell = Command::new("unshare");
    shell.args(["-rm", "sh", "-c", script]);
    shell.env("EXE", env!("CARGO_BIN_EXE_agent-skills"));
    let ran = finish(&mut host.surround(shell), b"");
    assert_eq!(ran.status, 0, "{ran:?}");
    let answers: Vec<serde_json::Value> = serde_json::Deserializer::from_str(&ran.stdout)
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap();
    let offered = |answer: usize| -> Vec<String> {
        let skills = answers[answer]["skills"].as_array().unwrap().iter();
        let names = skills.filter(|skill| skill["offered"] == true);
        names
            .map(|skill| skill["description"].as_str().unwrap().to_owned())
            .collect()
    };
    // The user's own approval does not count, nor the user's enterprise layer.
    assert_eq!(offered(0), ["From root."]);
    assert_eq!(offered(1), ["From root.", "From x."]);
    // Others could have written the last one.
    assert_eq!(offered(2), ["From root."]);
    ran.stderr
        .has("`waits` is approved")
        .has("\"digest\":\"sha256:");
    assert!(installed(&host).len() == 4);
}
