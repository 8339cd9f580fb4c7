//! To whom a skill is offered: the user's choice and the author's, and where its scope ends.

use std::fs;

use serde_json::json;

use crate::Host;
use crate::host::Has;
use crate::layers::{codes, is_offered, put, read};

#[test]
fn visibility_is_the_users_choice_before_the_authors() {
    let host = Host::stdin()
        .skill("plain", "", "")
        .skill("shy", "disable_model_invocation: yes", "")
        .skill("deep", "userInvokable: false", "");
    let called_by = |name: &str| {
        let info = host.succeeds(&["info", name]);
        let line = info.lines().find(|line| line.starts_with("called by"));
        line.unwrap().split_once("  ").unwrap().1.trim().to_owned()
    };
    assert_eq!(called_by("plain"), "the model and people");
    assert_eq!(
        (called_by("shy"), called_by("deep")),
        ("people".into(), "the model".into())
    );
    let hidden = |name: &str, code: &str| {
        assert!(
            !is_offered(&host, name) && codes(&host, name).contains(&code.to_owned()),
            "{name} {code}"
        );
        host.tool(
            "read_skill_file",
            &json!({"skill": name, "path": "SKILL.md"}),
        )
        .begins("Error: ");
        host.tool(&format!("skill_{name}"), &json!({}))
            .begins("Error: there is no tool");
    };
    hidden("shy", "hidden-from-model");
    // It is meant so.
    host.succeeds(&["info", "shy"])
        .has("note: its author hides");
    host.succeeds(&["enable", "shy"]);
    assert!(is_offered(&host, "shy"));
    host.succeeds(&["disable", "plain"]);
    hidden("plain", "hidden-off");
    host.succeeds(&["disable", "plain", "--user"]);
    hidden("plain", "hidden-from-model");
    host.succeeds(&["enable", "plain", "--name-only"]);
    assert!(is_offered(&host, "plain") && !host.prompt().contains("Does plain"));
    serde_json::to_string(&host.schema())
        .unwrap()
        .lacks("Does plain");
    host.succeeds(&["enable", "plain"]);
    host.prompt().has("Does plain.");
    let config = fs::read_to_string(host.plugin_dir().join("config.toml")).unwrap();
    assert_eq!(config, "[visibility]\nshy = \"on\"\nplain = \"on\"\n");
}

#[test]
fn a_skill_that_is_off_is_off_in_every_layer() {
    let host = Host::stdin();
    put(&host.home().join(".chibi/skills"), "deploy", "", "personal");
    put(&host.skills_dir(), "deploy", "", "plugin");
    host.succeeds(&["disable", "deploy"]);
    assert!(!is_offered(&host, "deploy"));
    for written in ["deploy", "personal/deploy", "plugin/deploy"] {
        read(&host, written).begins("Error: ");
    }
}

#[test]
fn a_scope_limits_contexts_tenants_and_environments() {
    let host = Host::stdin()
        .skill("agent", "scope: {agents: [ops*]}", "")
        .skill("tenant", "scope: {tenants: [acme]}", "")
        .skill("place", "scope: {environments: [production]}", "");
    let in_context = |context: &str| {
        let answer = host.hook("post_system_prompt", &json!({"context_name": context}));
        answer["inject"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(in_context("default"), "");
    assert!(
        host.tool_names().contains(&"skill_agent".to_owned()),
        "the schema has no context"
    );
    host.tool("skill_agent", &json!({})).begins("Error: ");
    host.allows("skill_agent", &json!({}));
    in_context("ops-2").has("- agent: ");
    host.tool("skill_agent", &json!({})).has("<skill_content");
    host.config("tenant = \"Acme\"\nenvironment = \"test\"");
    in_context("default").has("- tenant: ").lacks("- place: ");
    assert!(codes(&host, "place").contains(&"hidden-scope".to_owned()));
    // A policy's values count, whatever the user configured; and what names a list but is not read limits.
    let host = host
        .policy("[enforce]\ntenant = 'other'\nenvironment = 'Production'\n")
        .skill("unread", "scope: {tenannts: other}", "")
        .skill("others", "scope: project", "");
    for (skill, is_there) in [
        ("tenant", false),
        ("place", true),
        ("unread", false),
        ("others", true),
    ] {
        assert_eq!(is_offered(&host, skill), is_there, "{skill}");
    }
    host.succeeds(&["list", "--long"])
        .has("its scope has a key that is not read, so it is offered nowhere");
}
