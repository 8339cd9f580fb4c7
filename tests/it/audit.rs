//! The audit log: what is written down, of what and how much.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::Host;
use crate::host::write_at;
use crate::repository::{Hub, commit};

pub fn events(host: &Host) -> Vec<Value> {
    host.json(&["audit", "--json"])["events"]
        .as_array()
        .unwrap()
        .clone()
}

pub fn of_kind(host: &Host, kind: &str) -> Vec<Value> {
    let mut events = events(host);
    events.retain(|event| event["event"] == kind);
    events
}

#[test]
fn a_session_is_written_down_from_activation_to_end() {
    let host = Host::stdin()
        .skill("careful", "allowed-tools: Read Bash(git status)", "")
        .file("careful/run.sh", "echo secret output; exit 3\n");
    host.config("tenant = \"acme\"\nenvironment = \"test\"\n");
    host.starts();
    host.hook("post_system_prompt", &json!({"context_name": "work"}));
    host.allows("shell_exec", &json!({"command": "ls"}));
    host.activates("careful");
    host.activates("careful");
    host.allows("shell_exec", &json!({"command": "git status"}));
    host.allows("file_head", &json!({"path": "notes.md"}));
    host.blocks(
        "shell_exec",
        &json!({"command": "curl --token abc https://x.y"}),
    );
    host.blocks(
        "write_file",
        &json!({"path": "x", "content": "private text"}),
    );
    let run = json!({"skill": "careful", "script": "run.sh", "args": ["--password", "hunter2"]});
    host.allows("run_skill_script", &run);
    host.tool("run_skill_script", &run);
    host.starts();

    tells_who_and_where(&host);
    tells_what_was_decided(&host);
    tells_no_secrets(&host);
}

#[track_caller]
fn tells_who_and_where(host: &Host) {
    let activations = of_kind(host, "activate");
    assert_eq!(activations.len(), 1, "{activations:?}");
    let activation = &activations[0];
    for (key, value) in [
        ("skill", "careful"),
        ("context", "work"),
        ("session", "named:host"),
        ("tenant", "acme"),
        ("environment", "test"),
    ] {
        assert_eq!(activation[key], value, "{activation}");
    }
    assert_eq!(activation["host_pid"], json!(host.pid()));
    assert_eq!(
        activation["project"],
        json!(host.project().to_str().unwrap())
    );
    assert!(
        activation["uid"].is_u64()
            && activation["digest"]
                .as_str()
                .unwrap()
                .starts_with("sha256:")
    );
}

#[track_caller]
fn tells_what_was_decided(host: &Host) {
    let tools = of_kind(host, "tool");
    let decided: Vec<String> = tools
        .iter()
        .map(|event| {
            format!(
                "{} {} by {}",
                event["tool"].as_str().unwrap(),
                event["decision"].as_str().unwrap(),
                event["by"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        decided,
        [
            "skill_careful allowed by always allowed",
            "shell_exec allowed by careful: Bash(git status)",
            "file_head allowed by careful: Read",
            "shell_exec blocked by careful: no entry",
            "write_file blocked by careful: no entry",
            "run_skill_script allowed by always allowed",
        ]
    );
    assert_eq!(
        tools[3]["arguments"]["command"],
        "curl --token *** https://x.y"
    );
}

#[track_caller]
fn tells_no_secrets(host: &Host) {
    let script = &of_kind(host, "script")[0];
    assert_eq!(
        (&script["exit_code"], &script["args"]),
        (&json!(3), &json!(["--password", "***"]))
    );
    assert!(script["duration_ms"].is_u64());
    let end = &of_kind(host, "end")[0];
    assert!(
        end["duration_ms"].is_u64() && end["reason"] == "next-start" && end["context"] == "work",
        "{end}"
    );
    let log = host.plugin_dir().join("audit.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    for secret in ["hunter2", "abc ", "private text", "secret output"] {
        assert!(!text.contains(secret), "{secret}");
    }
    assert_eq!(
        fs::metadata(log).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn every_entry_that_grants_a_part_is_named() {
    let host = Host::stdin().skill("careful", "allowed-tools: Bash(git:*) Bash(ls:*)", "");
    host.activates("careful");
    for command in ["git log && ls | head -3", "git log; git show", "echo done"] {
        host.allows("shell_exec", &json!({ "command": command }));
    }
    let by: Vec<Value> = of_kind(&host, "tool")
        .iter()
        .map(|event| event["by"].clone())
        .collect();
    assert_eq!(
        by,
        [
            "careful: Bash(git:*), Bash(ls:*)",
            "careful: Bash(git:*)",
            "no entry needed"
        ]
    );
}

#[test]
fn with_nothing_active_nothing_is_written() {
    let host = Host::stdin().skill("pdf", "", "");
    host.starts();
    host.prompt();
    host.schema();
    host.allows("shell_exec", &json!({"command": "ls"}));
    assert!(!host.plugin_dir().join("audit.jsonl").exists());
}

#[test]
fn installs_trust_and_approvals_are_written_down() {
    let host = Host::stdin();
    let source = host.home().join("source/pdf");
    write_at(
        source.join("SKILL.md"),
        "---\nname: pdf\ndescription: d\n---\n",
    );
    host.succeeds(&["install", source.to_str().unwrap()]);
    host.succeeds(&["approve", "--yes", "pdf"]);
    host.succeeds(&["remove", "pdf"]);
    crate::layers::put(&host.project().join(".claude/skills"), "x", "", "x");
    host.succeeds(&["trust", "--yes"]);
    host.succeeds(&["trust", "--revoke"]);
    let (hub, text) = (Hub::new(), "---\nname: csv\ndescription: d\n---\n");
    let repository = hub.repository("acme/skills", &[("skills/csv/SKILL.md", text)]);
    let host = host.var("AGENT_SKILLS_GITHUB_BASE", &hub.base());
    host.succeeds(&["install", "acme/csv"]);
    fs::write(repository.join("skills/csv/more.md"), "x").unwrap();
    commit(&repository);
    host.succeeds(&["update"]);
    host.succeeds(&["update"]);
    let kinds: Vec<Value> = events(&host)
        .iter()
        .map(|event| event["event"].clone())
        .collect();
    assert_eq!(
        kinds,
        [
            "install", "approve", "remove", "trust", "untrust", "install", "update"
        ]
    );
}

#[test]
fn output_is_written_as_far_as_wanted_and_copies_where_wanted() {
    let host = Host::stdin()
        .skill("pdf", "", "")
        .file("pdf/run.sh", "echo 0123456789\n");
    let copy = host.home().join("copy.jsonl");
    let host = host.policy(&format!("[audit]\npath = \"{}\"\n", copy.display()));
    host.config("[audit]\noutput_bytes = 4\n");
    let run = json!({"skill": "pdf", "script": "run.sh"});
    host.tool("run_skill_script", &run);
    assert_eq!(of_kind(&host, "script")[0]["output"], "0123");
    host.config("[audit]\noutput_bytes = 20000\n");
    let host = host.file("pdf/run.sh", "head -c 30000 /dev/zero | tr '\\0' x\n");
    host.tool("run_skill_script", &run);
    let output = of_kind(&host, "script")[1]["output"].clone();
    assert_eq!(output.as_str().unwrap().len(), 20_000);
    host.config("[audit]\noutput_bytes = 4\n");
    fs::remove_file(host.plugin_dir().join("audit.jsonl")).unwrap();
    fs::remove_file(&copy).unwrap();
    host.tool("run_skill_script", &run);
    assert_eq!(
        fs::read(copy).unwrap(),
        fs::read(host.plugin_dir().join("audit.jsonl")).unwrap()
    );
}

#[test]
fn people_read_local_times_and_programs_utc() {
    let host = Host::stdin().skill("pdf", "", "");
    host.activates("pdf");
    let utc = events(&host)[0]["time"].as_str().unwrap().to_owned();
    assert!(utc.ends_with('Z'), "{utc}");
    let host = host.var("TZ", "XXX-14");
    let told = host.succeeds(&["audit"]);
    let (time, _) = told.split_once("  ").unwrap();
    assert_eq!(time.len(), "2026-11-21 23:01".len(), "{told}");
    let hour = |time: &str| time[11..13].parse::<u32>().unwrap();
    assert_eq!(hour(time), (hour(&utc) + 14) % 24, "{told} {utc}");
    assert_eq!(events(&host)[0]["time"], utc);
    // What was read can be asked for; farther west it is still to come.
    assert!(host.succeeds(&["audit", "--since", time]).contains("pdf"));
    let host = host.var("TZ", "XXX-12");
    assert!(!host.succeeds(&["audit", "--since", time]).contains("pdf"));
}

/// Each event has a name of its own, and says where, in which host and how much.
#[test]
fn an_event_tells_its_machine_host_and_tokens() {
    let host = Host::stdin()
        .skill("careful", "allowed-tools: Read", "")
        .file("careful/run.sh", "#!/bin/sh\necho\n")
        .file("careful/notes.md", "Twelve bytes")
        .file("outside.md", "");
    let skill_dir = host.skills_dir().join("careful");
    std::os::unix::fs::symlink(skill_dir.join("../outside.md"), skill_dir.join("link.md")).unwrap();
    host.activates("careful");
    for path in ["notes.md", "run.sh", "../outside.md", "link.md", "none.md"] {
        host.tool(
            "read_skill_file",
            &json!({"skill": "careful", "path": path}),
        );
    }
    host.blocks("write_file", &json!({"path": "x", "content": ""}));
    let all = events(&host);
    let mut ids: Vec<&str> = all
        .iter()
        .map(|it| it["event_id"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all.len());
    assert!(ids.iter().all(|id| id.len() == 32));
    let activation = &of_kind(&host, "activate")[0];
    assert!(!activation["machine"].as_str().unwrap().is_empty());
    assert_eq!(activation["host"], "chibi");
    assert!(activation["tokens"].is_u64(), "{activation}");
    let reads = of_kind(&host, "read");
    let told: Vec<(&Value, &Value, &Value, &Value)> = reads
        .iter()
        .map(|it| {
            (
                &it["path"],
                &it["script_read"],
                &it["tokens"],
                &it["refused"],
            )
        })
        .collect();
    let (none, path) = (json!(null), json!("path"));
    assert_eq!(
        told,
        [
            (&json!("notes.md"), &none, &json!(3), &none),
            (&json!("run.sh"), &json!(true), &reads[1]["tokens"], &none),
            (&json!("../outside.md"), &none, &none, &path),
            (&json!("link.md"), &none, &none, &path),
        ]
    );
    let blocked = of_kind(&host, "tool").pop().unwrap();
    assert_eq!(blocked["refused"], "path");
}
