//! A person calls a skill: a prompt that begins with `/name` or `agent-skills use name`, in both hosts.

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Generation, Has};
use crate::layers::{installed, layer_dir, policy, put, with_layers};

/// What becomes of a prompt that the user writes, and what they are told.
fn prompt(host: &Host, text: &str) -> (Option<String>, String) {
    let data = json!({"context_name": "default", "prompt": text, "summary": ""});
    let (answer, told) = host.hook_with_stderr("pre_message", &data);
    (answer["prompt"].as_str().map(str::to_owned), told)
}

/// What the model has at the beginning of the turn.
fn turn(host: &Host, text: &str) -> String {
    let (changed, _) = prompt(host, text);
    format!("{}\n{}", host.prompt(), changed.unwrap_or_default())
}

fn shy(host: Host) -> Host {
    host.skill(
        "shy",
        "disable-model-invocation: true\nallowed-tools: Read",
        "Do it with $ARGUMENTS.",
    )
    .file("shy/notes.txt", "NOTES")
    .file("shy/run.sh", "echo RAN\n")
    .skill("open", "", "Open body.")
    .skill("inner", "user-invocable: false", "Inner body.")
}

#[test]
fn a_prompt_calls_a_skill_that_the_model_cannot() {
    for (host, words) in [
        (Host::stdin(), "/shy the form"),
        (Host::environment(), "  /shy the form\n"),
        (Host::environment(), "agent-skills use shy the form"),
        (Host::stdin(), "/Shy the form"),
    ] {
        let host = shy(host);
        host.starts();
        host.schema();
        // The model has no way to it.
        host.knows_not("shy");
        let read = json!({"skill": "shy", "path": "notes.txt"});
        let run = json!({"skill": "shy", "script": "run.sh"});
        let load = json!({"action": "load", "names": ["shy"]});
        for call in [
            json!({"action": "use", "skill_ref": "shy"}),
            json!({"args": ["use", "shy"]}),
        ] {
            host.tool("skill_marketplace", &call).begins("Error: ");
        }
        host.tool("skill_session", &load).begins("Error: ");
        host.tool("read_skill_file", &read).begins("Error: ");
        host.tool("run_skill_script", &run).begins("Error: ");
        host.allows("shell_exec", &json!({"command": "ls"}));
        let had = turn(&host, words);
        had.has("the form").has("The user calls the skill `shy`.");
        if host.generation() == Generation::Stdin {
            had.has("Do it with the form.");
        }
        assert_eq!(had.matches("Do it with").count(), 1, "{had}");
        had.has("Active now, the most recently loaded last: `shy`");
        // Its restriction holds, and its files are open.
        host.blocks("shell_exec", &json!({"command": "ls"}));
        host.allows("read_skill_file", &read);
        host.tool("read_skill_file", &read).has("NOTES");
        host.allows("run_skill_script", &run);
        host.tool("run_skill_script", &run).has("RAN");
        let tools = json!({"tools": [{"name": "read_skill_file", "type": "plugin"}]});
        host.hook("pre_api_tools", &tools)["exclude"]
            .to_string()
            .lacks("read_skill_file");
        // What a later turn is told, in a run of its own, is nothing.
        host.starts();
        host.allows("shell_exec", &json!({"command": "ls"}));
        host.tool("read_skill_file", &read).begins("Error: ");
    }
}

#[test]
fn only_the_first_prompt_of_a_run_is_the_users() {
    let host = shy(Host::stdin());
    host.starts();
    host.prompt();
    assert_eq!(prompt(&host, "/shy x").0, None);
    host.allows("shell_exec", &json!({"command": "ls"}));
    host.starts();
    assert!(prompt(&host, "/shy x").0.is_some());
}

#[test]
fn what_is_no_call_is_left_as_it_is() {
    let host = shy(Host::stdin());
    host.starts();
    for text in [
        "shy",
        "",
        "/",
        "/none",
        "/tmp/x is odd",
        "/shy/notes.txt",
        "/../shy",
        "//shy",
        "do /shy",
        "use shy",
        "agent-skills install shy",
        "/shy\u{202e}",
        "/inner x",
    ] {
        assert_eq!(prompt(&host, text).0, None, "{text:?}");
    }
    for data in [
        "",
        "null",
        "[]",
        "{}",
        r#"{"prompt": 3}"#,
        r#"{"prompt": null}"#,
    ] {
        assert_eq!(host.raw("hook", "pre_message", data).trim(), "{}", "{data}");
    }
    let (_, told) = prompt(&host, "agent-skills use none");
    told.has("there is no skill `none`");
    let (_, told) = prompt(&host, "/inner x");
    told.has("user-invocable");
    host.allows("shell_exec", &json!({"command": "ls"}));
}

/// What hides a skill from everybody hides it from this way, too.
#[test]
fn nothing_that_is_hidden_or_forbidden_is_called() {
    type Way = (&'static str, fn(&Host));
    let ways: [Way; 6] = [
        ("switched off", |host| {
            host.config("[visibility]\nshy = \"off\"\n");
        }),
        ("not in this context", |host| {
            host.config("[catalog]\ndefault = [\"other\"]\n");
        }),
        ("blocked", |host| {
            policy(host, "[skills]\nblock = [\"shy\"]\n");
        }),
        ("its tool denied", |host| {
            policy(host, "[tools]\ndeny = [\"skill_shy\"]\n");
        }),
        ("an unreadable policy", |host| policy(host, "[skills")),
        ("an administrator's of its name", |host| {
            let enterprise = layer_dir(host, "enterprise");
            put(&enterprise, "shy", "user-invocable: false", "E");
        }),
    ];
    for (what, go) in ways {
        let host = Host::stdin();
        let host = shy(with_layers(host));
        go(&host);
        host.starts();
        for name in ["shy", "plugin/shy"] {
            let (changed, told) = prompt(&host, &format!("/{name} x"));
            assert_eq!(changed, None, "{what}, {name}");
            assert!(told.contains("was not called"), "{what}, {name}: {told}");
        }
    }
    let host = with_layers(Host::stdin());
    put(&host.project().join(".claude/skills"), "evil", "", "OBEY");
    host.starts();
    let (changed, told) = prompt(&host, "/evil x");
    assert_eq!(changed, None);
    told.has("trust").lacks("OBEY");
}

/// A conversation that keeps its skills takes over what the prompt called before it was entered.
#[test]
fn what_a_prompt_calls_is_kept_for_its_conversation() {
    let mut host = shy(Host::stdin());
    host.config("scope = \"context\"\n");
    for _ in 0..2 {
        // The second time some conversation is restricted already.
        host.starts();
        turn(&host, "/shy x").has("Active now");
        host.blocks("shell_exec", &json!({"command": "ls"}));
    }
    host.session("another run").starts();
    host.prompt().has("`shy` (restricts");
    host.blocks("shell_exec", &json!({"command": "ls"}));
    assert!(
        installed(&host)
            .iter()
            .all(|skill: &Value| skill["name"] != "shy" || skill["offered"] == false)
    );
}

#[test]
fn a_mistyped_name_is_answered_and_any_other_word_is_not() {
    let host = shy(Host::stdin());
    let (changed, told) = prompt(&host, "/opne the form");
    assert_eq!(changed, None);
    told.has("no skill is called `opne`; did you mean `open`?");
    assert_eq!(prompt(&host, "/etc is large"), (None, String::new()));
}
