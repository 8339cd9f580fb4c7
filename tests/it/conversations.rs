//! How long what was activated is active: a prompt, or a conversation, on either host.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Generation, Has, each};

fn with_skills(host: Host) -> Host {
    host.skill("reads", "allowed-tools: Read", "Body of reads.")
        .skill("free", "", "Body of free.")
        .skill("plain", "", "Body of plain.")
}

pub fn kept(host: Host) -> Host {
    let host = with_skills(host);
    host.config("scope = \"context\"\n");
    host
}

/// The next process of the host enters a conversation; what is put into its system prompt.
#[track_caller]
pub fn next_prompt(host: &Host, context: &str) -> String {
    host.starts();
    enters(host, context)
}

/// The process that runs already enters a conversation.
#[track_caller]
pub fn enters(host: &Host, context: &str) -> String {
    let answer = host.hook("post_system_prompt", &json!({"context_name": context}));
    answer["inject"].as_str().unwrap_or_default().to_owned()
}

pub fn ls() -> Value {
    json!({"command": "ls"})
}

#[track_caller]
pub fn active(host: &Host) -> Vec<String> {
    let text = host.tool("skill_session", &json!({"action": "status"}));
    let receipt: Value = serde_json::from_str(&text).unwrap();
    let names = each(&receipt["active_skills"], "name");
    names.into_iter().map(str::to_owned).collect()
}

#[test]
fn a_conversation_keeps_its_skills_and_their_restrictions() {
    let host = kept(Host::stdin());
    next_prompt(&host, "work");
    host.activates("reads");
    for _ in 0..2 {
        next_prompt(&host, "work")
            .has("## Active Skills")
            .has("`reads` (restricts which tools may be used)");
        host.blocks("shell_exec", &ls());
        host.allows("file_head", &json!({"path": "x"}));
        assert_eq!(active(&host), ["reads"]);
    }
    next_prompt(&host, "play").lacks("Active Skills");
    host.allows("shell_exec", &ls());
    next_prompt(&host, "work");
    host.blocks("shell_exec", &ls());
}

#[test]
fn the_older_host_gets_instructions_the_newer_a_reminder() {
    for host in Host::both() {
        let host = kept(host);
        next_prompt(&host, "work");
        host.allows("skill_free", &json!({}));
        host.tool("skill_free", &json!({}));
        let prompt = next_prompt(&host, "work");
        let again = prompt.contains("<active_skills>\n<skill name=\"free\">\nBody of free.");
        let reminder =
            prompt.contains("read_skill_file {\"skill\":\"free\",\"path\":\"SKILL.md\"}");
        match host.generation() {
            Generation::Environment => assert!(again, "{prompt}"),
            Generation::Stdin => assert!(reminder && !prompt.contains("Body of"), "{prompt}"),
        }
        prompt.begins("## Available Agent Skills");
    }
}

#[test]
fn a_continuation_in_the_same_process_is_reminded_too() {
    let host = with_skills(Host::stdin());
    next_prompt(&host, "work");
    host.activates("free").activates("reads");
    enters(&host, "work").has("the most recently loaded last: `reads` ");
    host.blocks("shell_exec", &ls());
}

#[test]
fn one_process_that_serves_several_conversations_switches() {
    let host = kept(Host::stdin());
    next_prompt(&host, "one");
    host.activates("reads");
    enters(&host, "two");
    host.allows("shell_exec", &ls()).activates("free");
    assert_eq!(active(&host), ["free"]);
    enters(&host, "one");
    assert_eq!(active(&host), ["reads"]);
    host.blocks("shell_exec", &ls());
    next_prompt(&host, "two");
    assert_eq!(active(&host), ["free"]);
}

#[test]
fn what_a_file_says_now_is_told_and_what_it_restricted_stays() {
    for host in Host::both() {
        let host = kept(host);
        next_prompt(&host, "work");
        host.activates("reads");
        let edited = "---\nname: reads\ndescription: d\n---\nNew body.\n";
        fs::write(host.skills_dir().join("reads/SKILL.md"), edited).unwrap();
        let prompt = next_prompt(&host, "work");
        host.blocks("shell_exec", &ls());
        if host.generation() == Generation::Environment {
            prompt
                .has("New body.")
                .has("has changed since it was loaded");
        }
        fs::remove_dir_all(host.skills_dir().join("reads")).unwrap();
        let prompt = next_prompt(&host, "work");
        host.blocks("shell_exec", &ls());
        if host.generation() == Generation::Environment {
            prompt.has("gone or no longer offered");
        }
    }
}

#[test]
fn the_user_ends_what_a_conversation_keeps() {
    let host = kept(Host::stdin());
    for context in ["one", "two", "three"] {
        next_prompt(&host, context);
        host.activates("reads");
    }
    host.starts();
    let told = host.succeeds(&["deactivate", "--context", "two"]);
    assert_eq!(told, "`reads` is no longer active\n");
    next_prompt(&host, "two");
    host.allows("shell_exec", &ls());
    next_prompt(&host, "one");
    host.blocks("shell_exec", &ls());
    host.succeeds(&["deactivate", "--context", "one"]);
    host.allows("shell_exec", &ls());
    host.succeeds(&["deactivate"]);
    for context in ["one", "three"] {
        next_prompt(&host, context);
        host.allows("shell_exec", &ls());
    }
    host.succeeds(&["deactivate"]).has("Nothing");
}

#[test]
fn unloading_ends_it_for_the_conversation() {
    let host = kept(Host::stdin());
    next_prompt(&host, "work");
    let call = json!({"action": "load", "names": ["free", "plain"]});
    host.allows("skill_session", &call);
    host.tool("skill_session", &call);
    next_prompt(&host, "work");
    assert_eq!(active(&host), ["free", "plain"]);
    host.tool(
        "skill_session",
        &json!({"action": "unload", "names": ["plain"]}),
    );
    next_prompt(&host, "work");
    assert_eq!(active(&host), ["free"]);
    host.tool("skill_session", &json!({"action": "unload", "all": true}));
    next_prompt(&host, "work").lacks("Active Skills");
}

#[test]
fn choosing_the_prompt_again_forgets_what_was_kept() {
    let host = kept(Host::stdin());
    next_prompt(&host, "work");
    host.activates("reads");
    let config = host.plugin_dir().join("config.toml");
    fs::write(&config, "scope = \"prompt\"\n").unwrap();
    next_prompt(&host, "play");
    fs::write(&config, "scope = \"context\"\n").unwrap();
    next_prompt(&host, "work");
    host.allows("shell_exec", &ls());
}

#[test]
fn nothing_of_a_direct_call_is_kept() {
    let host = kept(Host::stdin());
    next_prompt(&host, "work");
    // `-P` starts the host afresh and enters no conversation.
    host.starts().tool("skill_reads", &json!({}));
    next_prompt(&host, "work");
    host.allows("shell_exec", &ls());
}

#[test]
fn ends_are_recorded_when_they_happen() {
    let host = kept(Host::stdin());
    next_prompt(&host, "work");
    host.activates("reads");
    next_prompt(&host, "work");
    next_prompt(&host, "work");
    let log = || fs::read_to_string(host.plugin_dir().join("audit.jsonl")).unwrap();
    let count = |event: &str| log().matches(&format!("\"event\":\"{event}\"")).count();
    assert_eq!((count("activate"), count("end")), (1, 0));
    host.succeeds(&["deactivate", "--context", "work"]);
    assert_eq!(count("end"), 1);
    log().has("\"reason\":\"deactivated\"");
}

#[test]
fn an_activation_before_the_conversation_is_known_counts() {
    let host = kept(Host::stdin()).skill("denies", "disallowed-tools: WebFetch", "");
    next_prompt(&host, "work");
    host.activates("denies").activates("plain");
    host.starts();
    let text = "---\nname: denies\ndescription: d\ndisallowed-tools: Write\n---\n";
    fs::write(host.skills_dir().join("denies/SKILL.md"), text).unwrap();
    host.tool("skill_denies", &json!({}));
    enters(&host, "work");
    host.blocks("fetch_url", &json!({"url": "https://example.com/"}));
    host.blocks("file_edit", &json!({"path": "x"}));
    assert_eq!(active(&host).last().unwrap(), "denies");
    assert_eq!(
        active(&host)
            .iter()
            .filter(|name| *name == "denies")
            .count(),
        1
    );
}

#[test]
fn arguments_that_the_older_host_forgot_are_in_its_prompt() {
    for host in Host::both() {
        let host = kept(host).skill("task", "", "Do $ARGUMENTS.");
        next_prompt(&host, "work");
        let call = |arguments: &str| {
            let arguments = json!({"arguments": arguments});
            host.allows("skill_task", &arguments);
            host.tool("skill_task", &arguments)
        };
        call("the task").has("Do the task.");
        let prompt = next_prompt(&host, "work");
        let again = call("the task");
        if host.generation() == Generation::Environment {
            prompt.has("Do the task.");
            prompt.lacks("No arguments were given");
        }
        again.has("already active");
        // Called without, it is a call without.
        call("").has("Do $ARGUMENTS.");
        next_prompt(&host, "work").lacks("the task");
    }
}

#[test]
fn what_is_too_long_to_be_put_in_again_is_named() {
    for host in Host::both() {
        let long = "word ".repeat(60_000);
        let host = kept(host).skill("long", "", &long);
        next_prompt(&host, "work");
        host.activates("long");
        let prompt = next_prompt(&host, "work");
        assert!(prompt.len() < 20_000, "{}", prompt.len());
        if host.generation() == Generation::Environment {
            prompt.has("too long to be repeated here. read_skill_file");
        }
    }
}
