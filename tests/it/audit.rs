//! The audit log: what is written down, by how many at once, and how it is read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use agent_skills::policy::{Audit, Event, read_log};
use agent_skills::sys::Moment;
use serde_json::{Value, json};

use crate::Host;
use crate::repository::{Hub, commit};

fn events(host: &Host) -> Vec<Value> {
    host.json(&["audit", "--json"])["events"]
        .as_array()
        .unwrap()
        .clone()
}

fn of_kind(host: &Host, kind: &str) -> Vec<Value> {
    let mut events = events(host);
    events.retain(|event| event["event"] == kind);
    events
}

#[test]
fn a_session_is_written_down_from_activation_to_end() {
    for host in Host::both() {
        let host = host
            .skill("careful", "allowed-tools: Read Bash(git status)", "")
            .file("careful/run.sh", "echo secret output; exit 3\n");
        fs::write(
            host.plugin_dir().join("config.toml"),
            "tenant = \"acme\"\nenvironment = \"test\"\n",
        )
        .unwrap();
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
        let run =
            json!({"skill": "careful", "script": "run.sh", "args": ["--password", "hunter2"]});
        host.allows("run_skill_script", &run);
        host.tool("run_skill_script", &run);
        host.starts();

        tells_who_and_where(&host);
        tells_what_was_decided(&host);
        tells_no_secrets(&host);
    }
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
    assert_eq!(activation["host_pid"], json!(std::process::id()));
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
    for host in Host::both() {
        let host = host.skill("careful", "allowed-tools: Bash(git:*) Bash(ls:*)", "");
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
}

#[test]
fn with_nothing_active_nothing_is_written() {
    for host in Host::both() {
        let host = host.skill("pdf", "", "");
        host.starts();
        host.prompt();
        host.schema();
        host.allows("shell_exec", &json!({"command": "ls"}));
        assert!(!host.plugin_dir().join("audit.jsonl").exists());
    }
}

#[test]
fn installs_trust_and_approvals_are_written_down() {
    for host in Host::both() {
        let source = host.home().join("source/pdf");
        fs::create_dir_all(&source).unwrap();
        fs::write(
            source.join("SKILL.md"),
            "---\nname: pdf\ndescription: d\n---\n",
        )
        .unwrap();
        host.succeeds(&["install", source.to_str().unwrap()]);
        host.succeeds(&["approve", "pdf"]);
        host.succeeds(&["remove", "pdf"]);
        crate::layers::put(&host.project().join(".claude/skills"), "x", "", "x");
        host.succeeds(&["trust"]);
        host.succeeds(&["untrust"]);
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
}

#[test]
fn output_is_written_as_far_as_wanted_and_copies_where_wanted() {
    for host in Host::both() {
        let host = host
            .skill("pdf", "", "")
            .file("pdf/run.sh", "echo 0123456789\n");
        let copy = host.home().join("copy.jsonl");
        fs::write(
            host.plugin_dir().join("config.toml"),
            format!("[audit]\noutput_bytes = 4\npath = \"{}\"\n", copy.display()),
        )
        .unwrap();
        host.tool(
            "run_skill_script",
            &json!({"skill": "pdf", "script": "run.sh"}),
        );
        assert_eq!(of_kind(&host, "script")[0]["output"], "0123");
        let more = "[audit]\noutput_bytes = 20000\n";
        let long = host.plugin_dir().join("config.toml");
        let short = fs::read_to_string(&long).unwrap();
        fs::write(&long, more).unwrap();
        let host = host.file("pdf/run.sh", "head -c 30000 /dev/zero | tr '\\0' x\n");
        host.tool(
            "run_skill_script",
            &json!({"skill": "pdf", "script": "run.sh"}),
        );
        let output = of_kind(&host, "script")[1]["output"].clone();
        assert_eq!(output.as_str().unwrap().len(), 20_000);
        fs::write(&long, short).unwrap();
        fs::remove_file(host.plugin_dir().join("audit.jsonl")).unwrap();
        fs::remove_file(&copy).unwrap();
        host.tool(
            "run_skill_script",
            &json!({"skill": "pdf", "script": "run.sh"}),
        );
        assert_eq!(
            fs::read(copy).unwrap(),
            fs::read(host.plugin_dir().join("audit.jsonl")).unwrap()
        );
    }
}

#[test]
fn a_log_that_cannot_be_written_breaks_nothing() {
    for host in Host::both() {
        let host = host.skill("careful", "allowed-tools: Read", "");
        fs::create_dir(host.plugin_dir().join("audit.jsonl")).unwrap();
        host.activates("careful");
        host.blocks("shell_exec", &json!({"command": "ls"}));
        host.allows("file_head", &json!({"path": "x"}));
        host.starts()
            .allows("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn the_log_is_filtered_and_counted() {
    for host in Host::both() {
        let host = host
            .skill("a", "allowed-tools: Read", "")
            .skill("b", "", "")
            .file("b/ok.sh", "true\n")
            .file("b/bad.sh", "false\n");
        host.activates("a");
        host.blocks("shell_exec", &json!({"command": "ls"}));
        host.starts().activates("b");
        for script in ["ok.sh", "bad.sh"] {
            host.tool("run_skill_script", &json!({"skill": "b", "script": script}));
        }
        assert_eq!(
            host.succeeds(&["audit", "--skill", "a", "--event", "activate"])
                .lines()
                .count(),
            1
        );
        assert_eq!(
            host.succeeds(&["audit", "--since", "1h", "--event", "script"])
                .lines()
                .count(),
            2
        );
        assert!(
            host.succeeds(&["audit", "--since", "2999-01-01"])
                .starts_with("Nothing")
        );
        assert!(
            host.fails(&["audit", "--since", "soon"])
                .contains("is no time")
        );
        let stats = &host.json(&["stats", "--json"])["skills"];
        assert_eq!(
            (
                &stats[0]["skill"],
                &stats[0]["activations"],
                &stats[0]["refusals"]
            ),
            (&json!("a"), &json!(1), &json!(1))
        );
        assert_eq!(
            (&stats[1]["scripts"], &stats[1]["scripts_succeeded"]),
            (&json!(2), &json!(1))
        );
        assert!(
            stats[1]["last_used"].as_str().unwrap().ends_with('Z')
                && stats[1]["scripts_ms"].is_u64()
        );
        assert!(host.succeeds(&["stats"]).lines().count() == 3);
    }
}

const PROCESSES: u64 = 16;
const EVENTS: u64 = 500;

#[test]
fn sixteen_processes_lose_and_mix_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("audit.jsonl");
    let writer = |number| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "audit::one_of_the_sixteen"])
            .env("AUDIT_TEST", format!("{number} {}", file.display()))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let writers: Vec<_> = (0..PROCESSES).map(writer).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let (lines, torn) = read_log(&file).unwrap();
    let mut seen: Vec<u64> = lines
        .iter()
        .filter_map(|line| line.value["n"].as_u64())
        .collect();
    seen.sort_unstable();
    assert_eq!((seen, torn), ((0..PROCESSES * EVENTS).collect(), 0));
    // Read as lines by anybody else, too, in however many files.
    let text: String = (0..5)
        .filter_map(|n| {
            let name = if n == 0 {
                "audit.jsonl".to_owned()
            } else {
                format!("audit.jsonl.{n}")
            };
            fs::read_to_string(dir.path().join(name)).ok()
        })
        .collect();
    assert_eq!(
        text.lines()
            .filter(|line| serde_json::from_str::<Value>(line).is_ok())
            .count(),
        8000
    );
    assert!(
        dir.path().join("audit.jsonl.1").exists(),
        "it was put aside meanwhile"
    );
}

/// The body of each process above; on its own it has nothing to do.
#[test]
fn one_of_the_sixteen() {
    let Ok(order) = std::env::var("AUDIT_TEST") else {
        return;
    };
    let (number, file) = order.split_once(' ').unwrap();
    let first = number.parse::<u64>().unwrap() * EVENTS;
    // Large enough that the logs that are kept hold them all.
    let audit = Audit {
        file: file.into(),
        max: 1_500_000,
        copies: Vec::new(),
        syslog: false,
    };
    for n in first..first + EVENTS {
        audit.write(
            &Event::new("tool")
                .with("n", n)
                .with("text", "x".repeat(300)),
        );
    }
}

/// The end of a host is not seen: what is known is when something was last heard of it.
#[test]
fn an_activation_lasted_until_its_session_was_last_heard_of() {
    let minutes_ago = |minutes: u64| Moment(Moment::now().0 - minutes * 60_000);
    for host in Host::both() {
        let host = host.skill("careful", "allowed-tools: Read", "");
        let end = |host: &Host| of_kind(host, "end").pop().unwrap();
        let state = host.plugin_dir().join("state.json");
        let log = host.plugin_dir().join("audit.jsonl");
        let long_ago = || {
            host.activates("careful");
            let mut known: Value = serde_json::from_slice(&fs::read(&state).unwrap()).unwrap();
            for began in known["sessions"]["named:host"]["began"]
                .as_object_mut()
                .unwrap()
                .values_mut()
            {
                *began = json!(minutes_ago(90).0);
            }
            fs::write(&state, known.to_string()).unwrap();
        };
        long_ago();
        host.blocks("shell_exec", &json!({"command": "ls"}));
        let mut events = events(&host);
        for event in &mut events {
            event["time"] = json!(minutes_ago(60).to_string());
        }
        let lines: Vec<String> = events.iter().map(Value::to_string).collect();
        fs::write(&log, lines.join("\n") + "\n").unwrap();
        host.starts();
        let minutes = end(&host)["duration_ms"].as_u64().unwrap() / 60_000;
        assert!((29..=31).contains(&minutes), "{}", end(&host));
        assert_eq!(end(&host)["last_seen"], events[0]["time"]);
        long_ago();
        fs::remove_file(&log).unwrap();
        host.starts();
        assert!(end(&host).get("duration_ms").is_none(), "{}", end(&host));
    }
}
