//! Answers that must not get lost: nothing that is in the way, without end or used up keeps one back, and
//! the model is told how to go on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::Host;
use crate::closed::careful;
use crate::host::{Has, fifo, finish};
use crate::policy_files::is_root;

#[test]
fn no_call_fails_because_nobody_hears_its_remarks() {
    let host = Host::stdin().skill("careful", "allowed-tools: Read", "");
    host.config("enforce = \"warn\"");
    host.activates("careful");
    let full = || {
        Stdio::from(
            fs::OpenOptions::new()
                .write(true)
                .open("/dev/full")
                .unwrap(),
        )
    };
    let data = br#"{"tool_name":"shell_exec","arguments":{"command":"ls"}}"#;
    let ran = finish(
        host.command().env("CHIBI_HOOK", "pre_tool").stderr(full()),
        data,
    );
    assert_eq!((ran.stdout.as_str(), ran.status), ("{}", 0));
    let ran = finish(
        host.command().args(["remove", "nosuch"]).stderr(full()),
        b"",
    );
    assert_eq!(ran.status, 1);
}

#[test]
fn a_fifo_in_place_of_a_lock_is_not_waited_for() {
    for file in ["state.lock", "refusals"] {
        let host = Host::stdin().skill("careful", "allowed-tools: Read", "");
        let path = host.plugin_dir().join(file);
        fifo(&path);
        host.pre_tool("skill_careful", &json!({}));
        host.pre_tool("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn a_name_without_end_is_answered_at_once_and_in_short() {
    let host = Host::stdin().skill("x", "", "");
    let answer = host.tool(
        "read_skill_file",
        &json!({"skill": "y".repeat(3_000_000), "path": "z"}),
    );
    assert!(answer.begins("Error: ").len() < 1000);
}

#[test]
fn the_hooks_are_these() {
    let hooks = Host::stdin().schema()[0]["hooks"].clone();
    let expected = [
        "on_start",
        "pre_message",
        "post_system_prompt",
        "pre_api_tools",
        "pre_tool",
        "pre_tool_output",
        "pre_cache_output",
        "pre_shell_exec",
        "pre_file_write",
        "pre_file_read",
        "pre_fetch_url",
    ];
    assert_eq!(hooks, json!(expected));
}

#[test]
fn the_prompt_says_how_skills_are_used() {
    let prompt = Host::stdin().skill("x", "", "").prompt();
    prompt
        .has("prefer that skill")
        .has("call its tool skill_NAME first")
        .has("instead of reading");
}

#[test]
fn an_activation_shows_how_to_go_on() {
    let mut host = Host::stdin()
        .skill("x", "", "Use the `Bash` tool.")
        .file("x/references/a.md", "a")
        .file("x/scripts/run.sh", "echo");
    for n in 0..60 {
        host = host.file(&format!("x/files/{n:02}.txt"), "t");
    }
    let text = host.tool("skill_x", &json!({}));
    text.has("files with read_skill_file");
    text.has("Bash = shell_exec");
    assert_eq!(text.matches("<file>").count(), 50);
    text.has("12 more are not listed");
}

#[test]
fn the_users_directory_holds_state_if_the_plugins_cannot() {
    // Root writes everywhere.
    let host = Host::stdin().skill("careful", "allowed-tools: Read", "");
    let plugin = host.plugin_dir();
    fs::set_permissions(&plugin, fs::Permissions::from_mode(0o555)).unwrap();
    let nobody = |hook: &str, data: &str| {
        let program = env!("CARGO_BIN_EXE_agent-skills");
        let mut command = Command::new(if is_root() { "setpriv" } else { program });
        if is_root() {
            command.args([
                "--reuid",
                "65534",
                "--regid",
                "65534",
                "--clear-groups",
                program,
            ]);
        }
        command
            .env_clear()
            .env("AGENT_SKILLS_HOME", &plugin)
            .env("AGENT_SKILLS_SESSION", "n");
        command
            .env("XDG_STATE_HOME", host.home().join("state"))
            .env("CHIBI_HOOK", hook);
        command.env("CHIBI_HOOK_DATA", data).current_dir("/");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
            .spawn()
            .map(|child| child.wait_with_output().unwrap())
    };
    for dir in [
        host.home(),
        &host.home().join(".chibi"),
        &host.home().join(".chibi/plugins"),
    ] {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::create_dir(host.home().join("state")).unwrap();
    fs::set_permissions(host.home().join("state"), fs::Permissions::from_mode(0o777)).unwrap();
    let activate = r#"{"tool_name":"skill_careful","arguments":{}}"#;
    match nobody("pre_tool", activate) {
        Ok(output) if output.status.success() => {
            let states = fs::read_dir(host.home().join("state/agent-skills")).unwrap();
            let mut names = states.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            assert!(names.any(|name| name == "state.json"), "{output:?}");
            let shell = r#"{"tool_name":"shell_exec","arguments":{"command":"ls"}}"#;
            let blocked = nobody("pre_tool", shell).unwrap();
            String::from_utf8_lossy(&blocked.stdout).has("\"block\":true");
        }
        _ => println!("skipped: this needs setpriv and the right to become another user"),
    }
}

#[test]
fn a_command_that_overflows_the_stack_is_blocked() {
    // Found by fuzzing: the parser recurses on it. A small stack stands for a larger command.
    let host = careful(Host::stdin());
    let unit = format!("git log \"a $(ls<) b\" ~evil{}", "'".repeat(230));
    let data = json!({"tool_name": "shell_exec", "arguments": {"command": unit.repeat(190)}});
    let host = host.skill("git-only", "allowed-tools: Bash(git:*)", "");
    host.activates("git-only");
    for stack in ["8192", "256"] {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -s {stack} && exec \"$EXE\"")]);
        let mut command = host.surround(command);
        command
            .env("EXE", env!("CARGO_BIN_EXE_agent-skills"))
            .env("CHIBI_HOOK", "pre_tool");
        let ran = finish(&mut command, data.to_string().as_bytes());
        assert_eq!(ran.status, 0, "{stack}: {ran:?}");
        ran.stdout.begins(r#"{"block":true"#);
    }
}
