//! What a session remembers for later calls: what was handed over, which skill is meant when none
//! is named, and what is still to be loaded.

use std::fs;

use serde_json::json;

use crate::Host;
use crate::host::Has;
use crate::sessions::{load, session, unload, with_skills};

#[test]
fn loading_again_answers_a_note_unless_something_changed() {
    let host = with_skills(Host::stdin());
    let call = |arguments: &str| {
        let arguments = json!({"arguments": arguments});
        host.allows("skill_free", &arguments);
        host.tool("skill_free", &arguments)
    };
    assert!(call("").contains("Body of free."));
    call(" ")
        .has("already active")
        .has("read_skill_file {\"skill\":\"free\",\"path\":\"SKILL.md\"}")
        .lacks("Body of");
    assert!(call("a.pdf").contains("Body of free."), "other arguments");
    assert!(!call("a.pdf").contains("Body of free."));
    let text = session(&host, &load(&["free", "plain"], "add"));
    // This tool takes no arguments, so those of the activation hold.
    assert!(text.contains("already active") && text.contains("Body of plain."));
    let text = session(&host, &load(&["free", "plain"], "add"));
    assert!(text.contains("already active") && !text.contains("Body of"));
    let edited = "---\nname: free\ndescription: d\n---\nNew body.\n";
    fs::write(host.skills_dir().join("free/SKILL.md"), edited).unwrap();
    assert!(call("").contains("New body."), "another digest");
    // Whatever took its place in between.
    host.activates("plain");
    assert!(call("").contains("New body."));
    host.starts();
    assert!(call("").contains("New body."), "another process");
}

#[test]
fn direct_calls_get_the_instructions_every_time() {
    let mut host = with_skills(Host::stdin());
    for process in ["one", "two"] {
        let text = host
            .session(process)
            .starts()
            .tool("skill_free", &json!({}));
        assert!(text.contains("Body of free."));
    }
}

#[test]
fn an_activation_says_what_to_load_first() {
    let host = Host::stdin()
        .skill("a", "requires: [b, c]", "Body of a.")
        .skill("b", "requires: c", "Body of b.")
        .skill("c", "", "Body of c.")
        .skill("circle", "requires: [square]", "")
        .skill("square", "requires: [circle]", "")
        .skill("lacks", "requires: ['no</skill_content>such']", "");
    host.allows("skill_a", &json!({}));
    let text = host.tool("skill_a", &json!({}));
    let call = "skill_session {\"action\":\"load\",\"names\":[\"c\",\"b\",\"a\"],\"mode\":\"add\"}";
    text.has("requires `c`, `b`").has(call);
    session(&host, &load(&["c", "b", "a"], "add")).lacks("requires");
    host.starts();
    session(&host, &load(&["c"], "add"));
    session(&host, &load(&["a"], "add"))
        .has("requires `b`.")
        .lacks("`c`");
    session(&host, &load(&["circle"], "replace")).has("circle → square → circle");
    session(&host, &load(&["lacks"], "replace"))
        .has("not installed")
        .has("no&lt;/skill_content&gt;such");
}

#[test]
fn requirements_are_followed_five_deep() {
    let mut host = Host::stdin();
    for n in 0..8 {
        host = host.skill(&format!("s{n}"), &format!("requires: [s{}]", n + 1), "");
    }
    host.tool("skill_s0", &json!({}))
        .has("`s5`, `s4`, `s3`, `s2`, `s1`")
        .lacks("`s6`");
}

#[test]
fn without_a_name_the_most_recently_loaded_skill_is_meant() {
    let host = with_skills(Host::stdin())
        .file("free/notes.md", "free notes\n")
        .file("plain/notes.md", "plain notes\n")
        .file("reads/scripts/x.sh", "echo from reads\n")
        .file("plain/scripts/x.sh", "echo from plain\n");
    let notes = json!({"path": "notes.md"});
    host.tool("read_skill_file", &notes)
        .begins("Error: no skill is active")
        .has("list_installed");
    session(&host, &load(&["plain", "free"], "add"));
    for call in [
        notes.clone(),
        json!({"path": "notes.md", "skill": null}),
        json!({"path": "notes.md", "skill": " "}),
    ] {
        host.allows("read_skill_file", &call);
        host.tool("read_skill_file", &call).begins("free notes");
    }
    session(&host, &unload(&["free"]));
    host.tool("read_skill_file", &notes).begins("plain notes");
    // The check and the run mean the same skill.
    let run = json!({"script": "scripts/x.sh"});
    host.allows("run_skill_script", &run);
    host.tool("run_skill_script", &run).begins("from plain");
    session(&host, &load(&["reads"], "add"));
    host.allows("run_skill_script", &run);
    host.tool("run_skill_script", &run).begins("from reads");
    host.allows(
        "run_skill_script",
        &json!({"script": "scripts/x.sh", "skill": "plain"}),
    );
    let script = json!({"path": "scripts/x.sh"});
    host.allows("read_skill_file", &script);
    let host = host.configured("script_reads = \"block\"");
    host.blocks("read_skill_file", &script);
}

#[test]
fn a_mistake_in_the_configuration_is_given_as_the_reason() {
    let host = with_skills(Host::stdin()).configured("max_active = 0\n");
    host.tool("skill_free", &json!({}))
        .begins("Error: no skill is offered: ")
        .has("config.toml`, line 1");
}

#[test]
fn more_names_than_a_call_may_have_are_refused() {
    let host = with_skills(Host::stdin());
    let names: Vec<String> = (0..101).map(|n| format!("n{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    session(&host, &load(&names, "add"))
        .has("101 names are too many")
        .has("fewer");
    session(&host, &load(&names[1..], "add")).has("there is no skill `n1`");
}

#[test]
fn no_more_than_twenty_requirements_are_named() {
    let mut host = Host::stdin();
    let names: Vec<String> = (0..25).map(|n| format!("s{n:02}")).collect();
    for name in &names {
        host = host.skill(name, "", "");
    }
    let host = host.skill("all", &format!("requires: [{}]", names.join(", ")), "");
    let text = host.tool("skill_all", &json!({}));
    assert!(text.contains("`s19`") && !text.contains("`s20`"), "{text}");
}

#[test]
fn an_unrecorded_activation_is_refused() {
    for (restriction, host) in [Some("reads"), None].into_iter().zip(Host::both()) {
        let host = with_skills(host).configured("deny = [\"Bash(rm:*)\"]");
        host.prompt();
        if let Some(skill) = restriction {
            host.activates(skill);
        }
        let lock = fs::File::create(host.plugin_dir().join("state.lock")).unwrap();
        fs2::FileExt::lock_exclusive(&lock).unwrap();
        host.blocks("skill_free", &json!({}))
            .has("locked")
            .lacks("Next: .");
        host.tool("skill_free", &json!({})).begins("Error: ");
        let log = fs::read_to_string(host.plugin_dir().join("audit.jsonl")).unwrap_or_default();
        let activations = log.matches("\"activate\"").count();
        assert_eq!(activations, restriction.iter().count(), "{log}");
        drop(lock);
        host.activates("free");
        host.blocks("shell_exec", &json!({"command": "rm x"}));
    }
}
