//! A skill that is called through `skill` or `skill_marketplace` is judged and active exactly as if
//! its own tool had been called.

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, write_at};
use crate::many::{TOOLS, with_generated};

/// Each way of calling a skill, in a host whose schema has one tool for all.
fn ways(skill: &str) -> [(&'static str, Value); 4] {
    [
        ("skill", json!({"skill_name": skill})),
        ("skill", json!({"command": skill, "args": "x"})),
        (
            "skill_marketplace",
            json!({"action": "use", "skill_ref": skill}),
        ),
        (
            "skill_marketplace",
            json!({"action": "USE", "skill_ref": format!("skill_{skill}")}),
        ),
    ]
}

/// A host with more skills than tools.
fn crowded(host: Host) -> Host {
    let host = host
        .skill("reads", "allowed-tools: Read", "R")
        .skill("narrow", "allowed-tools: Read Skill(reads)", "N")
        .skill("free", "", "F");
    with_generated(host, TOOLS)
}

#[test]
fn activation_takes_effect_before_the_tool_has_run() {
    for host in Host::both() {
        let mut host = crowded(host);
        for (at, (tool, arguments)) in ways("reads").into_iter().enumerate() {
            host.session(&format!("s{at}"));
            host.allows("shell_exec", &json!({"command": "ls"}));
            host.allows(tool, &arguments);
            host.blocks("shell_exec", &json!({"command": "ls"}));
            host.tool(tool, &arguments)
                .begins("<skill_content name=\"reads\">");
            host.allows("file_head", &json!({"path": "x"}));
            host.allows("skill_free", &json!({}));
            host.allows("shell_exec", &json!({"command": "ls"}));
        }
    }
}

#[test]
fn the_tool_alone_activates_too() {
    let mut host = crowded(Host::stdin());
    for (at, (tool, arguments)) in ways("reads").into_iter().enumerate() {
        host.session(&format!("s{at}"));
        host.tool(tool, &arguments);
        host.blocks("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn entries_that_narrow_skills_hold_for_every_way() {
    let mut host = crowded(Host::stdin());
    for (at, (tool, arguments)) in ways("free").into_iter().enumerate() {
        host.session(&format!("s{at}"));
        host.activates("narrow");
        host.blocks(tool, &arguments).has("skill_free");
        host.blocks("skill_free", &json!({}));
        host.blocks("shell_exec", &json!({"command": "ls"}));
        let (tool, arguments) = ways("reads")[at].clone();
        host.allows(tool, &arguments);
    }
}

#[test]
fn denials_hold_by_every_name_of_a_skill() {
    for (denied, reached) in [
        ("Skill(reads)", &[][..]),
        ("skill_reads", &[]),
        ("skill_r*", &[]),
        ("Skill", &[]),
        ("skill_marketplace", &["skill_reads", "skill"]),
        (
            "Skill(free)",
            &["skill_reads", "skill", "skill_marketplace"],
        ),
    ] {
        let policy = format!("[tools]\ndeny = [\"{denied}\"]\n");
        let host = crowded(Host::stdin()).policy(&policy);
        let own = ("skill_reads", json!({}));
        for (tool, arguments) in ways("reads").into_iter().chain([own]) {
            if reached.contains(&tool) {
                host.allows(tool, &arguments);
            } else {
                host.blocks(tool, &arguments);
            }
        }
    }
}

#[test]
fn a_failed_activation_opens_nothing() {
    let host = crowded(Host::stdin());
    host.activates("reads");
    for (tool, arguments, part) in [
        (
            "skill",
            json!({"skill_name": "raeds"}),
            "did you mean `reads`",
        ),
        ("skill", json!({}), "needs a skill's name"),
        (
            "skill",
            json!({"skill_name": "free", "name": "reads"}),
            "contradict",
        ),
        ("skill", json!([1]), "one JSON object"),
        (
            "skill_marketplace",
            json!({"action": "use", "skill_ref": "../free"}),
            "there is no skill",
        ),
    ] {
        let message = host.blocks(tool, &arguments);
        assert!(message.contains(part), "{arguments}: {message}");
        host.tool(tool, &arguments).begins("Error: ").has(part);
    }
    host.blocks("skill_marketplace", &json!({"action": "use"}));
    host.blocks("skill_marketplace", &json!({"args": ["use", "free"]}));
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn with_few_skills_a_tool_called_skill_may_be_another_plugins() {
    let host = Host::stdin()
        .skill("reads", "allowed-tools: Read", "")
        .skill("free", "", "");
    let call = json!({"skill_name": "free"});
    // Nothing is in force, so nothing had to be judged.
    host.allows("skill", &call);
    assert!(host.tool("skill", &call).starts_with("<skill_content"));
    host.activates("reads");
    host.blocks("skill", &call);
    host.tool("skill", &call)
        .begins("Error: `skill` is no longer a tool here")
        .has(r#"{"action":"use","skill_ref":"free"}"#);
    host.blocks("shell_exec", &json!({"command": "ls"}));
}

#[test]
fn a_skill_changed_in_the_conversation_is_used_as_it_is() {
    let host = Host::stdin().skill("old", "", "before");
    host.starts().prompt();
    let host = host.skill("new", "allowed-tools: Read", "fresh");
    let call = json!({"action": "use", "skill_ref": "new", "query": "now"});
    host.allows("skill_marketplace", &call);
    host.blocks("shell_exec", &json!({"command": "ls"}));
    host.tool("skill_marketplace", &call)
        .has("\nfresh\n")
        .has("## Arguments\n\nnow\n");
    let host = host.skill("new", "", "edited");
    host.allows("skill_marketplace", &call);
    host.allows("shell_exec", &json!({"command": "ls"}));
    assert!(host.tool("skill_marketplace", &call).contains("\nedited\n"));
}

#[test]
fn a_shadowed_skill_is_used_by_its_qualified_name() {
    let host = Host::stdin()
        .skill("pdf", "", "installed")
        .file("pdf/a.md", "x");
    let personal = host.home().join(".chibi/skills/pdf/SKILL.md");
    write_at(personal, "---\nname: pdf\ndescription: d\n---\npersonal\n");
    for (name, body) in [("pdf", "personal"), ("plugin/pdf", "installed")] {
        let call = json!({"action": "use", "skill_ref": name});
        host.allows("skill_marketplace", &call);
        let text = host.tool("skill_marketplace", &call);
        text.has(&format!("\n{body}\n"));
        if body == "installed" {
            text.has("There its name is `plugin/pdf`.");
        }
    }
}

#[test]
fn the_one_tool_is_hidden_when_no_skill_may_be_called() {
    let host = crowded(Host::stdin());
    let hidden = || {
        let tools = json!([{"name": "skill", "type": "plugin"}]);
        let answer = host.hook(
            "pre_api_tools",
            &json!({"context_name": "default", "tools": tools}),
        );
        answer["exclude"].to_string().contains("\"skill\"")
    };
    host.activates("narrow");
    assert!(!hidden());
    host.config("deny = [\"Skill\"]\n");
    assert!(hidden());
}
