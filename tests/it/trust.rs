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
    let ways: [Way; 12] = [
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
        ("a hidden file beside the skills", |host| {
            fs::write(host.project().join(".claude/skills/.shared"), "x").unwrap();
        }),
        ("a directory without a skill beside it", |host| {
            fs::create_dir(host.project().join(".claude/skills/lib")).unwrap();
            fs::write(host.project().join(".claude/skills/lib/x.sh"), "x").unwrap();
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

/// What of a project changed is asked for again, and said; the rest stays.
#[test]
fn trust_is_given_to_each_skill_for_itself() {
    for host in Host::both() {
        let place = host.project().join(".claude/skills");
        for name in ["evil", "good", "fine"] {
            put(&place, name, "", name);
            fs::write(place.join(name).join("run.sh"), "echo").unwrap();
        }
        let told = host.succeeds(&["trust"]);
        assert!(told.contains(".claude/skills/evil: new"), "{told}");
        fs::write(
            place.join("evil/SKILL.md"),
            "---\nname: evil\ndescription: EVIL\n---\nEVIL",
        )
        .unwrap();
        fs::remove_file(place.join("evil/run.sh")).unwrap();
        fs::write(place.join("evil/more.sh"), "echo").unwrap();
        put(&host.project().join(".agents/skills"), "late", "", "EVIL");
        assert!(!reaches_the_model(&host));
        for (name, offered) in [
            ("evil", false),
            ("late", false),
            ("good", true),
            ("fine", true),
        ] {
            assert_eq!(is_offered(&host, name), offered, "{name}");
        }
        let changed = "SKILL.md, more.sh (new), run.sh (gone)";
        for told in [
            host.succeeds(&["trust", "--list"]),
            host.succeeds(&["info", "evil"]).replace('\n', " "),
        ] {
            assert!(told.contains(changed), "{told}");
            // What it may use is not told either, so it is not said to be everything.
            assert!(!told.contains("every tool"), "{told}");
        }
        assert!(
            host.person(&["doctor"])
                .stdout
                .contains("has more than it had")
        );
        // One is trusted, and the others stay what they are.
        let told = host.succeeds(&["trust", "--skill", "late"]);
        assert!(
            told.contains(".agents/skills/late: new") && !told.contains("evil"),
            "{told}"
        );
        assert!(
            is_offered(&host, "late") && !is_offered(&host, "evil") && is_offered(&host, "good")
        );
        host.succeeds(&["untrust", "--skill", "good"]);
        assert!(
            !is_offered(&host, "good") && is_offered(&host, "fine") && is_offered(&host, "late")
        );
        let told = host.fails(&["trust", "--skill", "none"]);
        assert!(told.contains("no skill of the project"), "{told}");
        assert!(
            host.fails(&["untrust", "--skill", "good"])
                .contains("was not trusted")
        );
        let told = host.succeeds(&["trust"]);
        assert!(
            told.contains(&format!("evil: changed since: {changed}")),
            "{told}"
        );
        assert!(told.contains("fine: as before"), "{told}");
        assert!(is_offered(&host, "evil") && is_offered(&host, "good"));
    }
}

/// A skill whose file is the name of another one's is not what it was when that one changes.
#[test]
fn what_stands_in_another_skills_file_is_trusted_with_it() {
    let host = Host::stdin();
    let place = host.project().join(".claude/skills");
    put(&place, "other", "", "fine");
    fs::create_dir_all(place.join("evil")).unwrap();
    fs::write(place.join("evil/SKILL.md"), "../other/SKILL.md").unwrap();
    let name = |name: &str, text: &str| {
        let text = format!("---\nname: {name}\ndescription: {text}\n---\n{text}\n");
        fs::write(place.join("other/SKILL.md"), text).unwrap();
    };
    name("evil", "EVIL");
    host.succeeds(&["trust", "--skill", "evil"]);
    assert!(is_offered(&host, "evil"));
    name("evil", "EVIL, and worse");
    assert!(!reaches_the_model(&host));
}

#[test]
fn only_a_trusted_configuration_counts_whatever_else_is_trusted() {
    let host = Host::stdin().skill("careful", "", "");
    put(&host.project().join(".chibi/skills"), "fine", "", "fine");
    host.succeeds(&["trust"]);
    let file = host.project().join(".chibi/agent-skills.toml");
    let is_hidden = || !is_offered(&host, "careful");
    fs::write(&file, "[visibility]\ncareful = \"off\"\n").unwrap();
    assert!(!is_hidden() && is_offered(&host, "fine"));
    host.succeeds(&["trust"]);
    assert!(is_hidden());
    fs::write(&file, "[visibility]\ncareful = \"off\"\nfine = \"off\"\n").unwrap();
    assert!(!is_hidden() && is_offered(&host, "fine"));
}

/// `sha256:` of everything, as the first version of the record had it.
#[test]
fn a_record_of_the_first_version_counts_for_what_it_covers() {
    let host = Host::stdin();
    evil(&host.project().join(".claude/skills"));
    let key = host.project().canonicalize().unwrap();
    let key = key.to_str().unwrap();
    let file = host.plugin_dir().join("trust.json");
    let record = |version: u32, trusted: &serde_json::Value| {
        let text = json!({"version": version, "entries": {key: trusted}}).to_string();
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    };
    // What version 1 recorded for the files that `evil` writes.
    let digest = "sha256:2bc907e8f1c50c07ce5ec02e6e5f8a7c95e39f10866dae2b3ad055487dc36810";
    record(1, &json!(digest));
    assert!(reaches_the_model(&host));
    put(&host.project().join(".claude/skills"), "more", "", "x");
    assert!(!is_offered(&host, "evil") && !is_offered(&host, "more"));
    host.succeeds(&["trust"]);
    assert!(is_offered(&host, "evil") && is_offered(&host, "more"));
    let written: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written["version"], 2);
    record(1, &json!("always"));
    assert!(is_offered(&host, "evil"));
    for (version, odd) in [
        (3, json!("always")),
        (0, json!("always")),
        (2, json!(1)),
        (2, json!({".claude/skills/evil": "always"})),
        (2, json!({".claude/skills/evil": {"digest": "always"}})),
        (2, json!("")),
    ] {
        record(version, &odd);
        assert!(!reaches_the_model(&host), "{version} {odd}");
    }
}
