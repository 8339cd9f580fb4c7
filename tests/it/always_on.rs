//! Skills that are always on in a context, and what a context sees of the catalog.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::Host;
use crate::layers::codes;

fn configured(host: &Host, config: &str) {
    fs::write(host.plugin_dir().join("config.toml"), config).unwrap();
}

/// The text injected for a context, and what the user is told.
#[track_caller]
fn prompt_in(host: &Host, context: &str) -> (String, String) {
    let data = json!({"context_name": context});
    let (answer, told) = host.hook_with_stderr("post_system_prompt", &data);
    (
        answer["inject"].as_str().unwrap_or_default().to_owned(),
        told,
    )
}

#[test]
fn the_instructions_are_there_from_the_start_in_the_configured_order() {
    for host in Host::both() {
        let host = host
            .skill("a", "", "Body of a.")
            .skill("b", "", "Body </skill_content> of b in {baseDir}.")
            .skill("c", "", "Body of c.");
        configured(
            &host,
            "[uses_skills]\n\"*\" = [\"b\", \"a\"]\nops = [\"a\", \"c\"]\n",
        );
        host.starts();
        let (prompt, told) = prompt_in(&host, "ops");
        assert!(prompt.starts_with("## Available Agent Skills"), "{prompt}");
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
}

#[test]
fn an_always_on_skill_restricts_as_any_other() {
    for host in Host::both() {
        let host = host
            .skill("careful", "allowed-tools: Read", "body")
            .skill("free", "", "body");
        configured(&host, "uses_skills = {ops = [\"careful\"]}");
        host.starts();
        prompt_in(&host, "default");
        host.allows("shell_exec", &json!({"command": "ls"}));
        prompt_in(&host, "ops");
        let message = host.blocks("shell_exec", &json!({"command": "ls"}));
        assert!(message.contains("careful"), "{message}");
        // A further turn of the same process keeps what was activated on top of it.
        host.activates("free");
        host.allows("shell_exec", &json!({"command": "ls"}));
        prompt_in(&host, "ops");
        host.allows("shell_exec", &json!({"command": "ls"}));
        configured(
            &host,
            "stacking = \"ratchet\"\nuses_skills = {ops = [\"careful\"]}",
        );
        host.blocks("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn entering_another_context_ends_what_was_always_on_in_the_former() {
    for host in Host::both() {
        let host = host.skill("careful", "allowed-tools: Read", "body").skill(
            "writer",
            "allowed-tools: Write",
            "body",
        );
        configured(
            &host,
            "[uses_skills]\nops = [\"careful\"]\nnotes = [\"writer\"]",
        );
        host.starts();
        prompt_in(&host, "ops");
        host.blocks("write_file", &json!({"path": "x", "content": ""}));
        prompt_in(&host, "notes");
        host.allows("write_file", &json!({"path": "x", "content": ""}));
        host.blocks("shell_exec", &json!({"command": "ls"}));
        prompt_in(&host, "default");
        host.allows("shell_exec", &json!({"command": "ls"}));
        let events = host.succeeds(&["audit", "--event", "end", "--json"]);
        assert!(events.contains("\"skill\": \"careful\""), "{events}");
        assert!(events.contains("\"context\": \"ops\""), "{events}");
    }
}

#[test]
fn no_load_and_no_unload_lifts_an_always_on_restriction() {
    for host in Host::both() {
        let host = host
            .skill("careful", "allowed-tools: Read", "body")
            .skill("free", "", "body");
        configured(
            &host,
            "stacking = \"ratchet\"\nuses_skills = {\"*\" = [\"careful\"]}",
        );
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
            let answer = host.tool("skill_session", &call);
            assert!(answer.starts_with("Error: "), "{answer}");
            assert!(answer.contains("only the user can end it"), "{answer}");
            host.blocks("shell_exec", &json!({"command": "ls"}));
        }
        let add = json!({"action": "load", "names": ["free"], "mode": "add"});
        host.allows("skill_session", &add);
        let answer = host.tool("skill_session", &add);
        assert!(answer.contains("\"name\":\"careful\""), "{answer}");
        host.blocks("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn what_is_always_on_and_what_is_kept_do_not_mix_when_conversations_change() {
    for host in Host::both() {
        let host = host.skill("careful", "allowed-tools: Read", "body").skill(
            "writer",
            "allowed-tools: Write",
            "body",
        );
        configured(
            &host,
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
        configured(
            &host,
            "scope = \"context\"\nuses_skills = {\"*\" = [\"writer\"]}",
        );
        prompt_in(&host, "notes");
        prompt_in(&host, "default");
        configured(&host, "scope = \"context\"");
        prompt_in(&host, "default");
        host.allows("shell_exec", &json!({"command": "ls"}));
        prompt_in(&host, "notes");
        host.blocks("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn what_is_always_on_is_not_kept_for_the_conversation() {
    for mut host in Host::both() {
        host = host.skill("careful", "allowed-tools: Read", "Body.");
        let scope = "scope = \"context\"\n";
        configured(
            &host,
            &format!("{scope}uses_skills = {{ops = [\"careful\"]}}"),
        );
        host.session("one").starts();
        let (prompt, _) = prompt_in(&host, "ops");
        assert_eq!(prompt.matches("Body.").count(), 1, "{prompt}");
        host.blocks("shell_exec", &json!({"command": "ls"}));
        configured(&host, scope);
        host.session("two").starts();
        prompt_in(&host, "ops");
        host.allows("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn what_does_not_fit_is_named_to_the_model_and_once_to_the_user() {
    for host in Host::both() {
        let host = host
            .skill("long", "allowed-tools: Read", &"long ".repeat(300))
            .skill("short", "", "Body of short.");
        configured(
            &host,
            "uses_skills_chars = 1000\nuses_skills = {\"*\" = [\"long\", \"short\"]}",
        );
        host.starts();
        let (prompt, told) = prompt_in(&host, "default");
        assert!(prompt.contains("Body of short."), "{prompt}");
        assert!(!prompt.contains("long long"), "{prompt}");
        assert!(prompt.contains("\n- long (tool `skill_long`)"), "{prompt}");
        assert!(
            told.contains("`long` is not always on: it has 1") && told.contains("1000 are left"),
            "{told}"
        );
        let (prompt, told) = prompt_in(&host, "default");
        assert!(prompt.contains("\n- long (tool `skill_long`)"), "{prompt}");
        assert_eq!(told, "", "once");
        configured(
            &host,
            "max_tools = 1\nuses_skills_chars = 1000\nuses_skills = {\"*\" = [\"long\"]}",
        );
        let (prompt, _) = prompt_in(&host, "default");
        assert!(prompt.contains("\n- long (tool `skill`)"), "{prompt}");
        // What was not handed over is not in force.
        host.allows("shell_exec", &json!({"command": "ls"}));
        configured(&host, "uses_skills = {\"*\" = [\"long\", \"short\"]}");
        assert!(prompt_in(&host, "default").0.contains("long long"));
        host.activates("short").activates("long");
    }
}

#[test]
fn a_skill_that_may_not_be_used_is_not_handed_over_and_says_why() {
    for host in Host::both() {
        let project = host.project().join(".agents/skills/theirs");
        fs::create_dir_all(&project).unwrap();
        let text = "---\nname: theirs\ndescription: d\n---\nHOSTILE";
        fs::write(project.join("SKILL.md"), text).unwrap();
        let policy = host.home().join("policy.toml");
        fs::write(&policy, "[skills]\nblock = [\"evil\"]\n").unwrap();
        let host = host
            .var("AGENT_SKILLS_POLICY", policy.to_str().unwrap())
            .skill("evil", "", "HOSTILE")
            .skill("hidden", "disable-model-invocation: true", "HOSTILE")
            .skill("elsewhere", "scope: {agents: [ops]}", "HOSTILE")
            .skill("good", "", "Body of good.");
        configured(
            &host,
            "uses_skills = {\"*\" = [\"theirs\", \"evil\", \"hidden\", \"elsewhere\", \
             \"none\\u001b[2J\", \"good\", \"GOOD\"]}",
        );
        host.starts();
        let (prompt, told) = prompt_in(&host, "default");
        assert!(!prompt.contains("HOSTILE"), "{prompt}");
        assert_eq!(prompt.matches("Body of good.").count(), 1, "{prompt}");
        for part in [
            "`theirs` is not always on: it comes with the project",
            "`evil` is not always on: the policy",
            "`hidden` is not always on: its author keeps it",
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
}

#[test]
fn what_cannot_be_put_in_force_is_not_handed_over() {
    for host in Host::both() {
        let host = host.skill("careful", "allowed-tools: Read", "Body of careful.");
        configured(&host, "uses_skills = {\"*\" = [\"careful\"]}");
        host.starts();
        let state = host.plugin_dir().join("state.json");
        fs::write(&state, "not a state").unwrap();
        fs::set_permissions(&state, Permissions::from_mode(0o600)).unwrap();
        let (prompt, told) = prompt_in(&host, "default");
        assert!(!prompt.contains("Body of careful."), "{prompt}");
        assert!(told.contains("not always on this time: careful"), "{told}");
        host.blocks("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn a_changed_skill_is_in_force_as_it_is_now() {
    for host in Host::both() {
        let host = host.skill("careful", "allowed-tools: Read", "body");
        configured(&host, "uses_skills = {\"*\" = [\"careful\"]}");
        host.starts();
        prompt_in(&host, "default");
        host.blocks("write_file", &json!({"path": "x", "content": ""}));
        let host = host.skill("careful", "allowed-tools: Write", "new body");
        assert!(prompt_in(&host, "default").0.contains("new body"));
        host.allows("write_file", &json!({"path": "x", "content": ""}));
    }
}

#[test]
fn only_a_person_takes_away_what_is_always_on() {
    for host in Host::both() {
        let host = host
            .skill("guard", "disallowed-tools: WebFetch", "body")
            .skill("poem", "", "body");
        configured(
            &host,
            "uses_skills = {\"ops*\" = [\"Guard\"]}\ncatalog = {quiet = []}",
        );
        host.starts();
        let call = json!({"action": "remove", "skill_ref": "guard"});
        for context in ["quiet", "ops-1"] {
            prompt_in(&host, context);
            let told = host.tool("skill_marketplace", &call);
            assert!(told.starts_with("Error: only a person"), "{told}");
        }
        for verb in ["disable", "remove"] {
            let ran = host.unattended(&[verb, "guard"]);
            assert_eq!(ran.status, 1, "{ran:?}");
            assert!(ran.stderr.contains("only a person"), "{ran:?}");
            // A shell without a terminal takes nothing away.
            assert_eq!(host.unattended(&[verb, "poem"]).status, 1);
        }
        prompt_in(&host, "ops-1");
        host.blocks("fetch_url", &json!({"url": "https://x.y"}));
        host.succeeds(&["disable", "guard"]);
        host.succeeds(&["remove", "guard"]);
    }
}

#[test]
fn the_catalog_limits_what_a_context_sees() {
    for host in Host::both() {
        let host = host
            .skill("deploy", "", "body")
            .skill("ops-log", "", "body")
            .skill("poem", "", "body")
            .skill("elsewhere", "scope: {tenants: [acme]}", "body");
        configured(
            &host,
            "[catalog]\n\"ops*\" = [\"Deploy\", \"ops-*\"]\nquiet = []\n",
        );
        host.starts();
        let seen = |context: &str| {
            let (prompt, _) = prompt_in(&host, context);
            let names = ["deploy", "ops-log", "poem"].into_iter();
            names
                .filter(|name| prompt.contains(&format!("`skill_{name}`")))
                .collect::<Vec<_>>()
        };
        assert_eq!(seen("default"), ["deploy", "ops-log", "poem"]);
        assert_eq!(seen("quiet"), [""; 0]);
        assert_eq!(seen("ops-2"), ["deploy", "ops-log"]);
        let marketplace = |call: serde_json::Value| host.tool("skill_marketplace", &call);
        let listed = marketplace(json!({"action": "list_installed"}));
        assert!(
            listed.contains("ops-log") && !listed.contains("poem"),
            "{listed}"
        );
        // Nor of what other reasons would hide.
        assert!(!listed.contains("elsewhere"), "{listed}");
        let told = marketplace(json!({"action": "info", "skill_ref": "poem"}));
        assert!(
            told.starts_with("Error: there is no installed skill"),
            "{told}"
        );
        assert!(host.succeeds(&["list-installed"]).contains("poem"));
        host.knows_not("poem").activates("deploy");
        let call = json!({"skill": "poem", "path": "SKILL.md"});
        let answer = host.tool("read_skill_file", &call);
        assert!(
            answer.contains("`catalog` leaves it out of the context `ops-2`"),
            "{answer}"
        );
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
            assert!(
                answer.starts_with("Error: ") && answer.contains("`ops-2`"),
                "{tool}: {answer}"
            );
        }
        let tools = json!([{"name": "skill_poem", "type": "plugin"},
            {"name": "skill_deploy", "type": "plugin"}]);
        let data = json!({"context_name": "ops-2", "tools": tools});
        let hidden = host.hook("pre_api_tools", &data)["exclude"].to_string();
        assert!(
            hidden.contains("skill_poem") && !hidden.contains("skill_deploy"),
            "{hidden}"
        );
        assert!(
            host.tool_names().contains(&"skill_poem".to_owned()),
            "the schema has no context"
        );
        assert_eq!(codes(&host, "poem"), [""; 0], "nor has a person");
    }
}

#[test]
fn mistakes_in_the_tables_are_named_and_close() {
    for host in Host::both() {
        let host = host.skill("a", "", "Body of a.");
        for (config, part) in [
            ("\nuses_skills = [\"a\"]", "line 2: "),
            ("uses_skills = {\"*\" = \"a\"}", "expected a sequence"),
            ("uses_skills = {\"\" = [\"a\"]}", "write `*`"),
            ("catalog = {\"ops\" = [\"\"]}", "the contexts `ops`"),
            ("uses_skills_chars = -1", "line 1: "),
        ] {
            configured(&host, config);
            let error = host.fails(&["config", "list"]);
            assert!(error.contains(part), "{config}: {error}");
            let (prompt, told) = prompt_in(&host, "default");
            assert_eq!(prompt, "");
            assert!(told.contains("no skill is offered"), "{told}");
        }
        configured(&host, "uses_skills = {\"v1.2*\" = [\"a\"]}");
        let line = host.succeeds(&["config", "get", "uses_skills"]);
        assert!(
            line.starts_with("uses_skills.v1.2* = [\"a\"]  # /"),
            "{line}"
        );
    }
}
