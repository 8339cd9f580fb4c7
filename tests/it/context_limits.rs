//! What a context does not get: always-on skills that do not fit or may not be used, and what the catalog
//! leaves out.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::Host;
use crate::always_on::prompt_in;
use crate::host::{Has, write_at};
use crate::layers::codes;

#[test]
fn what_does_not_fit_is_named_to_model_and_user() {
    let host = Host::stdin()
        .skill("long", "allowed-tools: Read", &"long ".repeat(8_100))
        .skill("short", "", "Body of short.");
    host.config("uses_skills = {\"*\" = [\"long\", \"short\"]}");
    host.starts();
    let (prompt, told) = prompt_in(&host, "default");
    prompt.has("Body of short.");
    prompt.lacks("long long");
    prompt.has("\n- long: ");
    told.has("`long` is not always on: it has 4");
    told.has("of 40000 are left");
    let (prompt, told) = prompt_in(&host, "default");
    prompt.has("\n- long: ");
    assert_eq!(told, "", "once");
    // What was not handed over is not in force.
    host.allows("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn a_skill_that_may_not_be_used_says_why() {
    let host = Host::stdin();
    let project = host.project().join(".agents/skills/theirs/SKILL.md");
    let text = "---\nname: theirs\ndescription: d\n---\nHOSTILE";
    write_at(project, text);
    let host = host
        .policy("[skills]\nblock = [\"evil\"]\n")
        .skill("evil", "", "HOSTILE")
        .skill("hidden", "disable-model-invocation: true", "HOSTILE")
        .skill("elsewhere", "scope: {agents: [ops]}", "HOSTILE")
        .skill("good", "", "Body of good.");
    host.config(
        "uses_skills = {\"*\" = [\"theirs\", \"evil\", \"hidden\", \"elsewhere\", \
         \"none\\u001b[2J\", \"good\", \"GOOD\"]}",
    );
    host.starts();
    let (prompt, told) = prompt_in(&host, "default");
    prompt.lacks("HOSTILE");
    assert_eq!(prompt.matches("Body of good.").count(), 1, "{prompt}");
    for part in [
        "`theirs` is not always on: it comes with the project",
        "`evil` is not always on: the policy",
        "`hidden` is not always on: its author hides it",
        "`elsewhere` is not always on: its scope",
        "`none[2J` is not always on: there is no skill",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(
        prompt_in(&host, "default").1.matches("always on").count(),
        0
    );
}

#[test]
fn what_cannot_be_put_in_force_is_not_handed_over() {
    let host = Host::stdin().skill("careful", "allowed-tools: Read", "Body of careful.");
    host.config("uses_skills = {\"*\" = [\"careful\"]}");
    host.starts();
    let state = host.plugin_dir().join("state.json");
    fs::write(&state, "not a state").unwrap();
    fs::set_permissions(&state, Permissions::from_mode(0o600)).unwrap();
    let (prompt, told) = prompt_in(&host, "default");
    prompt.lacks("Body of careful.");
    told.has("not always on this time: careful");
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn the_catalog_limits_what_a_context_sees() {
    let host = Host::stdin()
        .skill("deploy", "", "body")
        .skill("ops-log", "", "body")
        .skill("poem", "", "body")
        .skill("elsewhere", "scope: {tenants: [acme]}", "body");
    host.config("[catalog]\n\"ops*\" = [\"Deploy\", \"ops-*\"]\nquiet = []\n");
    host.starts();
    let seen = |context: &str| {
        let (prompt, _) = prompt_in(&host, context);
        let names = ["deploy", "ops-log", "poem"].into_iter();
        names
            .filter(|name| prompt.contains(&format!("\n- {name}: ")))
            .collect::<Vec<_>>()
    };
    assert_eq!(seen("default"), ["deploy", "ops-log", "poem"]);
    assert_eq!(seen("quiet"), [""; 0]);
    assert_eq!(seen("ops-2"), ["deploy", "ops-log"]);
    let marketplace = |call: serde_json::Value| host.tool("skill_marketplace", &call);
    let listed = marketplace(json!({"action": "list_installed"}));
    listed.has("ops-log").lacks("poem");
    // Nor of what other reasons would hide.
    listed.lacks("elsewhere");
    let told = marketplace(json!({"action": "info", "skill_ref": "poem"}));
    told.begins("Error: there is no installed skill");
    assert!(host.succeeds(&["list"]).contains("poem"));
    host.knows_not("poem").activates("deploy");
    let call = json!({"skill": "poem", "path": "SKILL.md"});
    let answer = host.tool("read_skill_file", &call);
    answer.has("`catalog` leaves it out of the context `ops-2`");
    for (tool, call) in [
        (
            "skill_marketplace",
            json!({"action": "use", "skill_ref": "poem"}),
        ),
        (
            "skill_session",
            json!({"action": "load", "names": ["poem"]}),
        ),
        (
            "run_skill_script",
            json!({"skill": "poem", "script": "x.sh"}),
        ),
    ] {
        let answer = host.tool(tool, &call);
        answer.begins("Error: ").has("`ops-2`");
    }
    let tools = json!([{"name": "skill_poem", "type": "plugin"},
        {"name": "skill_deploy", "type": "plugin"}]);
    let data = json!({"context_name": "ops-2", "tools": tools});
    let hidden = host.hook("pre_api_tools", &data)["exclude"].to_string();
    hidden.has("skill_poem").lacks("skill_deploy");
    assert!(
        host.tool_names().contains(&"skill_poem".to_owned()),
        "the schema has no context"
    );
    assert_eq!(codes(&host, "poem"), [""; 0], "nor has a person");
}

#[test]
fn mistakes_in_the_tables_are_named_and_close() {
    let host = Host::stdin().skill("a", "", "Body of a.");
    for (config, part) in [
        ("\nuses_skills = [\"a\"]", "line 2: "),
        ("uses_skills = {\"*\" = \"a\"}", "it takes a list"),
        ("uses_skills = {\"\" = [\"a\"]}", "write `*`"),
        ("catalog = {\"ops\" = [\"\"]}", "the contexts `ops`"),
    ] {
        host.config(config);
        let error = host.fails(&["config", "list"]);
        assert!(error.contains(part), "{config}: {error}");
        let (prompt, told) = prompt_in(&host, "default");
        assert_eq!(prompt, "");
        told.has("no skill is offered");
    }
    host.config("uses_skills = {\"v1.2*\" = [\"a\"]}");
    let line = host.succeeds(&["config", "get", "uses_skills"]);
    line.begins("uses_skills.\"v1.2*\" = [\"a\"]  # /");
}
