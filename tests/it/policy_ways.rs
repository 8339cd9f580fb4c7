//! What an administrator's policy says of skills holds, whichever way one tries.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::Host;
use crate::layers::{codes, is_offered, put};
use crate::policy::{lockfile, own, under, with_var};

type Way = (&'static str, &'static str, fn(&mut Host));

/// In each, `evil` is there and the policy forbids it.
#[test]
fn no_way_leads_round_what_the_policy_says_of_skills() {
    const BLOCK: &str = "[skills]\nblock = [\"evil*\"]\n";
    const ALLOW: &str = "[skills]\nallow = [\"acme-*\"]\n";
    const SOURCES: &str = "[sources]\nallow = [\"github.com/acme/*\"]\n";
    const SCRIPTS: &str = "[approval]\nrequire = [\"scripts\"]\n";
    const ALL: &str = "[approval]\nrequire = [\"all\"]\n";
    let ways: [Way; 32] = [
        ("plugin", BLOCK, |host| {
            put(&host.skills_dir(), "evil", "", "x");
        }),
        ("personal", BLOCK, |host| {
            put(&host.home().join(".agents/skills"), "evil", "", "x");
        }),
        ("enterprise", BLOCK, |host| {
            put(&host.home().join("enterprise/skills"), "evil", "", "x");
        }),
        ("project", BLOCK, |host| {
            put(&host.project().join(".agents/skills"), "evil", "", "x");
            host.succeeds(&["trust", "--yes", "--always"]);
        }),
        (
            "letters of another case",
            "[skills]\nblock = [\"EVIL\"]",
            |host| put(&host.skills_dir(), "evil", "", "x"),
        ),
        (
            "a name as an author writes it",
            "[skills]\nblock = [\"Evil!\"]",
            |host| put(&host.skills_dir(), "evil", "", "x"),
        ),
        ("a name in capitals", BLOCK, |host| {
            put(&host.skills_dir(), "x", "", "x");
            fs::write(
                host.skills_dir().join("x/SKILL.md"),
                "---\nname: EVIL\ndescription: d\n---\n",
            )
            .unwrap();
        }),
        ("a name in wide letters", BLOCK, |host| {
            put(&host.skills_dir(), "x", "", "x");
            fs::write(
                host.skills_dir().join("x/SKILL.md"),
                "---\nname: ｅｖｉｌ\ndescription: d\n---\n",
            )
            .unwrap();
        }),
        (
            "the directory's name blocked, another one inside",
            "[skills]\nblock = [\"blocked-dir\"]",
            |host| {
                put(&host.skills_dir(), "blocked-dir", "", "x");
                fs::write(
                    host.skills_dir().join("blocked-dir/SKILL.md"),
                    "---\nname: evil\ndescription: d\n---\n",
                )
                .unwrap();
            },
        ),
        (
            "a directory that is allowed, another name inside",
            ALLOW,
            |host| {
                put(&host.skills_dir(), "acme-tool", "", "x");
                fs::write(
                    host.skills_dir().join("acme-tool/SKILL.md"),
                    "---\nname: evil\ndescription: d\n---\n",
                )
                .unwrap();
            },
        ),
        ("a link", BLOCK, |host| {
            put(&host.home().join("real"), "evil", "", "x");
            symlink(
                host.home().join("real/evil"),
                host.skills_dir().join("fine"),
            )
            .unwrap();
        }),
        ("not allowed", ALLOW, |host| {
            put(&host.skills_dir(), "evil", "", "x");
        }),
        (
            "an empty list allows nothing",
            "[skills]\nallow = []",
            |host| put(&host.skills_dir(), "evil", "", "x"),
        ),
        ("enabled", BLOCK, |host| {
            put(&host.skills_dir(), "evil", "", "x");
            own(host, "[visibility]\nevil = \"on\"");
        }),
        ("approved", BLOCK, |host| {
            put(&host.skills_dir(), "evil", "", "x");
            host.succeeds(&["approve", "--yes", "evil"]);
        }),
        ("an unknown source", SOURCES, |host| {
            put(&host.skills_dir(), "evil", "", "x");
        }),
        ("another source", SOURCES, |host| {
            from(host, "https://github.com/acme-evil/skills");
        }),
        ("a source that holds the other's name", SOURCES, |host| {
            from(host, "https://evil.example/github.com/acme/skills");
        }),
        ("a source with the other's name as user", SOURCES, |host| {
            from(host, "https://github.com/acme@evil.example/skills");
        }),
        (
            "a blocked source",
            "[sources]\nblock = [\"github.com/evil/*\"]",
            |host| from(host, "https://GitHub.com/Evil/skills"),
        ),
        ("a lockfile of the project's", SOURCES, |host| {
            put(&host.project().join(".chibi/skills"), "evil", "", "x");
            fs::write(
                host.project().join(".chibi/skills.lock.json"),
                lockfile("https://github.com/acme/skills"),
            )
            .unwrap();
            host.succeeds(&["trust", "--yes", "--always"]);
        }),
        (
            "projects forbidden",
            "[project]\ntrust = \"never\"",
            |host| {
                put(&host.project().join(".chibi/skills"), "evil", "", "x");
                let key = host.project().canonicalize().unwrap();
                let record = json!({"version": 1, "entries": {key.to_str().unwrap(): "always"}});
                fs::write(host.plugin_dir().join("trust.json"), record.to_string()).unwrap();
            },
        ),
        ("an unapproved script", SCRIPTS, |host| scripted(host)),
        ("a script in a nested skill", SCRIPTS, |host| {
            put(&host.skills_dir(), "evil", "", "x");
            put(&host.skills_dir().join("evil"), "inner", "", "x");
            fs::write(host.skills_dir().join("evil/inner/run.sh"), "echo").unwrap();
        }),
        ("a script changed after its approval", SCRIPTS, |host| {
            scripted(host);
            host.succeeds(&["approve", "--yes", "evil"]);
            assert!(is_offered(host, "evil"));
            fs::write(host.skills_dir().join("evil/run.sh"), "echo 2").unwrap();
        }),
        ("the approval of a namesake", ALL, |host| {
            put(&host.home().join(".agents/skills"), "evil", "", "good");
            host.succeeds(&["approve", "--yes", "evil"]);
            fs::remove_dir_all(host.home().join(".agents")).unwrap();
            put(&host.skills_dir(), "evil", "", "bad");
        }),
        ("an approval that anybody can write", ALL, |host| {
            put(&host.skills_dir(), "evil", "", "x");
            host.succeeds(&["approve", "--yes", "evil"]);
            fs::set_permissions(
                host.plugin_dir().join("approvals.json"),
                Permissions::from_mode(0o666),
            )
            .unwrap();
        }),
        ("a policy of its own that allows", BLOCK, |host| {
            put(&host.skills_dir(), "evil", "", "x");
            let mine = host.home().join("mine.toml");
            fs::write(&mine, "[skills]\nallow = [\"*\"]\nblock = []\n").unwrap();
            with_var(host, "AGENT_SKILLS_POLICY", mine.to_str().unwrap());
        }),
        ("a policy added by a variable", "", |host| {
            put(&host.skills_dir(), "evil", "", "x");
            let mine = host.home().join("mine.toml");
            fs::write(&mine, BLOCK).unwrap();
            with_var(host, "AGENT_SKILLS_POLICY", mine.to_str().unwrap());
        }),
        ("another plugin directory", BLOCK, |host| {
            let other = host.home().join("other");
            put(&other.join("skills"), "evil", "", "x");
            with_var(host, "AGENT_SKILLS_HOME", other.to_str().unwrap());
        }),
        ("another home", BLOCK, |host| {
            let other = host.home().join("other");
            put(&other.join(".chibi/skills"), "evil", "", "x");
            with_var(host, "HOME", other.to_str().unwrap());
        }),
        ("a configuration with a mistake", "", |host| {
            put(&host.skills_dir(), "evil", "", "x");
            own(host, "[visibility]\nevil = \"offf\"");
        }),
    ];
    for (way, policy, go) in ways {
        let mut host = under(Host::stdin(), policy);
        go(&mut host);
        assert!(!is_offered(&host, "evil"), "{way}");
        let hidden = |code: &String| code.starts_with("hidden-");
        assert!(codes(&host, "evil").iter().any(hidden), "{way}");
        host.knows_not("evil");
        for skill in ["evil", "plugin/evil", "personal/evil", "acme/evil"] {
            let read = host.tool(
                "read_skill_file",
                &json!({"skill": skill, "path": "SKILL.md"}),
            );
            assert!(read.starts_with("Error: "), "{way}: {skill}");
            let run = host.tool(
                "run_skill_script",
                &json!({"skill": skill, "script": "run.sh"}),
            );
            assert!(run.starts_with("Error: "), "{way}: {skill}");
        }
    }
}

#[test]
fn namesakes_are_approved_each_for_itself() {
    let host = under(Host::stdin(), "[approval]\nrequire = [\"all\"]\n");
    put(&host.skills_dir(), "d", "", "plugin");
    put(&host.home().join(".chibi/skills"), "d", "", "personal");
    for layer in ["plugin", "personal"] {
        let told = host.succeeds(&["info", &format!("{layer}/d")]);
        let hint = format!("agent-skills approve {layer}/d");
        assert!(told.contains(&hint), "{told}");
        host.succeeds(&["approve", "--yes", &format!("{layer}/d")]);
    }
    for layer in ["plugin", "personal"] {
        assert_eq!(crate::layers::read(&host, &format!("{layer}/d")), layer);
    }
    // Of one directory only the last state is approved.
    let file = host.skills_dir().join("d/from.txt");
    fs::write(&file, "new").unwrap();
    host.succeeds(&["approve", "--yes", "plugin/d"]);
    assert_eq!(crate::layers::read(&host, "plugin/d"), "new");
    fs::write(&file, "plugin").unwrap();
    assert!(crate::layers::read(&host, "plugin/d").starts_with("Error: "));
}

fn scripted(host: &Host) {
    put(&host.skills_dir(), "evil", "", "x");
    fs::write(host.skills_dir().join("evil/run.sh"), "echo").unwrap();
}

fn from(host: &Host, source: &str) {
    put(&host.skills_dir(), "evil", "", "x");
    fs::write(host.plugin_dir().join("skills.lock.json"), lockfile(source)).unwrap();
}
