//! Arguments reach the places their author made for them and no others, and what an author wants
//! run while loading is not run.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::host::Has;

const TEXT: &str = "It costs $12.50, or $5,000.\n\
    ```sh\nawk '{print $1, $2}' file | while read -r x; do echo \"$x $HOME\"; done\n```";

/// The body of an activation, as the model gets it.
fn body(host: &Host, skill: &str, arguments: &Value) -> String {
    let text = host.tool(&format!("skill_{skill}"), arguments);
    let (_, rest) = text.split_once(">\n").unwrap();
    rest.split_once("\n\nSkill directory: ")
        .unwrap()
        .0
        .to_owned()
}

#[test]
fn arguments_are_put_where_they_are_asked_for() {
    let host = Host::stdin();
    let asks = "Fix $ARGUMENTS: `$ARGUMENTS[0]`, not $1 or $issue.";
    let host = host
        .skill("plain", "", &format!("{asks}\n{TEXT}"))
        .skill(
            "named",
            "arguments: [issue, branch]",
            "$issue on $branch, $1 $2.",
        )
        .skill("hinted", "argument-hint: \"[issue]\"", "$1, $issue.");
    let given = json!({"arguments": "7 'main line'"});
    let filled = "Fix 7 'main line': `7`, not $1 or $issue.";
    assert_eq!(body(&host, "plain", &given), format!("{filled}\n{TEXT}"));
    assert_eq!(body(&host, "named", &given), "7 on main line, 7 main line.");
    assert_eq!(body(&host, "hinted", &given), "7, $issue.");
}

#[test]
fn without_arguments_instructions_say_what_is_missing() {
    let host = Host::stdin()
        .skill("x", "", "Fix $ARGUMENTS.")
        .skill("y", "", "No place.");
    for none in [
        json!({}),
        json!(null),
        json!({"arguments": " "}),
        json!({"args": []}),
    ] {
        let text = host.tool("skill_x", &none);
        assert!(text.contains("\nFix $ARGUMENTS.\n"), "{none}: {text}");
        assert!(text.contains("No arguments were given"), "{none}: {text}");
        host.tool("skill_y", &none).lacks("No arguments");
    }
}

#[test]
fn every_way_of_calling_a_skill_brings_its_arguments() {
    let host = Host::stdin().skill("x", "", "[$ARGUMENTS]");
    for (tool, arguments) in [
        ("skill_x", json!({"arguments": "a b"})),
        ("skill_x", json!({"args": "a b"})),
        ("skill_x", json!({"args": ["a", "b"]})),
        ("skill", json!({"skill_name": "x", "args": "a b"})),
        ("skill", json!({"skill": "x", "arguments": "a b"})),
        (
            "skill_marketplace",
            json!({"action": "use", "skill_ref": "x", "query": "a b"}),
        ),
        (
            "skill_marketplace",
            json!({"action": "use", "skill_ref": "x", "arguments": "a b"}),
        ),
    ] {
        // What was handed over once in a session is not handed over again.
        host.starts();
        let text = host.tool(tool, &arguments);
        text.begins("<skill_content name=\"x\">\n[a b]\n");
    }
}

#[test]
fn commands_at_load_time_are_never_run_and_that_is_said() {
    let host = Host::stdin();
    let mark = host.project().join("mark");
    let command = format!("!`touch {}`", mark.display());
    let host = host.skill("x", "", &format!("State: {command}\n\n{command}"));
    for arguments in [json!({}), json!({"arguments": command})] {
        let text = host.tool("skill_x", &arguments);
        text.has(&format!("State: {command}\n"));
        text.has("were not run");
    }
    assert!(!mark.exists());
    host.succeeds(&["info", "x"]).has("commands-not-run");
}

#[test]
fn an_activation_adds_at_most_400_bytes() {
    let host = Host::stdin().skill("example", "allowed-tools: Bash(git:*)", "Body.");
    let dir = host.plugin_dir();
    let dir = dir.join("skills/example");
    for (name, text) in [
        ("scripts/run.sh", "#!/bin/sh\n"),
        ("references/how.md", "How."),
    ] {
        let file = dir.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let text = host.tool("skill_example", &json!({}));
    let place = "/home/ada/.chibi/plugins/agent-skills/skills/example";
    let text = text.replace(&dir.display().to_string(), place);
    text.has("read_skill_file")
        .has("run_skill_script")
        .has("shell_exec(git:*)");
    assert!(text.len() - "Body.".len() <= 400, "{}: {text}", text.len());
}

#[test]
fn activation_and_description_say_what_a_skill_costs() {
    let host = Host::stdin();
    let host =
        host.skill("small", "", &"word ".repeat(400))
            .skill("large", "", &"word ".repeat(8000));
    let text = host.tool("skill_large", &json!({}));
    text.has("approx. 10,000 tokens");
    let info = host.succeeds(&["info", "large"]);
    info.has("approx. 10,000").has("many-tokens");
    let list = host.succeeds(&["list"]);
    assert_eq!(list.matches("many-tokens").count(), 1, "{list}");
    let info = host.json(&["info", "small", "--json"]);
    assert_eq!(info["tokens"]["instructions"], 500);
}
