//! The configuration: what is in force, where it comes from, and changing it.

use std::fs;

use serde_json::{Value, json};

use crate::Host;

#[test]
fn every_value_says_where_it_comes_from() {
    for host in Host::both() {
        let policy = host.home().join("policy.toml");
        fs::write(&policy, "[enforce]\nstacking = \"ratchet\"\n").unwrap();
        let host = host.var("AGENT_SKILLS_POLICY", policy.to_str().unwrap());
        let (own, project) = (
            host.plugin_dir().join("config.toml"),
            host.project().join(".chibi/agent-skills.toml"),
        );
        fs::write(&own, "tenant = \"acme\"\n[audit]\noutput_bytes = 10\n").unwrap();
        fs::create_dir_all(project.parent().unwrap()).unwrap();
        fs::write(&project, "script_reads = \"block\"\n").unwrap();
        host.succeeds(&["trust"]);
        let (own, project) = (own.to_str().unwrap(), project.to_str().unwrap());
        for (key, value, origin) in [
            ("enforce", "\"restrict\"", "default"),
            ("pipe_filters", "true", "default"),
            ("tenant", "\"acme\"", own),
            ("audit.output_bytes", "10", own),
            ("audit.max_bytes", "10485760", "default"),
            ("script_reads", "\"block\"", project),
            ("stacking", "\"ratchet\"", "policy"),
        ] {
            assert_eq!(
                host.succeeds(&["config", "get", key]),
                format!("{key} = {value}  # {origin}\n")
            );
        }
        let listed = host.json(&["config", "list", "--json"])["settings"].clone();
        let listed: Vec<Value> = serde_json::from_value(listed).unwrap();
        assert!(listed.contains(&json!({"key": "tenant", "value": "acme", "origin": own})));
        assert_eq!(
            host.succeeds(&["config", "list"]).lines().count(),
            listed.len()
        );
        let paths = host.succeeds(&["config", "path"]);
        assert!(
            paths.contains(own)
                && paths.contains(project)
                && paths.contains("/etc/chibi/agent-skills/policy.toml"),
            "{paths}"
        );
        assert!(
            host.fails(&["config", "get", "enforcement"])
                .contains("there is no key")
        );
    }
}

#[test]
fn setting_a_value_keeps_comments_and_refuses_mistakes() {
    for host in Host::both() {
        let file = host.plugin_dir().join("config.toml");
        fs::write(&file, "# my own\nenforce = \"restrict\" # strict\n").unwrap();
        host.succeeds(&["config", "set", "enforce", "warn"]);
        host.succeeds(&["config", "set", "pipe_filters", "false"]);
        host.succeeds(&["config", "set", "always_allowed", "[\"my_notes\"]"]);
        host.succeeds(&["config", "set", "audit.output_bytes", "100"]);
        host.succeeds(&["config", "set", "tenant", "7"]);
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(
            text,
            "# my own\nenforce = \"warn\" # strict\npipe_filters = false\nalways_allowed = [\"my_notes\"]\n\
             tenant = \"7\"\n\n[audit]\noutput_bytes = 100\n"
        );
        for (key, value, part) in [
            ("enforce", "maybe", "maybe"),
            ("enforcement", "off", "enforcement"),
            ("pipe_filters", "yes", "boolean"),
            ("audit.output_bytes", "-1", "output_bytes"),
            ("visibility.pdf", "hidden", "hidden"),
            ("skills.pdf.sandbox", "on", "sandbox"),
        ] {
            let told = host.fails(&["config", "set", key, value]);
            assert!(
                told.contains("was not changed") && told.contains("line ") && told.contains(part),
                "{told}"
            );
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn a_mistake_is_named_by_line_to_people_and_closes_for_hooks() {
    for host in Host::both() {
        let host = host.skill("pdf", "", "");
        fs::write(
            host.plugin_dir().join("config.toml"),
            "\n\nenforcement = \"off\"\n",
        )
        .unwrap();
        for args in [&["config", "list"][..], &["config", "get", "enforce"]] {
            let told = host.fails(args);
            assert!(
                told.contains("line 3") && told.contains("enforcement"),
                "{told}"
            );
        }
        let (answer, told) = host.hook_with_stderr("post_system_prompt", &json!({}));
        assert!(answer == json!({}) && told.contains("line 3"), "{told}");
        assert!(
            host.succeeds(&["list-installed"])
                .contains("hidden-configuration")
        );
    }
}
