//! To whom a skill is offered: the user's choice and the author's, and where its scope ends.

use std::fs;

use serde_json::json;

use crate::Host;
use crate::layers::{codes, configured, is_offered, put, read};

#[test]
fn visibility_is_the_users_choice_before_the_authors() {
    for host in Host::both() {
        let host = host
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
            let read = host.tool(
                "read_skill_file",
                &json!({"skill": name, "path": "SKILL.md"}),
            );
            assert!(read.starts_with("Error: "), "{read}");
            let answer = host.tool(&format!("skill_{name}"), &json!({}));
            assert!(answer.starts_with("Error: there is no tool"), "{answer}");
        };
        hidden("shy", "hidden-from-model");
        host.succeeds(&["enable", "shy"]);
        assert!(is_offered(&host, "shy"));
        host.succeeds(&["disable", "plain"]);
        hidden("plain", "hidden-off");
        host.succeeds(&["disable", "plain", "--user"]);
        hidden("plain", "hidden-from-model");
        host.succeeds(&["enable", "plain", "--name-only"]);
        assert!(is_offered(&host, "plain") && !host.prompt().contains("Does plain"));
        assert!(
            !serde_json::to_string(&host.schema())
                .unwrap()
                .contains("Does plain")
        );
        host.succeeds(&["enable", "plain"]);
        assert!(host.prompt().contains("Does plain."));
        let config = fs::read_to_string(host.plugin_dir().join("config.toml")).unwrap();
        assert_eq!(config, "[visibility]\nshy = \"on\"\nplain = \"on\"\n");
    }
}

#[test]
fn a_skill_that_is_off_is_off_in_every_layer() {
    for host in Host::both() {
        put(&host.home().join(".chibi/skills"), "deploy", "", "personal");
        put(&host.skills_dir(), "deploy", "", "plugin");
        host.succeeds(&["disable", "deploy"]);
        assert!(!is_offered(&host, "deploy"));
        for written in ["deploy", "personal/deploy", "plugin/deploy"] {
            assert!(read(&host, written).starts_with("Error: "), "{written}");
        }
    }
}

#[test]
fn a_scope_limits_contexts_tenants_and_environments() {
    for host in Host::both() {
        let host = host
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
        assert!(host.tool("skill_agent", &json!({})).starts_with("Error: "));
        host.allows("skill_agent", &json!({}));
        assert!(in_context("ops-2").contains("skill_agent"));
        assert!(
            host.tool("skill_agent", &json!({}))
                .contains("<skill_content")
        );
        configured(&host, "tenant = \"Acme\"\nenvironment = \"test\"");
        let prompt = in_context("default");
        assert!(
            prompt.contains("skill_tenant") && !prompt.contains("skill_place"),
            "{prompt}"
        );
        assert!(codes(&host, "place").contains(&"hidden-scope".to_owned()));
    }
}
