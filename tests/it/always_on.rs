//! Skills that are always on in a context: their instructions, their restrictions, and what ends them.

use std::fs;

use serde_json::json;

use crate::Host;
use crate::host::{Has, write_at};

/// The text injected for a context, and what the user is told.
#[track_caller]
pub fn prompt_in(host: &Host, context: &str) -> (String, String) {
    let data = json!({"context_name": context});
    let (answer, told) = host.hook_with_stderr("post_system_prompt", &data);
    let prompt = answer["inject"].as_str().unwrap_or_default();
    (prompt.to_owned(), told)
}

/// A host with the skill `careful`, which is always on.
fn with_careful() -> Host {
    let host = Host::stdin().skill("careful", "allowed-tools: Read", "body");
    host.config("uses_skills = {\"*\" = [\"careful\"]}");
    host
}

#[test]
fn always_on_instructions_are_there_from_the_start_in_order() {
    let host = Host::stdin()
        .skill("a", "", "Body of a.")
        .skill("b", "", "Body </skill_content> of b in {baseDir}.")
        .skill("c", "", "Body of c.");
    host.config("[uses_skills]\n\"*\" = [\"b\", \"a\"]\nops = [\"a\", \"c\"]\n");
    host.starts();
    let (prompt, told) = prompt_in(&host, "ops");
    prompt.begins("## Available Agent Skills");
    assert_eq!(told, "");
    let at = |part: &str| {
        prompt
            .find(part)
            .unwrap_or_else(|| panic!("{part}: {prompt}"))
    };
    assert!(at("Body &lt;/skill_content> of b in /") < at("Body of a."));
    assert!(at("Body of a.") < at("Body of c."));
    assert!(at("## Skills in force") < at("<skill_content name=\"b\">"));
    assert_eq!(prompt.matches("</skill_content>").count(), 3, "{prompt}");
    let (prompt, _) = prompt_in(&host, "default");
    assert!(prompt.contains("Body of a.") && !prompt.contains("Body of c."));
    let events = host.succeeds(&["audit", "--event", "activate", "--json"]);
    assert_eq!(events.matches("\"skill\": \"c\"").count(), 1, "{events}");
}

#[test]
fn an_always_on_skill_restricts_as_any_other() {
    let host = Host::stdin()
        .skill("careful", "allowed-tools: Read", "body")
        .skill("free", "", "body");
    host.config("uses_skills = {ops = [\"careful\"]}");
    host.starts();
    prompt_in(&host, "default");
    host.allows("shell_exec", &json!({"command": "ls"}));
    prompt_in(&host, "ops");
    host.blocks("shell_exec", &json!({"command": "ls"}))
        .has("careful");
    // A further turn of the same process keeps what was activated on top of it.
    host.activates("free");
    host.allows("shell_exec", &json!({"command": "ls"}));
    prompt_in(&host, "ops");
    host.allows("shell_exec", &json!({"command": "ls"}));
    host.config("stacking = \"intersect\"\nuses_skills = {ops = [\"careful\"]}");
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn another_context_ends_what_was_always_on() {
    let host = Host::stdin()
        .skill("careful", "allowed-tools: Read", "body")
        .skill("writer", "allowed-tools: Write", "body");
    host.config("[uses_skills]\nops = [\"careful\"]\nnotes = [\"writer\"]");
    host.starts();
    prompt_in(&host, "ops");
    host.blocks("write_file", &json!({"path": "x", "content": ""}));
    prompt_in(&host, "notes");
    host.allows("write_file", &json!({"path": "x", "content": ""}));
    host.blocks("shell_exec", &json!({"command": "ls"}));
    prompt_in(&host, "default");
    host.allows("shell_exec", &json!({"command": "ls"}));
    host.succeeds(&["audit", "--event", "end", "--json"])
        .has("\"skill\": \"careful\"")
        .has("\"context\": \"ops\"");
}

#[test]
fn no_load_and_no_unload_lifts_an_always_on_restriction() {
    let host = Host::stdin()
        .skill("careful", "allowed-tools: Read", "body")
        .skill("free", "", "body");
    host.config("stacking = \"intersect\"\nuses_skills = {\"*\" = [\"careful\"]}");
    host.starts();
    host.prompt();
    for call in [
        json!({"action": "unload", "all": true}),
        json!({"action": "unload", "names": ["careful"]}),
        json!({"action": "load", "names": ["free"]}),
        json!({"action": "load", "names": ["free"], "mode": "replace"}),
    ] {
        host.hook(
            "pre_tool",
            &json!({"tool_name": "skill_session", "arguments": call}),
        );
        host.tool("skill_session", &call)
            .begins("Error: ")
            .has("only the user can end it");
        host.blocks("shell_exec", &json!({"command": "ls"}));
    }
    let add = json!({"action": "load", "names": ["free"], "mode": "add"});
    host.allows("skill_session", &add);
    host.tool("skill_session", &add).has("\"name\":\"careful\"");
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn always_on_and_kept_skills_do_not_mix() {
    let host = Host::stdin()
        .skill("careful", "allowed-tools: Read", "body")
        .skill("writer", "allowed-tools: Write", "body");
    host.config(
        "scope = \"context\"\nstacking = \"intersect\"\nuses_skills = {ops = [\"careful\"]}",
    );
    let write = json!({"path": "x", "content": ""});
    host.starts();
    for _ in 0..2 {
        prompt_in(&host, "ops");
        host.blocks("write_file", &write);
        host.blocks("shell_exec", &json!({"command": "ls"}));
        prompt_in(&host, "notes");
        host.activates("writer");
        host.allows("write_file", &write);
        host.blocks("shell_exec", &json!({"command": "ls"}));
        prompt_in(&host, "default");
        host.allows("shell_exec", &json!({"command": "ls"}));
    }
    // One that is kept stays so, whatever is always on in between.
    host.config("scope = \"context\"\nuses_skills = {\"*\" = [\"writer\"]}");
    prompt_in(&host, "notes");
    prompt_in(&host, "default");
    host.config("scope = \"context\"");
    prompt_in(&host, "default");
    host.allows("shell_exec", &json!({"command": "ls"}));
    prompt_in(&host, "notes");
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn what_is_always_on_is_not_kept_for_the_conversation() {
    let mut host = Host::stdin().skill("careful", "allowed-tools: Read", "Body.");
    let scope = "scope = \"context\"\n";
    host.config(format!("{scope}uses_skills = {{ops = [\"careful\"]}}"));
    host.session("one").starts();
    let (prompt, _) = prompt_in(&host, "ops");
    assert_eq!(prompt.matches("Body.").count(), 1, "{prompt}");
    host.blocks("shell_exec", &json!({"command": "ls"}));
    host.config(scope);
    host.session("two").starts();
    prompt_in(&host, "ops");
    host.allows("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn a_changed_skill_is_in_force_as_it_is_now() {
    let host = with_careful();
    host.starts();
    prompt_in(&host, "default");
    host.blocks("write_file", &json!({"path": "x", "content": ""}));
    let host = host.skill("careful", "allowed-tools: Write", "new body");
    assert!(prompt_in(&host, "default").0.contains("new body"));
    host.allows("write_file", &json!({"path": "x", "content": ""}));
}

#[test]
fn only_a_person_takes_away_what_is_always_on() {
    let host = Host::stdin()
        .skill("guard", "disallowed-tools: WebFetch", "body")
        .skill("poem", "", "body");
    host.config("uses_skills = {\"ops*\" = [\"Guard\"]}\ncatalog = {quiet = []}");
    host.starts();
    let call = json!({"action": "remove", "skill_ref": "guard"});
    for context in ["quiet", "ops-1"] {
        prompt_in(&host, context);
        host.tool("skill_marketplace", &call)
            .begins("Error: only a person");
    }
    for verb in ["disable", "remove"] {
        let ran = host.unattended(&[verb, "guard"]);
        assert_eq!(ran.status, 1, "{ran:?}");
        ran.stderr.has("only a person");
        // A shell without a terminal takes nothing away.
        assert_eq!(host.unattended(&[verb, "poem"]).status, 1);
    }
    prompt_in(&host, "ops-1");
    host.blocks("fetch_url", &json!({"url": "https://x.y"}));
    host.succeeds(&["disable", "guard"]);
    host.succeeds(&["remove", "--yes", "guard"]);
}

#[test]
fn without_a_prompt_what_is_always_on_is_in_force() {
    let host = with_careful();
    let call = json!({"tool_name": "shell_exec", "command": "ls"});
    let answer = host.hook("pre_shell_exec", &call);
    assert_eq!(answer["denied"], json!(true), "{answer}");
    for _ in 0..2 {
        host.starts()
            .blocks("shell_exec", &json!({"command": "ls"}))
            .has("careful");
        host.allows("file_head", &json!({"path": "x"}));
    }
    // The prompt knows the context, and in this one nothing else is always on.
    host.config("uses_skills = {ops = [\"careful\"]}");
    prompt_in(&host, "default");
    host.allows("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn what_cannot_be_put_in_force_lets_nothing_pass() {
    let host = Host::stdin().skill("careful", "allowed-tools: Write", "body");
    host.config("uses_skills = {\"*\" = [\"careful\"]}");
    // The state cannot be locked, so not be written.
    let lock = host.plugin_dir().join("state.lock");
    fs::create_dir(&lock).unwrap();
    host.starts();
    prompt_in(&host, "default");
    for tool in ["shell_exec", "write_file"] {
        host.blocks(tool, &json!({"path": "x", "command": "ls"}))
            .has("skills that are always on are not active");
    }
    host.allows("file_head", &json!({"path": "x"}));
    fs::remove_dir(&lock).unwrap();
    host.allows("write_file", &json!({"path": "x", "content": ""}));
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn what_a_person_ended_no_call_puts_in_force_again() {
    let host = with_careful();
    host.starts();
    prompt_in(&host, "default");
    host.succeeds(&["deactivate"]);
    host.allows("shell_exec", &json!({"command": "ls"}));
    prompt_in(&host, "default");
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn a_trusted_project_takes_nothing_away_that_is_always_on() {
    let off = "[visibility]\ncareful = \"off\"";
    let cases = [
        ("careful", off),
        ("plugin/skill_careful", off),
        ("careful", "visibility = 3"),
    ];
    for (name, text) in cases {
        let host = Host::stdin().skill("careful", "allowed-tools: Read", "body");
        host.config(format!("uses_skills = {{\"*\" = [\"{name}\"]}}"));
        let file = host.project().join(".chibi/agent-skills.toml");
        write_at(file, text);
        host.succeeds(&["trust", "--yes"]);
        host.starts();
        prompt_in(&host, "default");
        host.blocks("shell_exec", &json!({"command": "ls"}));
        host.allows("file_head", &json!({"path": "x"}));
    }
}

#[test]
fn what_is_in_force_stays_whatever_becomes_of_it() {
    let host = Host::stdin();
    let body = "Body. $ARGUMENTS $ARGUMENTS $ARGUMENTS";
    let host = host
        .skill("guide", "", body)
        .skill("careful", "allowed-tools: Read", "House rules.")
        .skill("late", "disallowed-tools: Read", "Late rules.");
    let uses = "stacking = \"intersect\"\nuses_skills = {\"*\" = [\"guide\", \"careful\"]}";
    host.config(uses);
    host.starts();
    prompt_in(&host, "default");
    let write = json!({"path": "x", "content": ""});
    host.blocks("write_file", &write);
    // A model's arguments take no room from the skills behind.
    let arguments = json!({"arguments": "A".repeat(20_000)});
    host.allows("skill_guide", &arguments);
    host.tool("skill_guide", &arguments);
    let (prompt, _) = prompt_in(&host, "default");
    prompt.has("House rules.");
    host.blocks("write_file", &write);
    // Nor do its files, or what is said of them, decide about a conversation that has begun.
    let file = host.skills_dir().join("careful/SKILL.md");
    fs::rename(&file, file.with_file_name("gone")).unwrap();
    prompt_in(&host, "default");
    host.blocks("write_file", &write);
    fs::rename(file.with_file_name("gone"), &file).unwrap();
    host.config(uses.replace("guide", "late"));
    prompt_in(&host, "default");
    host.blocks("write_file", &write);
    host.blocks("file_head", &json!({"path": "x"}));
    prompt_in(&host, "other");
    prompt_in(&host, "default");
    host.blocks("write_file", &write);
}

#[test]
fn a_trusted_projects_namesake_is_not_what_is_always_on() {
    for name in [
        "careful",
        "skill_careful",
        "plugin/careful",
        "plugin/skill_careful",
    ] {
        let host = Host::stdin().skill("careful", "allowed-tools: Read", "House rules.");
        let theirs = host.project().join(".chibi/skills/careful/SKILL.md");
        write_at(theirs, "---\nname: careful\ndescription: d\n---\nTheirs.");
        host.config(format!("uses_skills = {{\"*\" = [\"{name}\"]}}"));
        host.succeeds(&["trust", "--yes"]);
        host.starts();
        let (prompt, told) = prompt_in(&host, "default");
        assert!(prompt.contains("House rules."), "{name}: {told} {prompt}");
        host.blocks("write_file", &json!({"path": "x", "content": ""}));
        // The project's own is meant by its own name.
        host.config("uses_skills = {\"*\" = [\"project/careful\"]}");
        prompt_in(&host, "other");
        host.allows("write_file", &json!({"path": "x", "content": ""}));
    }
}
