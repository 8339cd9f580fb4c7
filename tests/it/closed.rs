//! Ways round a restriction that a review found, each closed.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, finish};

pub fn careful(host: Host) -> Host {
    let host = host
        .skill("careful", "allowed-tools: Read", "")
        .skill("other", "", "");
    host.activates("careful");
    host
}

#[test]
fn two_ways_of_saying_what_to_do_cannot_say_two_things() {
    let host = careful(Host::stdin());
    for arguments in [
        json!({"action": "list", "args": ["remove", "other"]}),
        json!({"action": "list", "args": "remove other"}),
        json!({"args": ["remove", "other"]}),
        json!({"action": "remove", "skill_ref": "other"}),
        json!({"action": "update"}),
    ] {
        host.blocks("skill_marketplace", &arguments);
    }
    let both = json!({"action": "list_installed", "args": ["remove", "other"]});
    assert!(host.tool("skill_marketplace", &both).starts_with("Error: "));
    for looking in [
        json!({"args": ["list_installed"]}),
        json!({"action": "LIST_INSTALLED"}),
    ] {
        host.allows("skill_marketplace", &looking);
    }
}

#[test]
fn a_doubtful_frontmatter_keeps_its_restriction() {
    for text in [
        "---\ndescription: d\n\nallowed-tools: Read\n",
        "---\ndescription: d\n# tools\nallowed-tools: Read\n",
        "---\nname: x\ndescription: d\n--- # c\nallowed-tools: Read\n---\nb",
        "---\nname: x\ndescription: d: e\n? allowed-tools\n: Read\n---\nb",
        "---\nname: x\ndescription: d\nallowed tools: Read\n---\nb",
        "---\nname: x\ndescription: d\ntools: run_skill_script\n---\nb",
    ] {
        let host = Host::stdin().file("x/SKILL.md", text);
        let all: Value = serde_json::from_str(&host.succeeds(&["list", "--json"])).unwrap();
        let restricted = !all["skills"][0]["restriction"].is_null()
            || all["skills"][0]["offered"] == json!(false);
        assert!(restricted, "{text}: {all}");
    }
}

fn changes_nothing_of_ours(host: &Host) {
    let script = json!({"skill": "other", "script": "x.sh"});
    host.blocks("run_skill_script", &script);
    let removal = json!({"action": "remove", "skill_ref": "other"});
    host.blocks("skill_marketplace", &removal);
}

#[test]
fn a_mistake_in_the_configuration_opens_nothing_of_ours() {
    let host = careful(Host::stdin());
    host.config("garbage = =");
    changes_nothing_of_ours(&host);
    host.blocks("write_file", &json!({"path": "x", "content": "y"}));
    host.allows("file_head", &json!({"path": "x"}));
}

#[test]
fn corrupt_state_opens_nothing_of_ours_but_reading() {
    let host = careful(Host::stdin());
    fs::write(host.plugin_dir().join("state.json"), "garbage").unwrap();
    changes_nothing_of_ours(&host);
    host.allows("read_skill_file", &json!({"skill": "other", "path": "x"}));
    host.allows("skill_marketplace", &json!({"action": "list_installed"}));
}

#[test]
fn a_script_cannot_end_its_session_by_starting_a_host() {
    let nested = "CHIBI_HOOK=on_start CHIBI_HOOK_DATA='{}' \"$EXE\"\n";
    let host = Host::stdin()
        .skill("careful", "allowed-tools: Read", "")
        .file("careful/x.sh", nested)
        .var("EXE", env!("CARGO_BIN_EXE_agent-skills"));
    host.activates("careful");
    host.tool(
        "run_skill_script",
        &json!({"skill": "careful", "script": "x.sh"}),
    );
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn an_old_session_of_a_living_process_is_not_forgotten() {
    // This test is the host process: its entry is made to look a year old.
    let host = Host::environment().skill("careful", "allowed-tools: Read", "");
    let call = |hook: &str, data: &str, session: Option<&str>| {
        let mut command = host.command();
        command
            .env_remove("AGENT_SKILLS_SESSION")
            .env("CHIBI_HOOK", hook);
        if let Some(session) = session {
            command.env("AGENT_SKILLS_SESSION", session);
        }
        finish(command.env("CHIBI_HOOK_DATA", data), b"").stdout
    };
    let shell = r#"{"tool_name":"shell_exec","arguments":{"command":"ls"}}"#;
    call(
        "pre_tool",
        r#"{"tool_name":"skill_careful","arguments":{}}"#,
        None,
    );
    let file = host.plugin_dir().join("state.json");
    let mut state: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    for session in state["sessions"].as_object_mut().unwrap().values_mut() {
        session["changed"] = json!(1000);
    }
    fs::write(&file, state.to_string()).unwrap();
    call("on_start", "{}", Some("another"));
    assert!(call("pre_tool", shell, None).contains("\"block\":true"));
}

#[test]
fn a_person_ends_what_is_active_and_a_model_cannot() {
    let host = careful(Host::stdin());
    host.hook("post_system_prompt", &json!({"context_name": "work"}));
    host.tool("skill_marketplace", &json!({"args": ["deactivate"]}))
        .begins("Error: ");
    host.fails(&["deactivate", "--context", "play"])
        .has("known are `work`");
    host.blocks("shell_exec", &json!({"command": "ls"}));
    host.succeeds(&["deactivate", "--context", "work"])
        .has("careful");
    host.allows("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn no_skill_and_no_state_is_written_while_one_restricts() {
    let host = Host::stdin().skill("writer", "allowed-tools: Write(//**) Write(~/**)", "");
    let linked = host.home().join("elsewhere");
    fs::create_dir(&linked).unwrap();
    std::os::unix::fs::symlink(&linked, host.skills_dir().join("linked")).unwrap();
    host.activates("writer");
    let write = |path: std::path::PathBuf| json!({"path": path, "content": "x"});
    host.allows("write_file", &write(host.home().join("free.txt")));
    for path in [
        linked.join("SKILL.md"),
        host.skills_dir().join("linked/SKILL.md"),
        host.plugin_dir().join("config.toml"),
        host.plugin_dir().join("state.json"),
        host.home().join(".local/state/agent-skills/state.json"),
    ] {
        host.blocks("write_file", &write(path));
    }
}
