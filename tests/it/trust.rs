//! Skills that come with a project: nothing of them reaches the model until their user trusts them,
//! whichever way they come, and whatever changes asks again.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::json;

use crate::Host;
use crate::layers::{codes, installed, is_offered, put};

/// Whether anything of the skill `evil` can be had, by any way to it.
#[track_caller]
fn reaches_the_model(host: &Host) -> bool {
    let offered = is_offered(host, "evil");
    let mut answers = vec![host.tool("skill_evil", &json!({}))];
    for skill in ["evil", "project/evil", "Evil", "skill_evil"] {
        answers.push(host.tool(
            "read_skill_file",
            &json!({"skill": skill, "path": "from.txt"}),
        ));
        answers.push(host.tool(
            "run_skill_script",
            &json!({"skill": skill, "script": "run.sh"}),
        ));
    }
    answers.push(host.tool("skill_marketplace", &json!({"action": "list_installed"})));
    answers.push(host.tool(
        "skill_marketplace",
        &json!({"action": "info", "skill_ref": "evil"}),
    ));
    let told = answers.iter().any(|answer| answer.contains("EVIL"));
    assert_eq!(told, offered, "{answers:?}");
    offered
}

fn evil(dir: &Path) {
    put(dir, "evil", "license: EVIL", "EVIL");
    fs::write(dir.join("evil/run.sh"), "echo EVIL\n").unwrap();
}

type Way = (&'static str, fn(&mut Host));

/// In each, the skill `evil` comes with a project that nobody trusts.
const WAYS: [Way; 24] = [
    (".chibi/skills", |host| {
        evil(&host.project().join(".chibi/skills"));
    }),
    (".agents/skills", |host| {
        evil(&host.project().join(".agents/skills"));
    }),
    (".claude/skills", |host| {
        evil(&host.project().join(".claude/skills"));
    }),
    ("another case", |host| {
        evil(&host.project().join(".Claude/Skills"));
    }),
    ("a directory on the way to the root", |host| {
        let deep = host.project().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        evil(&host.project().join("a/.claude/skills"));
        host.cwd(&deep);
    }),
    ("a link to skills", |host| {
        evil(&host.project().join("hidden"));
        fs::create_dir(host.project().join(".claude")).unwrap();
        symlink("../hidden", host.project().join(".claude/skills")).unwrap();
    }),
    ("a link to a skill", |host| {
        evil(&host.project().join("hidden"));
        fs::create_dir_all(host.project().join(".claude/skills")).unwrap();
        symlink(
            "../../hidden/evil",
            host.project().join(".claude/skills/evil"),
        )
        .unwrap();
    }),
    ("a link to everything", |host| {
        evil(&host.project().join("hidden/skills"));
        symlink("hidden", host.project().join(".agents")).unwrap();
    }),
    ("a link to the project", |host| {
        evil(&host.project().join(".claude/skills"));
        let link = host.home().join("link");
        symlink(host.project(), &link).unwrap();
        host.cwd(&link);
    }),
    ("the project as root of another directory", |host| {
        let project = host.home().join("other");
        evil(&project.join(".claude/skills"));
        *host = std::mem::replace(host, Host::stdin())
            .var("CHIBI_PROJECT_ROOT", project.to_str().unwrap());
    }),
    ("a relative root", |host| {
        evil(&host.project().join("sub/.claude/skills"));
        *host = std::mem::replace(host, Host::stdin()).var("CHIBI_PROJECT_ROOT", "sub");
    }),
    ("the project as home", |host| {
        evil(&host.project().join(".chibi/skills"));
        let project = host.project().to_str().unwrap().to_owned();
        *host = std::mem::replace(host, Host::stdin()).var("HOME", &project);
    }),
    ("a home in the project", |host| {
        evil(&host.project().join("home/.agents/skills"));
        let home = host.project().join("home").to_str().unwrap().to_owned();
        *host = std::mem::replace(host, Host::stdin()).var("HOME", &home);
    }),
    ("a home that is a link into the project", |host| {
        evil(&host.project().join("home/.agents/skills"));
        let link = host.home().join("linked-home");
        symlink(host.project().join("home"), &link).unwrap();
        *host = std::mem::replace(host, Host::stdin()).var("HOME", link.to_str().unwrap());
    }),
    ("a trust record of its own", |host| {
        evil(&host.project().join(".chibi/skills"));
        let key = host.project().canonicalize().unwrap();
        let record = json!({"version": 1, "entries": {key.to_str().unwrap(): "always"}});
        fs::write(host.project().join(".chibi/trust.json"), record.to_string()).unwrap();
        let state = host.project().join("state");
        fs::create_dir_all(state.join("agent-skills")).unwrap();
        fs::write(state.join("agent-skills/trust.json"), record.to_string()).unwrap();
        *host =
            std::mem::replace(host, Host::stdin()).var("XDG_STATE_HOME", state.to_str().unwrap());
    }),
    ("a trust record that anybody can write", |host| {
        evil(&host.project().join(".chibi/skills"));
        host.succeeds(&["trust"]);
        let file = host.plugin_dir().join("trust.json");
        fs::set_permissions(file, Permissions::from_mode(0o666)).unwrap();
    }),
    ("a broken trust record", |host| {
        evil(&host.project().join(".chibi/skills"));
        fs::write(
            host.plugin_dir().join("trust.json"),
            "{\"version\":1,\"entries\":\"always\"}",
        )
        .unwrap();
    }),
    ("trust in the directory above", |host| {
        put(&host.home().join(".claude/skills"), "fine", "", "fine");
        evil(&host.project().join(".claude/skills"));
        let home = host.home().to_owned();
        host.succeeds(&["trust", "--always", home.to_str().unwrap()]);
    }),
    ("trust in a directory below", |host| {
        put(&host.project().join("a/.claude/skills"), "fine", "", "fine");
        host.succeeds(&["trust", "--always", "a"]);
        evil(&host.project().join(".claude/skills"));
    }),
    ("trust in another directory of the same content", |host| {
        let twin = host.home().join("twin");
        evil(&twin.join(".claude/skills"));
        host.succeeds(&["trust", twin.to_str().unwrap()]);
        evil(&host.project().join(".claude/skills"));
    }),
    ("its own configuration", |host| {
        evil(&host.project().join(".chibi/skills"));
        let text =
            "trust = \"always\"\nproject_over_personal = true\n[visibility]\nevil = \"on\"\n";
        fs::write(host.project().join(".chibi/agent-skills.toml"), text).unwrap();
        fs::write(host.project().join(".chibi/config.toml"), text).unwrap();
    }),
    ("the user's choice of visibility", |host| {
        evil(&host.project().join(".chibi/skills"));
        fs::write(
            host.plugin_dir().join("config.toml"),
            "[visibility]\nevil = \"on\"\n",
        )
        .unwrap();
    }),
    ("a layer in its frontmatter", |host| {
        let more = "layer: enterprise\npriority: 99999\nscope: {layer: plugin}\nlicense: EVIL";
        put(&host.project().join(".claude/skills"), "evil", more, "EVIL");
    }),
    ("a lockfile that says it was installed", |host| {
        evil(&host.project().join(".chibi/skills"));
        let lock = json!({"version": 1, "skills": [{"name": "evil", "source": "https://github.com/anthropics/skills"}]});
        fs::write(
            host.project().join(".chibi/skills.lock.json"),
            lock.to_string(),
        )
        .unwrap();
    }),
];

#[test]
fn no_way_leads_round_trust() {
    for (way, go) in WAYS {
        let mut host = Host::stdin();
        go(&mut host);
        assert!(!reaches_the_model(&host), "{way}");
    }
}

#[test]
fn whatever_changes_after_trust_asks_again() {
    let ways: [Way; 14] = [
        ("SKILL.md", |host| {
            put(
                &host.project().join(".claude/skills"),
                "evil",
                "license: EVIL",
                "EVIL 2",
            );
        }),
        ("a script", |host| {
            fs::write(host.project().join(".claude/skills/evil/run.sh"), "echo 2").unwrap();
        }),
        ("a script of the same length and time", |host| {
            let script = host.project().join(".claude/skills/evil/run.sh");
            let times = fs::FileTimes::new()
                .set_modified(fs::metadata(&script).unwrap().modified().unwrap());
            fs::write(&script, "echo LIVE\n").unwrap();
            fs::File::options()
                .write(true)
                .open(script)
                .unwrap()
                .set_times(times)
                .unwrap();
        }),
        ("a further file", |host| {
            fs::write(host.project().join(".claude/skills/evil/x"), "").unwrap();
        }),
        ("a file less", |host| {
            fs::remove_file(host.project().join(".claude/skills/evil/run.sh")).unwrap();
        }),
        ("a bit", |host| {
            let script = host.project().join(".claude/skills/evil/run.sh");
            fs::set_permissions(script, Permissions::from_mode(0o755)).unwrap();
        }),
        ("a name", |host| {
            let dir = host.project().join(".claude/skills/evil");
            fs::rename(dir.join("run.sh"), dir.join("run2.sh")).unwrap();
        }),
        ("a further skill", |host| {
            put(&host.project().join(".claude/skills"), "x", "", "x");
        }),
        ("a hidden file beside the skills", |host| {
            fs::write(host.project().join(".claude/skills/.shared"), "x").unwrap();
        }),
        ("further skills", |host| {
            put(&host.project().join(".agents/skills"), "x", "", "x");
        }),
        ("its configuration", |host| {
            fs::create_dir(host.project().join(".chibi")).unwrap();
            fs::write(host.project().join(".chibi/agent-skills.toml"), "").unwrap();
        }),
        ("what a link leads to", |host| {
            fs::write(host.project().join("outside.txt"), "2").unwrap();
        }),
        ("where a link leads", |host| {
            let link = host.project().join(".claude/skills/evil/link");
            fs::remove_file(&link).unwrap();
            symlink("../../../other.txt", link).unwrap();
        }),
        ("a circle", |host| {
            symlink(".", host.project().join(".claude/skills/evil/self")).unwrap();
        }),
    ];
    for (way, change) in ways {
        let mut host = Host::stdin();
        evil(&host.project().join(".claude/skills"));
        fs::write(host.project().join("outside.txt"), "1").unwrap();
        fs::write(host.project().join("other.txt"), "2").unwrap();
        symlink(
            "../../../outside.txt",
            host.project().join(".claude/skills/evil/link"),
        )
        .unwrap();
        host.succeeds(&["trust"]);
        assert!(reaches_the_model(&host), "{way}");
        change(&mut host);
        assert!(!is_offered(&host, "evil"), "{way}");
        assert!(
            codes(&host, "evil").contains(&"hidden-untrusted".to_owned()),
            "{way}"
        );
        host.knows_not("evil");
        if way != "a circle" {
            host.succeeds(&["trust"]);
            assert!(is_offered(&host, "evil"), "{way}");
        }
    }
}

#[test]
fn trust_is_told_given_always_listed_and_taken_away() {
    for host in Host::both() {
        evil(&host.project().join(".claude/skills"));
        let (answer, told) =
            host.hook_with_stderr("post_system_prompt", &json!({"context_name": "default"}));
        assert_eq!(answer, json!({}));
        let lines: Vec<&str> = told.lines().collect();
        assert!(
            lines.len() == 1 && lines[0].contains("agent-skills trust "),
            "{told}"
        );
        assert!(installed(&host).iter().any(|skill| skill["name"] == "evil"
            && skill["offered"] == false
            && skill["layer"] == "project"));

        let answer = host.succeeds(&["trust", "--always"]);
        assert!(answer.contains("whatever becomes of it"), "{answer}");
        put(
            &host.project().join(".claude/skills"),
            "evil",
            "",
            "something else",
        );
        assert!(is_offered(&host, "evil"));
        assert!(host.succeeds(&["trust", "--list"]).contains("  always"));
        host.succeeds(&["trust", "."]);
        fs::write(host.project().join(".claude/skills/evil/x"), "").unwrap();
        assert!(
            host.succeeds(&["trust", "--list"])
                .contains("changed since")
        );
        host.succeeds(&["untrust"]);
        assert!(!is_offered(&host, "evil"));
        assert!(host.fails(&["untrust"]).contains("was not trusted"));
        assert_eq!(
            host.succeeds(&["trust", "--list"]),
            "No project is trusted.\n"
        );
        let mode = fs::metadata(host.plugin_dir().join("trust.json"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::remove_dir_all(host.project().join(".claude")).unwrap();
        assert!(host.fails(&["trust"]).contains("has no skills"));
    }
}

#[test]
fn an_untrusted_skill_takes_nobodys_place_and_a_restriction_in_force_stays() {
    for host in Host::both() {
        put(&host.skills_dir(), "evil", "", "plugin");
        evil(&host.project().join(".claude/skills"));
        assert!(
            host.tool("skill_evil", &json!({}))
                .contains("Body from plugin.")
        );
        let careful = host.project().join(".claude/skills");
        put(&careful, "careful", "allowed-tools: Read", "project");
        host.succeeds(&["trust"]);
        host.activates("careful");
        host.succeeds(&["untrust"]);
        host.blocks("shell_exec", &json!({"command": "ls"}));
    }
}

#[test]
fn the_model_can_neither_trust_nor_configure() {
    for host in Host::both() {
        evil(&host.project().join(".claude/skills"));
        for words in [
            json!(["trust"]),
            json!(["trust", "--always"]),
            json!(["approve", "evil"]),
            json!(["enable", "evil"]),
            json!(["config", "set", "enforce", "off"]),
        ] {
            let args = json!({"args": words});
            host.blocks("agent-skills", &args);
            host.blocks("skill_marketplace", &args);
        }
        assert!(!reaches_the_model(&host));
        assert!(
            !host.plugin_dir().join("trust.json").exists()
                && !host.plugin_dir().join("config.toml").exists()
        );
    }
}

#[test]
fn a_trusted_projects_configuration_tightens_and_never_loosens() {
    for host in Host::both() {
        let host = host
            .skill("careful", "allowed-tools: Read", "")
            .skill("free", "", "");
        let project = host.project().join(".chibi/agent-skills.toml");
        fs::create_dir_all(project.parent().unwrap()).unwrap();
        let own = |text: &str| fs::write(host.plugin_dir().join("config.toml"), text).unwrap();
        let shell = json!({"command": "ls"});
        own("enforce = \"off\"");
        fs::write(
            &project,
            "enforce = \"restrict\"\nstacking = \"ratchet\"\ndeny = [\"WebFetch\"]\n",
        )
        .unwrap();
        host.activates("careful");
        host.allows("shell_exec", &shell);
        host.succeeds(&["trust"]);
        host.blocks("shell_exec", &shell);
        host.activates("free");
        host.blocks("shell_exec", &shell);
        host.starts().activates("free");
        host.allows("shell_exec", &shell);
        assert!(
            host.blocks("fetch_url", &json!({"url": "https://example.com"}))
                .contains("configuration")
        );

        own("enforce = \"restrict\"\nstacking = \"intersect\"");
        fs::write(&project, "enforce = \"off\"\nstacking = \"union\"\n").unwrap();
        host.succeeds(&["trust"]);
        host.starts().activates("careful").activates("free");
        host.blocks("shell_exec", &shell);

        fs::write(&project, "\nalways_allowed = [\"shell_exec\"]\n").unwrap();
        host.succeeds(&["trust"]);
        let message = host.blocks("shell_exec", &shell);
        assert!(
            message.contains("line 2") && message.contains("always_allowed"),
            "{message}"
        );
    }
}
