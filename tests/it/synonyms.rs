//! A rule about the arguments of our tools holds however the call writes them.

use serde_json::{Value, json};

use crate::Host;
use crate::host::Has;
use crate::policy::under;

fn with_skills(host: Host) -> Host {
    host.skill("my-r", "", "")
        .skill("q", "", "")
        .skill("other", "", "")
        .file("q/danger.sh", "echo ran")
        .file("q/scripts/deep.sh", "echo ran")
        .file("q/scripts/other.sh", "echo ran")
}

/// A denial, the tool, calls that it covers, and calls that it does not cover.
type Row = (&'static str, &'static str, Vec<Value>, Vec<Value>);

fn rows() -> Vec<Row> {
    let script = |written: &str| json!({"skill": "q", "script": written});
    let read = |written: &str| json!({"skill": "q", "path": written});
    vec![
        (
            "run_skill_script(skill:q)",
            "run_skill_script",
            ["q", "Q", "plugin/q", "skill_q", " q "]
                .map(|skill| json!({"skill": skill, "script": "danger.sh"}))
                .to_vec(),
            vec![json!({"skill": "other", "script": "danger.sh"})],
        ),
        (
            "run_skill_script(skill:plugin/Q)",
            "run_skill_script",
            vec![script("danger.sh")],
            vec![json!({"skill": "other", "script": "danger.sh"})],
        ),
        (
            "run_skill_script(script:danger.sh)",
            "run_skill_script",
            vec![
                script("danger.sh"),
                script("./danger.sh"),
                script("scripts/../danger.sh"),
                json!({"skill": "q", "path": "danger.sh"}),
            ],
            vec![script("other.sh")],
        ),
        (
            "run_skill_script(path:deep.sh)",
            "run_skill_script",
            vec![
                script("deep.sh"),
                script("scripts/deep.sh"),
                script("./scripts//deep.sh"),
            ],
            vec![script("other.sh")],
        ),
        (
            "run_skill_script(args:--force *)",
            "run_skill_script",
            vec![json!({"skill": "q", "script": "danger.sh", "args": " '--force'  x"})],
            vec![json!({"skill": "q", "script": "danger.sh", "args": "--dry x"})],
        ),
        (
            "read_skill_file(path:danger.sh)",
            "read_skill_file",
            vec![
                read("danger.sh"),
                read("./danger.sh"),
                read("scripts/../danger.sh"),
            ],
            vec![read("scripts/other.sh")],
        ),
        (
            "skill_marketplace(action:update)",
            "skill_marketplace",
            vec![
                json!({"action": "update"}),
                json!({"action": "UPDATE"}),
                json!({"args": ["update"]}),
                json!({"args": "update q"}),
                json!({"args": ["--verbose", "update"]}),
            ],
            vec![json!({"action": "list"}), json!({"args": ["list"]})],
        ),
        (
            "propose_skill_update(skill:q)",
            "propose_skill_update",
            vec![json!({"skill": "plugin/q", "diff": "", "justification": "x"})],
            vec![json!({"skill": "other", "diff": "", "justification": "x"})],
        ),
    ]
}

/// The same, of words with defaults and of calls that may mean every skill.
fn more_rows() -> Vec<Row> {
    let script = json!({"skill": "q", "script": "danger.sh"});
    vec![
        (
            "skill_marketplace(skill_ref:q)",
            "skill_marketplace",
            vec![
                json!({"action": "info", "skill_ref": "q"}),
                json!({"action": "info", "query": "Q"}),
                json!({"args": ["info", "--", "plugin/q"]}),
            ],
            vec![
                json!({"action": "info", "skill_ref": "other"}),
                json!({"action": "update", "skill_ref": "other"}),
                json!({"action": "list"}),
            ],
        ),
        (
            "skill_marketplace(action:update, skill_ref:q)",
            "skill_marketplace",
            vec![
                json!({"action": "update", "skill_ref": "q"}),
                json!({"action": "update"}),
                json!({"args": ["update"]}),
                json!({"args": ["update", "--"]}),
                json!({"args": ["update", "--layer", "personal"]}),
            ],
            vec![
                json!({"action": "update", "skill_ref": "other"}),
                json!({"action": "list"}),
            ],
        ),
        (
            "skill_marketplace(action:use)",
            "skill_marketplace",
            vec![json!({"action": "USE", "skill_ref": "q"})],
            vec![json!({"action": "info", "skill_ref": "q"})],
        ),
        (
            "skill_session(names:my-r)",
            "skill_session",
            vec![
                json!({"action": "load", "names": "other, My_R"}),
                json!({"action": "load", "names": ["my-r"]}),
            ],
            vec![json!({"action": "load", "names": "other"})],
        ),
        (
            "skill_session(names:my-r)",
            "skill_session",
            vec![json!({"action": "unload", "all": "true"})],
            vec![json!({"action": "unload", "names": "other"})],
        ),
        (
            "skill_session(all:true)",
            "skill_session",
            vec![
                json!({"action": "unload", "all": "TRUE"}),
                json!({"action": "unload", "all": " true "}),
            ],
            vec![json!({"action": "unload", "names": "q"})],
        ),
        (
            "skill_session(mode:replace)",
            "skill_session",
            vec![
                json!({"action": "load", "names": "q"}),
                json!({"action": "load", "names": "q", "mode": " Replace"}),
            ],
            vec![json!({"action": "load", "names": "q", "mode": "ADD"})],
        ),
        (
            "run_skill_script(background:false)",
            "run_skill_script",
            vec![script.clone()],
            vec![],
        ),
        (
            "run_skill_script(job:*, stop:false)",
            "run_skill_script",
            vec![json!({"job": "j"})],
            vec![script.clone()],
        ),
        (
            "create_skill(allowed_tools:*Bash*)",
            "create_skill",
            vec![
                json!({"name": "n", "description": "d", "body": "b", "allowed_tools": "[\"\\u0042ash\"]"}),
            ],
            vec![json!({"name": "n", "description": "d", "body": "b", "allowed_tools": "Read"})],
        ),
    ]
}

#[test]
fn a_denial_covers_every_way_to_write_a_call() {
    for (denial, tool, covered, free) in rows().into_iter().chain(more_rows()) {
        let policy = format!("[tools]\ndeny = [\"{denial}\"]\n");
        let host = under(with_skills(Host::stdin()), &policy);
        for call in covered {
            let answer = host.pre_tool(tool, &call);
            assert_eq!(answer["block"], json!(true), "{denial}: {call}: {answer}");
        }
        for call in free {
            let answer = host.pre_tool(tool, &call);
            assert_ne!(answer["block"], json!(true), "{denial}: {call}: {answer}");
        }
    }
}

#[test]
fn a_denied_script_of_the_latest_skill_is_denied() {
    let host = Host::stdin();
    let denied = "[tools]\ndeny = [\"run_skill_script(skill:q)\"]\n";
    let host = under(with_skills(host), denied);
    let run = json!({"script": "danger.sh"});
    host.activates("q").blocks("run_skill_script", &run);
    host.activates("other").allows("run_skill_script", &run);
}

#[test]
fn a_denied_skill_is_denied_under_every_name() {
    for denied in [
        "Skill(my-r)",
        "Skill(My R)",
        "Skill(my_r)",
        "Skill(plugin/my-r)",
        "Skill(my-*)",
        "Skill(my-r *)",
        "Skill(ｍy-r)",
    ] {
        let policy = format!("[tools]\ndeny = [\"{denied}\"]\n");
        let host = under(with_skills(Host::stdin()), &policy);
        host.blocks("skill_my-r", &json!({}));
        for name in ["my-r", "My R", "plugin/my-r"] {
            let by_use = json!({"action": "use", "skill_ref": name});
            host.blocks("skill_marketplace", &by_use);
            host.blocks("skill_session", &json!({"action": "load", "names": [name]}));
        }
        host.allows("skill_other", &json!({}));
    }
}

#[test]
fn a_grant_is_compared_with_what_the_call_does() {
    let host = Host::stdin();
    let allowed = "allowed-tools: run_skill_script(skill:q, script:deep.sh) skill_marketplace(action:update, skill_ref:q)";
    let host = with_skills(host).skill("strict", allowed, "");
    host.activates("strict");
    let script = |skill: &str, script: &str| json!({"skill": skill, "script": script});
    for call in [
        script("q", "deep.sh"),
        script("plugin/q", "scripts/../deep.sh"),
        script("Q", "./scripts/deep.sh"),
    ] {
        host.allows("run_skill_script", &call);
    }
    let beside = json!({"skill": "q", "script": "danger.sh", "path": "danger.sh"});
    for call in [script("q", "danger.sh"), script("other", "deep.sh"), beside] {
        host.blocks("run_skill_script", &call);
    }
    host.allows("skill_marketplace", &json!({"args": ["update", "q"]}));
    for call in [
        json!({"action": "update"}),
        json!({"args": ["update", "q", "other"]}),
        json!({"args": ["update", "--all", "q"]}),
        json!({"args": ["install", "q"], "skill_ref": "q"}),
    ] {
        host.blocks("skill_marketplace", &call);
    }
}

#[test]
fn a_denial_that_names_no_tool_is_a_mistake() {
    for deny in [
        "Bash;",
        "Bash|Write",
        "Bash\\u200b",
        "!Bash",
        "Read, `Bash`",
        "(x)",
        "Bash:*",
        "WebFetch/evil.com",
    ] {
        let deny = format!("deny = [\"{deny}\"]\n");
        let host = under(with_skills(Host::stdin()), &format!("[tools]\n{deny}"));
        host.blocks("shell_exec", &json!({"command": "ls"}))
            .has("not the name of a tool");
        host.allows("file_head", &json!({"path": "x"}));
        let doctor = host.person(&["doctor"]);
        doctor.ends(1).stdout.has("not the name of a tool");

        let host = with_skills(Host::stdin());
        host.activates("q");
        host.config(&deny);
        host.blocks("shell_exec", &json!({"command": "ls"}))
            .has("not the name of a tool");

        let host = with_skills(Host::stdin()).skill("broken", "disallowed-tools: Bash;", "");
        host.succeeds(&["info", "broken"]).has("denies every tool");
        host.activates("broken")
            .blocks("shell_exec", &json!({"command": "ls"}));
        host.blocks("call_user", &json!({}));
    }
}

#[test]
fn a_denied_prefix_covers_what_a_granted_one_may_not() {
    let deny = "[\"vfs_*\", \"sche*\", \"read_skill_*\", \"run_skill_*\", \"mcp__github__*\"]";
    let calls = [
        ("vfs_delete", json!({"path": "vfs:///shared/x"})),
        ("scheme_eval", json!({"code": "1"})),
        ("read_skill_file", json!({"skill": "q", "path": "x"})),
        ("run_skill_script", json!({"skill": "q", "script": "x.sh"})),
        ("github_delete_repo", json!({})),
    ];
    let policy = format!("[tools]\ndeny = {deny}\n");
    let by_policy = under(with_skills(Host::stdin()), &policy);
    let denying = format!("disallowed-tools: {deny}");
    let by_skill = with_skills(Host::stdin()).skill("careful", &denying, "");
    by_skill.activates("careful");
    for host in [by_policy, by_skill] {
        for (tool, arguments) in &calls {
            host.blocks(tool, arguments);
        }
        host.allows("file_head", &json!({"path": "x"}));
    }
}
