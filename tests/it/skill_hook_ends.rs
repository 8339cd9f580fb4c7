//! A skill's `post` hook: once for each activation that is over, whatever ended it and whatever becomes of
//! the host.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::json;

use crate::Host;
use crate::host::{Has, finish};
use crate::skill_hooks::{POST, PRE, calls, log, with_skill};

#[test]
fn deactivation_runs_post() {
    let host = with_skill(Host::stdin(), "", PRE, POST);
    host.succeeds(&["approve", "--yes", "lab"]);
    host.starts();
    calls(&host);
    host.succeeds(&["deactivate"]);
    log(&host).finishes("post lab\n");
    calls(&host);
    assert_eq!(log(&host).matches("pre").count(), 2, "a new activation");
}

#[test]
fn a_skill_that_changed_meanwhile_runs_nothing_at_the_end() {
    let host = with_skill(Host::stdin(), "", PRE, POST);
    host.succeeds(&["approve", "--yes", "lab"]);
    host.starts();
    calls(&host);
    let host = host.file("lab/scripts/post.sh", "echo evil >> \"$PROJECT_DIR/log\"");
    let (_, told) = host.hook_with_stderr("on_end", &json!({}));
    told.has("changed or is no longer approved");
    assert_eq!(log(&host), "pre lab lab none none\n");
    calls(&host);
    fs::remove_dir_all(host.skills_dir().join("lab")).unwrap();
    host.starts();
    assert_eq!(log(&host), "pre lab lab none none\n");
}

/// A host of its own process, which activates the skill and then waits to be killed.
fn dies_with_the_skill_active(host: &Host) {
    let script = r#"
        CHIBI_HOOK=on_start CHIBI_HOOK_DATA='{}' "$EXE" >&2
        CHIBI_TOOL_NAME=skill_lab CHIBI_TOOL_ARGS='{}' "$EXE" >&2
        echo active
        read line
    "#;
    let mut command = std::process::Command::new("sh");
    let mut shell = command
        .args(["-c", script])
        .env("EXE", env!("CARGO_BIN_EXE_agent-skills"))
        .env("HOME", host.home())
        .env("AGENT_SKILLS_HOME", host.plugin_dir())
        .env_remove("AGENT_SKILLS_SESSION")
        .current_dir(host.project())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(shell.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "active\n");
    shell.kill().unwrap();
    shell.wait().unwrap();
}

#[test]
fn after_a_crash_the_next_start_of_any_host_runs_post_once() {
    let host = Host::stdin();
    let slow = format!("sleep 0.3\n{POST}");
    let host = with_skill(host, "", PRE, &slow);
    host.succeeds(&["approve", "--yes", "lab"]);
    dies_with_the_skill_active(&host);
    assert_eq!(log(&host), "pre lab lab none none\n");
    std::thread::scope(|scope| {
        for n in 0..16 {
            let host = &host;
            scope.spawn(move || {
                let mut command = host.command();
                command.env("AGENT_SKILLS_SESSION", format!("host-{n}"));
                command.env("CHIBI_HOOK", "on_start");
                let ran = finish(&mut command, b"{}");
                assert_eq!((ran.status, ran.stdout.as_str()), (0, "{}"), "{ran:?}");
            });
        }
    });
    assert_eq!(log(&host), "pre lab lab none none\npost lab\n");
    let left = fs::read_dir(host.plugin_dir().join("hooks")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn a_runner_that_is_killed_leaves_post_owed() {
    let host = with_skill(Host::stdin(), "", PRE, "");
    let gate = "if [ -e \"$PROJECT_DIR/gate\" ]; then echo post >> \"$PROJECT_DIR/log\"; else echo at \
        >> \"$PROJECT_DIR/log\"; sleep 60; fi";
    let host = host.file("lab/scripts/post.sh", gate);
    host.succeeds(&["approve", "--yes", "lab"]);
    dies_with_the_skill_active(&host);
    let mut command = host.command();
    let mut runner = command
        .env("CHIBI_HOOK", "on_start")
        .env("CHIBI_HOOK_DATA", "{}")
        .spawn()
        .unwrap();
    let began = std::time::Instant::now();
    while !log(&host).ends_with("at\n") {
        assert!(began.elapsed().as_secs() < 20, "{}", log(&host));
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    runner.kill().unwrap();
    runner.wait().unwrap();
    fs::write(host.project().join("gate"), "").unwrap();
    let began = std::time::Instant::now();
    // The killed runner's lock ends with its supervisor.
    while !log(&host).ends_with("post\n") {
        assert!(began.elapsed().as_secs() < 20, "{}", log(&host));
        host.starts();
    }
    host.starts();
    assert_eq!(log(&host), "pre lab lab none none\nat\npost\n");
}

#[test]
fn unloading_runs_post_and_loading_runs_pre() {
    let host = with_skill(Host::stdin(), "", PRE, POST).skill("other", "", "b");
    host.succeeds(&["approve", "--yes", "lab"]);
    host.starts();
    let load = json!({"action": "load", "names": ["other", "lab"]});
    host.allows("skill_session", &load);
    host.tool("skill_session", &load).has("hook:\nready\n");
    calls(&host);
    assert_eq!(log(&host).lines().count(), 1);
    host.tool(
        "skill_session",
        &json!({"action": "unload", "names": ["lab"]}),
    );
    log(&host).finishes("post lab\n");
}

#[test]
fn post_runs_for_a_skill_that_another_took_the_place_of() {
    let host = with_skill(Host::stdin(), "", PRE, POST).skill("other", "", "b");
    host.succeeds(&["approve", "--yes", "lab"]);
    host.starts();
    let load = json!({"action": "load", "names": ["other"]});
    for (tool, arguments) in [("skill_other", &json!({})), ("skill_session", &load)] {
        calls(&host);
        host.allows(tool, arguments);
        host.tool(tool, arguments);
        assert!(log(&host).ends_with("post lab\n"), "{tool}: {}", log(&host));
    }
    assert_eq!(log(&host).matches("pre").count(), 2, "one each time");
    assert_eq!(log(&host).matches("post").count(), 2, "one each time");
}

#[test]
fn a_kept_skill_ends_with_its_conversation_not_the_host() {
    let mut host = with_skill(Host::stdin(), "", PRE, POST);
    host.config("scope = \"context\"");
    host.succeeds(&["approve", "--yes", "lab"]);
    for session in ["one", "two"] {
        host.session(session).starts();
        host.prompt();
        calls(&host);
        host.hook("on_end", &json!({}));
        assert_eq!(log(&host).lines().count(), 1, "{}", log(&host));
    }
    host.succeeds(&["deactivate"]);
    log(&host).finishes("post lab\n");
}
