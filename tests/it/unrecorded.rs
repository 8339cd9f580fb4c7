//! The host names a conversation that cannot be recorded, because another process holds the lock: the
//! session is in that conversation all the same, and its next change records it.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::always_on::{configured, prompt_in};
use crate::audit::of_kind;
use crate::conversations::{active, enters, kept, ls, next_prompt};

/// Held until it is dropped, as by a background process.
fn locked(host: &Host) -> fs::File {
    let lock = fs::File::create(host.plugin_dir().join("state.lock")).unwrap();
    fs2::FileExt::lock_exclusive(&lock).unwrap();
    lock
}

fn marks(host: &Host) -> Vec<String> {
    let files = fs::read_dir(host.plugin_dir()).unwrap().flatten();
    let names = files.map(|file| file.file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("left-")).collect()
}

/// Each call as `TOOL DECISION by REASON`.
fn decided(host: &Host) -> Vec<String> {
    let text = |event: &Value, key: &str| event[key].as_str().unwrap_or("?").to_owned();
    let tools = of_kind(host, "tool");
    let told = tools.iter().map(|event| {
        let [tool, decision, by] = ["tool", "decision", "by"].map(|key| text(event, key));
        format!("{tool} {decision} by {by}")
    });
    told.collect()
}

const FAILED: &str = "what is always on is not in force";

#[test]
fn what_is_always_on_holds_though_the_prompt_failed() {
    for from in [None, Some("default")] {
        for host in Host::both() {
            let host = host
                .skill("strict", "allowed-tools: Read", "")
                .skill("loose", "", "");
            configured(&host, "[uses_skills]\n\"ops*\" = [\"strict\"]\n");
            host.starts();
            if let Some(former) = from {
                enters(&host, former);
                host.allows("shell_exec", &ls());
            }
            let lock = locked(&host);
            prompt_in(&host, "ops");
            host.blocks("shell_exec", &ls());
            host.allows("file_head", &json!({"path": "x"}));
            drop(lock);
            host.blocks("shell_exec", &ls());
            let told = [
                format!("shell_exec blocked by {FAILED}"),
                format!("file_head allowed by {FAILED}"),
                "shell_exec blocked by strict: no entry".to_owned(),
            ];
            assert_eq!(decided(&host), told);
            assert_eq!(
                (active(&host), marks(&host)),
                (vec!["strict".into()], vec![])
            );
        }
    }
}

#[test]
fn what_was_always_on_does_not_hold_elsewhere() {
    let host = Host::stdin()
        .skill("wide", "allowed-tools: Bash Read", "")
        .skill("strict", "allowed-tools: Read", "");
    configured(
        &host,
        "stacking = \"union\"\n[uses_skills]\nops = [\"wide\"]\n",
    );
    next_prompt(&host, "ops");
    host.activates("strict").allows("shell_exec", &ls());
    let lock = locked(&host);
    enters(&host, "other");
    host.blocks("shell_exec", &ls());
    drop(lock);
    let told = host.blocks("shell_exec", &ls());
    assert!(told.contains("`strict`"), "{told}");
    assert_eq!(active(&host), ["strict"]);
}

#[test]
fn an_unrecorded_context_sees_no_more_than_a_recorded_one() {
    for host in Host::both() {
        let host = host
            .skill("pdf", "", "")
            .skill("here", "scope: {agents: [default]}", "");
        configured(&host, "[catalog]\nquiet = []\n");
        next_prompt(&host, "default");
        host.activates("pdf").activates("here");
        let lock = locked(&host);
        let (prompt, _) = prompt_in(&host, "quiet");
        assert!(
            !prompt.contains("pdf**") && !prompt.contains("name=\"pdf\""),
            "{prompt}"
        );
        drop(lock);
        host.knows_not("pdf").knows_not("here");
        // What the mark says is lost.
        fs::write(host.plugin_dir().join(&marks(&host)[0]), "").unwrap();
        host.blocks("shell_exec", &ls());
        let text = host.tool(
            "read_skill_file",
            &json!({"skill": "pdf", "path": "SKILL.md"}),
        );
        assert!(text.starts_with("Error: "), "{text}");
        host.blocks("skill_pdf", &json!({}));
        enters(&host, "default");
        host.allows("shell_exec", &ls()).activates("pdf");
    }
}

#[test]
fn an_activation_is_kept_for_the_conversation_it_was_made_in() {
    for from in [None, Some("a")] {
        for host in Host::both() {
            let host = kept(host);
            host.starts();
            if let Some(former) = from {
                enters(&host, former);
                host.activates("free");
            }
            let lock = locked(&host);
            enters(&host, "b");
            drop(lock);
            host.activates("reads").blocks("shell_exec", &ls());
            assert_eq!(
                (active(&host), marks(&host)),
                (vec!["reads".into()], vec![])
            );
            next_prompt(&host, "b");
            host.blocks("shell_exec", &ls());
            next_prompt(&host, "a");
            host.allows("shell_exec", &ls());
            assert_eq!(active(&host), from.map_or(vec![], |_| vec!["free"]));
        }
    }
}

#[test]
fn after_an_unrecorded_prompt_none_is_the_users() {
    for host in Host::both() {
        let host = host.skill("shy", "disable-model-invocation: true", "SHY BODY");
        let call = json!({"context_name": "default", "prompt": "/shy go", "summary": ""});
        host.starts();
        let lock = locked(&host);
        enters(&host, "default");
        drop(lock);
        assert_eq!(host.hook("pre_message", &call), json!({}));
        // Nor while it cannot be known.
        fs::write(host.plugin_dir().join("state.json"), "garbage").unwrap();
        assert_eq!(host.hook("pre_message", &call), json!({}));
        host.starts();
        assert_ne!(host.hook("pre_message", &call), json!({}));
    }
}

#[test]
fn a_person_may_call_a_skill_while_another_is_kept() {
    for mut host in Host::both() {
        host = kept(host);
        next_prompt(&host, "work");
        host.activates("reads");
        host.session("another").starts();
        let call = json!({"context_name": "play", "prompt": "/free go", "summary": ""});
        assert_ne!(host.hook("pre_message", &call), json!({}));
    }
}

#[test]
fn a_lost_conversation_stays_lost_whatever_a_prompt_calls() {
    for host in Host::both() {
        let host = kept(host);
        next_prompt(&host, "work");
        host.activates("reads");
        fs::write(host.plugin_dir().join("state.json"), "garbage").unwrap();
        host.starts();
        let call = json!({"context_name": "work", "prompt": "/free go", "summary": ""});
        host.hook("pre_message", &call);
        enters(&host, "work");
        host.blocks("shell_exec", &ls());
    }
}

#[test]
fn each_call_has_one_line_that_says_what_came_of_it() {
    for host in Host::both() {
        let host = host
            .skill("strict", "allowed-tools: Read Skill(strict)", "")
            .skill("other", "", "")
            .skill("plain", "allowed-tools: Read Skill", "");
        configured(&host, "");
        next_prompt(&host, "default");
        host.blocks(
            "skill_marketplace",
            &json!({"action": "install", "skill_ref": "git@x.org:a/b"}),
        );
        host.activates("plain");
        let lock = locked(&host);
        host.blocks("skill_other", &json!({}));
        drop(lock);
        let load = |name: &str| json!({"action": "load", "names": [name]});
        host.blocks("skill_session", &load("other"));
        host.activates("strict");
        host.blocks("skill_session", &load("other"));
        host.blocks("skill_strange", &json!({}));
        let deep = format!("{}{}", "[".repeat(126), "]".repeat(126));
        let call = format!(r#"{{"tool_name":"shell_exec","arguments":{{"z":{deep}}}}}"#);
        assert!(
            host.raw("hook", "pre_tool", &call)
                .contains("could not be read")
        );
        fs::write(host.plugin_dir().join("state.json"), "garbage").unwrap();
        host.blocks("shell_exec", &ls());
        host.allows("file_head", &json!({"path": "x"}));
        let told = decided(&host);
        let expected = [
            "skill_marketplace blocked by model_installs",
            "skill_other blocked by failed activation",
            "skill_session blocked by nothing loaded",
            "skill_strict allowed by always allowed",
            "skill_other blocked by strict: no entry",
            "skill_strange blocked by strict: no entry",
            "? blocked by unreadable call",
            "shell_exec blocked by unreadable state: ",
            "file_head allowed by unreadable state: ",
        ];
        assert_eq!(told.len(), expected.len(), "{told:?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.starts_with(expected), "{told}");
        }
    }
}
