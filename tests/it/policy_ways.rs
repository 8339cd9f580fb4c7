//! What an administrator's policy says of skills holds, whichever way one tries.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::Host;
use crate::host::{Has, write_at};
use crate::layers::{codes, is_offered, put};
use crate::policy::{lockfile, under, with_var};

type Way = (&'static str, &'static str, fn(&mut Host));

/// In each, `evil` is there and the policy forbids it.
#[test]
fn no_way_leads_round_what_the_policy_says_of_skills() {
    const BLOCK: &str = "[skills]\nblock = [\"evil*\"]\n";
    const ALLOW: &str = "[skills]\nallow = [\"acme-*\"]\n";
    const SOURCES: &str = "[sources]\nallow = [\"github.com/acme/*\"]\n";
    const EVIL_SOURCE: &str = "[sources]\nblock = [\"github.com/evil/*\"]";
    const SCRIPTS: &str = "[approval]\nrequire = [\"scripts\"]\n";
    const ALL: &str = "[approval]\nrequire = [\"all\"]\n";
    const DIR: &str = "[skills]\nblock = [\"blocked-dir\"]";
    let ways: [Way; 32] = [
        ("plugin", BLOCK, plain),
        ("personal", BLOCK, |host| evil(host, ".agents/skills", "x")),
        ("enterprise", BLOCK, |host| {
            evil(host, "enterprise/skills", "x");
        }),
        ("project", BLOCK, |host| {
            evil(host, "project/.agents/skills", "x");
            host.succeeds(&["trust", "--yes", "--always"]);
        }),
        ("another case", "[skills]\nblock = [\"EVIL\"]", plain),
        ("a written name", "[skills]\nblock = [\"Evil!\"]", plain),
        ("a name in capitals", BLOCK, |host| named(host, "x", "EVIL")),
        ("wide letters", BLOCK, |host| named(host, "x", "ｅｖｉｌ")),
        ("a blocked directory, another name inside", DIR, |host| {
            named(host, "blocked-dir", "evil");
        }),
        ("an allowed directory, another name inside", ALLOW, |host| {
            named(host, "acme-tool", "evil");
        }),
        ("a link", BLOCK, |host| {
            evil(host, "real", "x");
            let real = host.home().join("real/evil");
            symlink(real, host.skills_dir().join("fine")).unwrap();
        }),
        ("not allowed", ALLOW, plain),
        ("an empty list", "[skills]\nallow = []", plain),
        ("enabled", BLOCK, |host| {
            plain(host);
            host.config("[visibility]\nevil = \"on\"");
        }),
        ("approved", BLOCK, approved),
        ("an unknown source", SOURCES, plain),
        ("another source", SOURCES, |host| {
            from(host, "https://github.com/acme-evil/skills");
        }),
        ("a source that holds the other's name", SOURCES, |host| {
            from(host, "https://evil.example/github.com/acme/skills");
        }),
        ("a source with the other's name as user", SOURCES, |host| {
            from(host, "https://github.com/acme@evil.example/skills");
        }),
        ("a blocked source", EVIL_SOURCE, |host| {
            from(host, "https://GitHub.com/Evil/skills");
        }),
        ("a lockfile of the project's", SOURCES, |host| {
            evil(host, "project/.chibi/skills", "x");
            let lock = lockfile("https://github.com/acme/skills");
            write_at(host.project().join(".chibi/skills.lock.json"), lock);
            host.succeeds(&["trust", "--yes", "--always"]);
        }),
        ("projects", "[project]\ntrust = \"never\"", |host| {
            evil(host, "project/.chibi/skills", "x");
            let key = host.project().canonicalize().unwrap();
            let record = json!({"version": 1, "entries": {key.to_str().unwrap(): "always"}});
            write_at(host.plugin_dir().join("trust.json"), record.to_string());
        }),
        ("an unapproved script", SCRIPTS, |host| scripted(host)),
        ("a script in a nested skill", SCRIPTS, |host| {
            plain(host);
            put(&host.skills_dir().join("evil"), "inner", "", "x");
            write_at(host.skills_dir().join("evil/inner/run.sh"), "echo");
        }),
        ("a script changed after its approval", SCRIPTS, |host| {
            scripted(host);
            host.succeeds(&["approve", "--yes", "evil"]);
            assert!(is_offered(host, "evil"));
            write_at(host.skills_dir().join("evil/run.sh"), "echo 2");
        }),
        ("the approval of a namesake", ALL, |host| {
            evil(host, ".agents/skills", "good");
            host.succeeds(&["approve", "--yes", "evil"]);
            fs::remove_dir_all(host.home().join(".agents")).unwrap();
            put(&host.skills_dir(), "evil", "", "bad");
        }),
        ("an approval that anybody can write", ALL, |host| {
            approved(host);
            let record = host.plugin_dir().join("approvals.json");
            fs::set_permissions(record, Permissions::from_mode(0o666)).unwrap();
        }),
        ("a policy of its own that allows", BLOCK, |host| {
            adds_policy(host, "[skills]\nallow = [\"*\"]\nblock = []\n");
        }),
        ("a policy added by a variable", "", |host| {
            adds_policy(host, BLOCK);
        }),
        ("another plugin directory", BLOCK, |host| {
            evil(host, "other/skills", "x");
            let other = host.home().join("other");
            with_var(host, "AGENT_SKILLS_HOME", other.to_str().unwrap());
        }),
        ("another home", BLOCK, |host| {
            evil(host, "other/.chibi/skills", "x");
            let other = host.home().join("other");
            with_var(host, "HOME", other.to_str().unwrap());
        }),
        ("a configuration with a mistake", "", |host| {
            plain(host);
            host.config("[visibility]\nevil = \"offf\"");
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
            let read = json!({"skill": skill, "path": "SKILL.md"});
            host.tool("read_skill_file", &read).begins("Error: ");
        }
        let run = json!({"skill": "evil", "script": "run.sh"});
        host.tool("run_skill_script", &run).begins("Error: ");
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
        told.has(&hint);
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

/// The skill `evil` in a directory below the home directory.
fn evil(host: &Host, dir: &str, from: &str) {
    put(&host.home().join(dir), "evil", "", from);
}

fn plain(host: &mut Host) {
    put(&host.skills_dir(), "evil", "", "x");
}

fn approved(host: &mut Host) {
    plain(host);
    host.succeeds(&["approve", "--yes", "evil"]);
}

/// A skill of this name in another directory's name.
fn named(host: &Host, dir: &str, name: &str) {
    let text = format!("---\nname: {name}\ndescription: d\n---\n");
    write_at(host.skills_dir().join(dir).join("SKILL.md"), text);
}

fn adds_policy(host: &mut Host, text: &str) {
    plain(host);
    let mine = host.home().join("mine.toml");
    fs::write(&mine, text).unwrap();
    with_var(host, "AGENT_SKILLS_POLICY", mine.to_str().unwrap());
}

fn scripted(host: &Host) {
    put(&host.skills_dir(), "evil", "", "x");
    fs::write(host.skills_dir().join("evil/run.sh"), "echo").unwrap();
}

fn from(host: &Host, source: &str) {
    put(&host.skills_dir(), "evil", "", "x");
    fs::write(host.plugin_dir().join("skills.lock.json"), lockfile(source)).unwrap();
}
