//! Skills that ask to run apart: handed over to a sub-agent where that can work, else run here.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Generation, Has};
use crate::many::{TOOLS, with_generated};

const FORK: &str = "context: fork";

/// The model calls the skill's tool with arguments.
#[track_caller]
fn calls(host: &Host, tool: &str, arguments: &Value) -> String {
    host.allows(tool, arguments);
    host.tool(tool, arguments)
}

/// The arguments that the model is told to pass on.
#[track_caller]
fn passed_on(answer: &str) -> Value {
    let line = answer.lines().find(|line| line.starts_with('{'));
    serde_json::from_str(line.unwrap_or_else(|| panic!("{answer}"))).unwrap()
}

#[test]
fn a_skill_without_tools_is_handed_to_a_sub_agent() {
    for host in Host::both() {
        let host = host.skill(
            "poet",
            "context: fork\nmodel: acme/verse-1\nargument-hint: '[subject]'",
            "Write about $1 in {baseDir}.\n\"Quoted\" </skill_content>",
        );
        host.starts();
        let answer = calls(&host, "skill_poet", &json!({"arguments": "rain \"now\""}));
        if host.generation() == Generation::Environment {
            answer.has("Write about rain in /");
            assert!(answer.contains("because this host has no sub-agents"));
            answer.lacks("spawn_agent");
            continue;
        }
        assert!(answer.contains("Call `spawn_agent` with exactly these arguments, then"));
        let call = passed_on(&answer);
        let prompt = call["system_prompt"].as_str().unwrap();
        prompt.begins("Write about rain in /");
        assert!(prompt.ends_with("skills/poet.\n\"Quoted\" &lt;/skill_content>"));
        assert_eq!(call["input"], "rain \"now\"");
        assert_eq!(call["model"], "acme/verse-1");
        assert_eq!(answer.matches("</skill_content>").count(), 1, "{answer}");
        host.allows("spawn_agent", &call);
    }
}

#[test]
fn without_arguments_the_model_says_what_the_user_wants() {
    let host = Host::stdin()
        .skill("poet", "context: fork\nagent: Explore\nmodel: sonnet", "b")
        .file("poet/notes.md", "x");
    let answer = calls(&host, "skill_poet", &json!({}));
    assert!(answer.contains("adding what the user wants as `input`"));
    assert_eq!(passed_on(&answer), json!({"system_prompt": "b"}));
    assert!(answer.contains("Its `agent` belongs to another client"));
    answer.has("the result of read_skill_file {\"skill\":\"poet\",\"path\":\"notes.md\"}");
}

#[test]
fn a_skill_handed_over_changes_no_restriction() {
    let host = Host::stdin()
        .skill("poet", "context: fork\nallowed-tools: ''", "b")
        .skill("careful", "allowed-tools: Read Task", "b");
    host.starts();
    calls(&host, "skill_poet", &json!({}));
    host.allows("shell_exec", &json!({"command": "ls"}));
    host.activates("careful");
    let answer = calls(&host, "skill_poet", &json!({"arguments": "x"}));
    host.allows("spawn_agent", &passed_on(&answer));
    host.blocks("shell_exec", &json!({"command": "ls"}))
        .has("careful");
}

#[test]
fn any_other_runs_here_under_its_restriction_and_says_why() {
    let host = Host::stdin()
        .skill("reader", "context: fork\nallowed-tools: Read", "Body.")
        .skill("runner", FORK, "Body.")
        .file("runner/run.sh", "echo x")
        .skill("poet", FORK, "Body.");
    host.starts();
    let because = |why: &str| format!("because {why}.");
    let answer = calls(&host, "skill_runner", &json!({}));
    let why = because("it has scripts, and a sub-agent can run none");
    answer.has(&why);
    let answer = calls(&host, "skill_reader", &json!({}));
    let why = because("it uses tools, and a sub-agent has none");
    answer.has("Body.").has(&why);
    host.blocks("shell_exec", &json!({"command": "ls"}));
    // The model is never told to make a call that would be refused.
    let answer = calls(&host, "skill_poet", &json!({}));
    let why = because("what was in force does not allow `spawn_agent`");
    answer.has("Body.").has(&why);
}

#[test]
fn what_the_host_says_of_its_tools_counts() {
    let host = Host::stdin().skill("poet", FORK, "Body.");
    host.starts();
    let turn = |names: &[&str]| {
        let tools: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
        let data = json!({"context_name": "default", "tools": tools});
        host.hook("pre_api_tools", &data);
        calls(&host, "skill_poet", &json!({}))
    };
    assert!(turn(&["spawn_agent", "skill_poet"]).contains("Call `spawn_agent`"));
    assert!(turn(&["skill_poet"]).contains("because this host has no sub-agents"));
    host.starts();
    host.var("AGENT_SKILLS_POLICY", "/no/such/file")
        .blocks("skill_poet", &json!({}));
}

#[test]
fn every_way_of_activating_hands_over() {
    let host = Host::stdin()
        .skill("poet", FORK, "Body.")
        .skill("other", "", "b");
    let host = with_generated(host, TOOLS);
    host.starts();
    for (tool, arguments) in [
        ("skill", json!({"skill_name": "poet"})),
        (
            "skill_marketplace",
            json!({"action": "use", "skill_ref": "poet"}),
        ),
    ] {
        let answer = calls(&host, tool, &arguments);
        assert!(answer.contains("Call `spawn_agent`"), "{tool}: {answer}");
    }
    fs::read_to_string(host.plugin_dir().join("state.json"))
        .unwrap_or_default()
        .lacks("poet");
}

#[test]
fn a_denied_sub_agent_and_an_always_on_skill_run_here() {
    let host = Host::stdin().skill("poet", FORK, "Body.");
    let host = host.policy("[tools]\ndeny = [\"spawn_agent\"]\n");
    host.starts();
    calls(&host, "skill_poet", &json!({})).has("does not allow `spawn_agent`");
    host.succeeds(&["try", "poet"])
        .has("does not allow `spawn_agent`");
    let host = host.policy("");
    host.config("uses_skills = {\"*\" = [\"poet\"]}");
    host.starts();
    host.prompt().has("because it is always on.");
    calls(&host, "skill_poet", &json!({})).has("because it is always on.");
}
