//! `doctor`: each thing that can be wrong is found and named with its remedy, and what can be
//! repaired without a decision is.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Generation, Has, finish, write_at};

/// A machine with this host's chibi and with the plugin installed, and nothing wrong.
fn healthy(host: Host) -> Host {
    let bin = host.home().join("bin");
    fs::create_dir(&bin).unwrap();
    let release = match host.generation() {
        Generation::Environment => "0.5.0",
        Generation::Stdin => "0.10.10",
    };
    program(
        &bin.join("chibi"),
        &format!("[ \"$1\" = --version ] && echo chibi {release}"),
    );
    let plugin = host.plugin_dir().join("agent-skills");
    fs::copy(env!("CARGO_BIN_EXE_agent-skills"), plugin).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    host.skill("pdf", "", "Body.").var("PATH", &path)
}

fn program(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The check of that code, which must have been made; the status says whether anything is broken.
#[track_caller]
fn check(host: &Host, code: &str) -> Value {
    let ran = host.person(&["doctor", "--json"]);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    let checks = answer["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["code"] == code);
    let found = found.unwrap_or_else(|| panic!("no {code}: {answer:#}"));
    let is_broken = checks.iter().any(|check| check["outcome"] == "fail");
    assert_eq!(answer["broken"], json!(is_broken));
    assert_eq!(ran.status, i32::from(is_broken));
    found.clone()
}

/// Finds `code` with that outcome, and every part in its message and remedy.
#[track_caller]
fn finds(host: &Host, code: &str, outcome: &str, parts: &[&str]) {
    let found = check(host, code);
    assert_eq!(found["outcome"], outcome, "{found}");
    let told = format!("{} {}", found["message"], found["remedy"]);
    assert!(
        parts.iter().all(|part| told.contains(part)),
        "{parts:?}: {found}"
    );
    assert!(
        found["remedy"]
            .as_str()
            .is_some_and(|remedy| !remedy.is_empty()),
        "{found}"
    );
}

#[test]
fn where_nothing_is_wrong_nothing_is_reported() {
    for (host, release, by) in [
        (Host::environment(), "chibi 0.5.0", "environment variables"),
        (Host::stdin(), "chibi 0.10.10", "standard input"),
    ] {
        let host = healthy(host);
        host.person(&["doctor"])
            .ends(0)
            .stdout
            .finishes("Nothing is wrong.\n");
        let told = check(&host, "host")["message"].to_string();
        told.has(release).has(by);
        check(&host, "plugin")["message"].to_string().has("8 tools");
    }
}

#[test]
fn a_connected_agents_own_skills_are_known() {
    let without = Host::stdin();
    let path = format!("{}:/usr/bin:/bin", without.home().join("bin").display());
    let without = without.var("PATH", &path);
    for host in [healthy(Host::stdin()), without] {
        let dir = host.home().join(".claude/skills/held");
        let text = "---\nname: held\ndescription: Does a thing.\nallowed-tools: Read\n---\nb\n";
        write_at(dir.join("SKILL.md"), text);
        assert!(!host.succeeds(&["list"]).contains("held"));
        host.succeeds(&["config", "set", "skills.held.allow", "Glob"]);
        host.succeeds(&["hosts", "add", "claude-code", "--yes"]);
        finds(&host, "agent-never-seen", "warn", &["start claude-code"]);
        let call = json!({"hook_event_name": "PreToolUse", "session_id": "s", "prompt_id": "p",
            "cwd": host.project(), "tool_name": "Skill", "tool_input": {"skill": "held"}});
        let mut hook = host.command();
        finish(
            hook.args(["hook", "claude-code"]),
            call.to_string().as_bytes(),
        );
        let told = host.succeeds(&["doctor"]);
        told.has("1 more is in directories of connected agents; 1 is restricted there");
        told.has("`@FILE`").finishes("Nothing is wrong.\n");
        host.succeeds(&["list"])
            .has("claude-code's own")
            .has("restricted");
        let info = host.succeeds(&["info", "held"]);
        info.has("found by      claude-code")
            .has("Read")
            .has("Glob");
        assert!(!info.contains("file_head"), "{info}");
        let skills = host.json(&["list", "--json"])["skills"].clone();
        let its = skills.as_array().unwrap().last().unwrap();
        assert_eq!(its["agents"][0]["link"], dir.to_str().unwrap());
        assert_eq!(
            (&its["tool"], &its["restricted"]),
            (&Value::Null, &json!(true))
        );
    }
}

#[test]
fn a_host_that_is_missing_old_or_silent_is_named() {
    let host = healthy(Host::stdin());
    let chibi = host.home().join("bin/chibi");
    for (script, code, outcome, part) in [
        ("echo chibi 0.3.1", "host-old", "fail", "0.4 or later"),
        ("echo what", "host-unknown", "warn", "`what`"),
        ("exit 3", "host-silent", "fail", "exit status: 3"),
    ] {
        program(&chibi, script);
        finds(&host, code, outcome, &[part]);
    }
    program(&chibi, "echo chibi 0.5.0");
    let host = host.var("CHIBI_HOME", "/elsewhere");
    finds(&host, "host-home", "warn", &["~/.chibi"]);
    fs::remove_file(chibi).unwrap();
    finds(&host, "host-missing", "warn", &["PATH"]);
}

#[test]
fn doctor_finds_a_plugin_that_chibi_would_not_load() {
    let host = healthy(Host::stdin());
    let (dir, file) = (host.plugin_dir(), host.plugin_dir().join("agent-skills"));
    let mode = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o644);
    finds(&host, "plugin-not-executable", "fail", &["chmod +x"]);
    mode(0o777);
    finds(&host, "plugin-writable", "warn", &["go-w"]);
    let ran = host.person(&["doctor", "--fix"]);
    assert!(ran.status == 0 && ran.stdout.contains("fixed"), "{ran:?}");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o755);

    let outside = host.home().join("built");
    fs::rename(&file, &outside).unwrap();
    symlink(&outside, &file).unwrap();
    finds(&host, "plugin-linked", "fail", &["built", "copy"]);
    fs::remove_file(&file).unwrap();
    finds(&host, "plugin-missing", "fail", &["install.sh"]);
    program(&file, "echo no schema");
    finds(&host, "plugin-broken", "fail", &["not a list of tools"]);
    finds(&host, "plugin-other-build", "warn", &["a different build"]);

    let second = dir.with_file_name("agent-skills-old");
    fs::create_dir(&second).unwrap();
    program(&second.join("agent-skills-old"), "true");
    finds(
        &host,
        "plugin-twice",
        "warn",
        &["agent-skills-old", ".disabled"],
    );
    fs::rename(&dir, dir.with_file_name("agent-skills.disabled")).unwrap();
    finds(&host, "plugin-disabled", "fail", &["mv "]);
}

#[test]
fn doctor_names_several_programs_on_the_path() {
    let host = healthy(Host::stdin());
    let bin = host.home().join("bin");
    symlink(
        host.plugin_dir().join("agent-skills"),
        bin.join("agent-skills"),
    )
    .unwrap();
    assert_eq!(check(&host, "path")["outcome"], "ok");
    let other = host.home().join("other");
    fs::create_dir(&other).unwrap();
    program(&other.join("agent-skills"), "true");
    let path = format!("{}:{}", other.display(), bin.display());
    finds(
        &host.var("PATH", &path),
        "path-duplicates",
        "warn",
        &["other/agent-skills", "bin/agent-skills"],
    );
}

#[test]
fn programs_that_are_needed_and_not_there_are_named() {
    let host = healthy(Host::stdin())
        .file("pdf/scripts/fill.py", "print()\n")
        .file("pdf/scripts/more.py", "print()\n")
        .skill(
            "tool",
            "metadata: {openclaw: {requires: {bins: [no-such-program]}}}",
            "b",
        );
    finds(
        &host,
        "need-missing",
        "warn",
        &["`tool`", "no-such-program"],
    );
    let bin = host.home().join("bin");
    let host = host.var("PATH", bin.to_str().unwrap());
    finds(&host, "git", "fail", &["git", "package manager"]);
    fs::create_dir_all(&bin).unwrap();
    let git = |says: &str| {
        let file = bin.join("git");
        fs::write(&file, format!("#!/bin/sh\n{says}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    };
    git("echo git version 2.29.9.windows.1");
    finds(&host, "git", "fail", &["git 2.29", "2.30 or later"]);
    git("echo no developer tools >&2; exit 1");
    finds(&host, "git", "fail", &["no developer tools"]);
    git("echo 'git version 2.30.0 (Apple Git-1)'");
    assert_eq!(check(&host, "git")["outcome"], "ok");
    fs::remove_dir_all(&bin).unwrap();
    finds(&host, "curl", "warn", &["curl"]);
    finds(
        &host,
        "interpreter-missing",
        "warn",
        &["`pdf`", "fill.py", "python3", "1 more"],
    );
}

#[test]
fn skills_that_are_not_as_they_should_be_are_named() {
    let host = healthy(Host::stdin())
        .file("bad/SKILL.md", "no frontmatter")
        .skill("odd", "allowed-tools: Nonsense", "b");
    finds(&host, "skill-unusable", "fail", &["`bad`", "remove bad"]);
    finds(&host, "skill-odd", "warn", &["`odd`", "unknown-tool"]);
    symlink("/nowhere", host.skills_dir().join("gone")).unwrap();
    finds(&host, "dangling-link", "warn", &["gone", "/nowhere"]);
    let personal = host.home().join(".chibi/skills/pdf");
    write_at(
        personal.join("SKILL.md"),
        "---\nname: pdf\ndescription: other\n---\n",
    );
    finds(&host, "skill-shadowed", "warn", &["`pdf`"]);
    fs::write(host.plugin_dir().join("skills.lock.json"), "{").unwrap();
    finds(&host, "lockfile", "fail", &["skills.lock.json"]);
}

#[test]
fn a_directory_that_cannot_be_entered_is_named() {
    let host = healthy(Host::stdin());
    let closed = host.skills_dir().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&closed).is_ok() {
        println!("skipped: this user may enter every directory");
        return;
    }
    finds(&host, "directory-unreadable", "fail", &["closed", "chmod"]);
}

#[test]
fn mistakes_in_the_rules_are_named() {
    let host = healthy(Host::stdin());
    let config = host.plugin_dir().join("config.toml");
    fs::write(&config, "enforcement = \"off\"\n").unwrap();
    finds(&host, "configuration", "fail", &["line 1", "enforcement"]);
    fs::write(&config, "enforce = \"warn\"\nsandbox = \"auto\"\n").unwrap();
    finds(&host, "enforcement", "warn", &["enforce restrict"]);
    fs::remove_file(&config).unwrap();
    let project = host.project().join(".chibi/skills/x");
    write_at(
        project.join("SKILL.md"),
        "---\nname: x\ndescription: d\n---\n",
    );
    finds(&host, "project-untrusted", "warn", &["agent-skills trust"]);
    host.succeeds(&["trust", "--yes"]);
    assert_eq!(host.json(&["doctor", "--json"])["broken"], json!(false));
    fs::write(host.plugin_dir().join("trust.json"), "[").unwrap();
    finds(&host, "trust", "fail", &["trust.json"]);
    let policy = host.home().join("policy.toml");
    fs::write(&policy, "nonsense = 1\n").unwrap();
    finds(
        &host.var("AGENT_SKILLS_POLICY", policy.to_str().unwrap()),
        "policy",
        "fail",
        &["nonsense"],
    );
}

#[test]
fn doctor_leaves_an_unreadable_state_to_deactivate() {
    let host = healthy(Host::stdin()).skill("reads", "allowed-tools: Read", "b");
    host.starts().activates("reads");
    let state = host.plugin_dir().join("state.json");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o666)).unwrap();
    finds(&host, "state", "fail", &["agent-skills deactivate"]);
    host.person(&["doctor", "--fix", "--yes"]);
    host.blocks("shell_exec", &json!({"command": "ls"}));
    host.succeeds(&["deactivate"]);
    assert_eq!(check(&host, "state")["outcome"], "ok");
    host.allows("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn doctor_asks_the_host_only_its_version() {
    let host = healthy(Host::stdin());
    let chibi = host.home().join("bin/chibi");
    let asked = host.home().join("asked");
    program(
        &chibi,
        &format!(
            "env | grep -c CHIBI_ >>{0}; echo \"$@\" >>{0}; sleep 100 & exec sleep 100",
            asked.display()
        ),
    );
    let mut command = host.command();
    command
        .args(["doctor", "--json"])
        .env("CHIBI_HOOK_DATA", "x");
    let ran = finish(&mut command, b"");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(answer["checks"][0]["code"] == "host-silent", "{answer:#}");
    assert_eq!(fs::read_to_string(asked).unwrap(), "0\n--version\n");
}
