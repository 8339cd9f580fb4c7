//! Who may use which skill: every way to name, hide, disable and shadow one, in every layer. An
//! administrator's skill is the only one of its name, and nothing that a project or a person's
//! configuration says hides it.

use std::fs;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, write_at};
use crate::layers::{LAYERS, installed, is_offered, layer_dir, put, with_layers};

/// What a model gets when it asks for `written` in every way there is.
fn asked_for(host: &Host, written: &str) -> Vec<String> {
    let by_name = |tool: &str, arguments: &Value| {
        // As the model calls it: what is activated is what `pre_tool` let become active.
        let answer = host.pre_tool(tool, arguments);
        if answer["block"] == json!(true) {
            return answer.to_string();
        }
        host.tool(tool, arguments)
    };
    let proposal = json!({"skill": written, "justification": "j", "diff":
        "--- a/from.txt\n+++ b/from.txt\n@@\n-LOWER\n+x\n"});
    by_name("propose_skill_update", &proposal).lacks("Nothing has changed");
    let ways = [
        (
            "skill_marketplace",
            json!({"action": "use", "skill_ref": written}),
        ),
        (
            "skill_session",
            json!({"action": "load", "names": [written]}),
        ),
        (
            "read_skill_file",
            json!({"skill": written, "path": "from.txt"}),
        ),
        (
            "run_skill_script",
            json!({"skill": written, "script": "run.sh"}),
        ),
    ];
    ways.map(|(tool, arguments)| by_name(tool, &arguments))
        .to_vec()
}

fn names(layer: &str) -> Vec<String> {
    let plain = ["deploy", "Deploy", "skill_deploy", "deploy-dir"].map(str::to_owned);
    let qualified = [
        format!("{layer}/deploy"),
        format!("{layer}/deploy-dir"),
        format!("{layer}/skill_deploy"),
        "acme/deploy".to_owned(),
        "deploy@acme".to_owned(),
    ];
    plain.into_iter().chain(qualified).collect()
}

/// Puts a skill `deploy` into another directory's name, from an account, with a script.
fn lower(host: &Host, layer: &str) {
    let dir = layer_dir(host, layer);
    put(&dir, "deploy-dir", "", "LOWER");
    let text = "---\nname: deploy\ndescription: From LOWER.\n---\nBody from LOWER.\n";
    fs::write(dir.join("deploy-dir/SKILL.md"), text).unwrap();
    fs::write(dir.join("deploy-dir/run.sh"), "echo LOWER\n").unwrap();
    let lock = json!({"version": 1, "skills": [{
        "id": "x", "name": "deploy-dir", "source": "https://github.com/acme/skills", "kind": "git",
        "requested": "x", "ref": null, "commit": null, "path": "", "tree": null, "sha256": "",
        "files": {}, "license": null,
    }]});
    let base = dir.parent().unwrap();
    fs::write(base.join("skills.lock.json"), lock.to_string()).unwrap();
    if layer == "project" {
        host.succeeds(&["trust", "--yes"]);
    }
}

type Try = (&'static str, fn(&Host));

/// What somebody below the administrator can write to have the enterprise skill `deploy` out of the
/// way.
const TRIES: [Try; 11] = [
    ("nothing", |_| {}),
    ("a person's `off`", |host| {
        host.config("[visibility]\ndeploy = \"off\"\n");
    }),
    ("a person's `user`", |host| {
        host.config("[visibility]\ndeploy = \"user\"\n");
    }),
    ("a person's `name-only`", |host| {
        host.config("[visibility]\ndeploy = \"name-only\"\n");
    }),
    ("a catalog without it", |host| {
        host.config("[catalog]\n\"*\" = [\"other\"]\n");
    }),
    ("a catalog with the other one", |host| {
        host.config("[catalog]\n\"*\" = [\"plugin-deploy\", \"deploy-dir\"]\n");
    }),
    ("always on", |host| {
        host.config(
            "[uses_skills]\n\"*\" = [\"plugin/deploy\", \"project/deploy\", \"personal/deploy\"]\n",
        );
    }),
    ("`disable`", |host| {
        host.fails(&["disable", "deploy"])
            .has("the administrator's");
        host.fails(&["disable", "--user", "enterprise/deploy"]);
        host.fails(&["enable", "--name-only", "deploy"]);
    }),
    ("a project's `off`", |host| {
        project(host, "[visibility]\ndeploy = \"off\"\n");
    }),
    ("a project's `name-only`", |host| {
        project(host, "[visibility]\ndeploy = \"name-only\"\n");
    }),
    ("a priority", |host| {
        for layer in ["personal", "project", "plugin"] {
            let file = layer_dir(host, layer).join("deploy-dir/SKILL.md");
            if let Ok(text) = fs::read_to_string(&file) {
                let more = "priority: 99999\nlayer: enterprise\ndescription";
                fs::write(&file, text.replacen("description", more, 1)).unwrap();
            }
        }
        let _ = host.person(&["trust", "--yes"]);
    }),
];

/// The administrator's skill, as this text.
fn theirs(host: &Host, text: &str) {
    write_at(layer_dir(host, "enterprise").join("deploy/SKILL.md"), text);
}

fn project(host: &Host, text: &str) {
    write_at(host.project().join(".chibi/agent-skills.toml"), text);
    host.succeeds(&["trust", "--yes"]);
}

#[test]
fn nothing_leads_round_an_enterprise_skill() {
    for (at, (what, go)) in TRIES.into_iter().enumerate() {
        // With nothing tried, of every layer; else of one, in turn.
        let below = &LAYERS[1..];
        let tried = if at == 0 {
            below
        } else {
            &below[at % 3..=at % 3]
        };
        for (of, layer) in tried.iter().enumerate() {
            let host = if (at + of) % 2 == 0 {
                Host::stdin()
            } else {
                Host::environment()
            };
            let host = with_layers(host);
            put(&layer_dir(&host, "enterprise"), "deploy", "", "ENTERPRISE");
            lower(&host, layer);
            go(&host);
            assert!(is_offered(&host, "deploy"), "{what}, {layer}");
            host.prompt().has("From ENTERPRISE.").lacks("LOWER");
            // Every way to name it, once; elsewhere one plain and one qualified.
            host.tool("skill_deploy", &json!({})).lacks("LOWER");
            let mut names = names(layer);
            if at + of > 0 {
                names = vec!["deploy".to_owned(), format!("{layer}/deploy")];
            }
            for written in names {
                for answer in asked_for(&host, &written) {
                    answer.lacks("LOWER");
                }
            }
            let all = installed(&host);
            let other = all.iter().find(|skill| skill["layer"] == *layer).unwrap();
            assert_eq!(other["offered"], false, "{what}, {layer}");
        }
    }
}

/// Whatever becomes of an administrator's skill, its name is nobody else's.
#[test]
fn an_enterprise_skill_that_cannot_be_used_frees_no_name() {
    let ways: [Try; 6] = [
        ("broken", |host| {
            theirs(host, "no frontmatter");
        }),
        ("without a description", |host| {
            theirs(host, "---\nname: deploy\n---\n");
        }),
        ("gone from its directory", |host| {
            fs::remove_file(layer_dir(host, "enterprise").join("deploy/SKILL.md")).unwrap();
        }),
        ("of another tenant", |host| {
            let more = "scope: {tenants: [acme]}";
            put(&layer_dir(host, "enterprise"), "deploy", more, "E");
        }),
        ("not for models", |host| {
            let more = "disable-model-invocation: true";
            put(&layer_dir(host, "enterprise"), "deploy", more, "E");
            host.config("[visibility]\ndeploy = \"on\"\n");
        }),
        ("not approved", |host| {
            let policy = host.home().join("enterprise/policy.toml");
            write_at(policy, "[approval]\nrequire = [\"all\"]\n");
            host.succeeds(&["approve", "--yes", "plugin/deploy"]);
            fs::write(layer_dir(host, "enterprise").join("deploy/more"), "x").unwrap();
        }),
    ];
    for (what, go) in ways {
        let host = with_layers(Host::stdin());
        put(&layer_dir(&host, "enterprise"), "deploy", "", "E");
        lower(&host, "plugin");
        // So that the index knows them, too.
        host.schema();
        host.prompt();
        go(&host);
        assert!(!is_offered(&host, "deploy"), "{what}");
        for written in ["deploy", "plugin/deploy"] {
            for answer in asked_for(&host, written) {
                assert!(!answer.contains("LOWER"), "{what}, {written}: {answer}");
            }
        }
    }
}
