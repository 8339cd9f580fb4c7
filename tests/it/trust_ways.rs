//! No way leads round trust: nothing of a project's skill reaches the model, whichever way it comes, and
//! whatever changes asks again.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::thread::sleep;

use serde_json::json;

use crate::Host;
use crate::host::write_at;
use crate::index::SETTLED;
use crate::layers::{codes, is_offered, put};
use crate::policy::with_var;

/// Whether anything of the skill `evil` can be had, by any way to it.
#[track_caller]
pub fn reaches_the_model(host: &Host) -> bool {
    let offered = is_offered(host, "evil");
    let mut answers = vec![host.tool("skill_evil", &json!({}))];
    for skill in ["evil", "project/evil", "Evil", "skill_evil"] {
        let read = json!({"skill": skill, "path": "from.txt"});
        let run = json!({"skill": skill, "script": "run.sh"});
        answers.push(host.tool("read_skill_file", &read));
        answers.push(host.tool("run_skill_script", &run));
    }
    let info = json!({"action": "info", "skill_ref": "evil"});
    for call in [json!({"action": "list_installed"}), info] {
        answers.push(host.tool("skill_marketplace", &call));
    }
    let told = answers.iter().any(|answer| answer.contains("EVIL"));
    assert_eq!(told, offered, "{answers:?}");
    offered
}

pub fn evil(dir: &Path) {
    put(dir, "evil", "license: EVIL", "EVIL");
    fs::write(dir.join("evil/run.sh"), "echo EVIL\n").unwrap();
}

fn in_project(host: &Host, dir: &str) {
    evil(&host.project().join(dir));
}

type Way = (&'static str, fn(&mut Host));

/// In each, the skill `evil` comes with a project that nobody trusts.
const WAYS: [Way; 25] = [
    (".chibi/skills", |host| in_project(host, ".chibi/skills")),
    (".agents/skills", |host| in_project(host, ".agents/skills")),
    (".claude/skills", |host| in_project(host, ".claude/skills")),
    ("another case", |host| in_project(host, ".Claude/Skills")),
    ("a directory on the way to the root", |host| {
        let deep = host.project().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        in_project(host, "a/.claude/skills");
        host.cwd(&deep);
    }),
    ("a link to skills", |host| {
        in_project(host, "hidden");
        fs::create_dir(host.project().join(".claude")).unwrap();
        symlink("../hidden", host.project().join(".claude/skills")).unwrap();
    }),
    ("a link to a skill", |host| {
        in_project(host, "hidden");
        fs::create_dir_all(host.project().join(".claude/skills")).unwrap();
        let link = host.project().join(".claude/skills/evil");
        symlink("../../hidden/evil", link).unwrap();
    }),
    ("a link to everything", |host| {
        in_project(host, "hidden/skills");
        symlink("hidden", host.project().join(".agents")).unwrap();
    }),
    ("a link to the project", |host| {
        in_project(host, ".claude/skills");
        let link = host.home().join("link");
        symlink(host.project(), &link).unwrap();
        host.cwd(&link);
    }),
    ("the project as root of another directory", |host| {
        let project = host.home().join("other");
        evil(&project.join(".claude/skills"));
        with_var(host, "CHIBI_PROJECT_ROOT", project.to_str().unwrap());
    }),
    ("a relative root", |host| {
        in_project(host, "sub/.claude/skills");
        with_var(host, "CHIBI_PROJECT_ROOT", "sub");
    }),
    ("the project as home", |host| {
        in_project(host, ".chibi/skills");
        let project = host.project().to_str().unwrap().to_owned();
        with_var(host, "HOME", &project);
    }),
    ("a link in the project as home, which leads out", |host| {
        let outside = host.home().join("outside");
        evil(&outside.join("skills"));
        symlink(outside, host.project().join(".chibi")).unwrap();
        let project = host.project().to_str().unwrap().to_owned();
        with_var(host, "HOME", &project);
    }),
    ("a home in the project", |host| {
        in_project(host, "home/.agents/skills");
        let home = host.project().join("home").to_str().unwrap().to_owned();
        with_var(host, "HOME", &home);
    }),
    ("a home that is a link into the project", |host| {
        in_project(host, "home/.agents/skills");
        let link = host.home().join("linked-home");
        symlink(host.project().join("home"), &link).unwrap();
        with_var(host, "HOME", link.to_str().unwrap());
    }),
    ("a trust record of its own", |host| {
        in_project(host, ".chibi/skills");
        let key = host.project().canonicalize().unwrap();
        let record = json!({"version": 1, "entries": {key.to_str().unwrap(): "always"}});
        fs::write(host.project().join(".chibi/trust.json"), record.to_string()).unwrap();
        let state = host.project().join("state");
        write_at(state.join("agent-skills/trust.json"), record.to_string());
        with_var(host, "XDG_STATE_HOME", state.to_str().unwrap());
    }),
    ("a trust record that anybody can write", |host| {
        in_project(host, ".chibi/skills");
        host.succeeds(&["trust", "--yes"]);
        let file = host.plugin_dir().join("trust.json");
        fs::set_permissions(file, Permissions::from_mode(0o666)).unwrap();
    }),
    ("a broken trust record", |host| {
        in_project(host, ".chibi/skills");
        write_at(
            host.plugin_dir().join("trust.json"),
            "{\"version\":1,\"entries\":\"always\"}",
        );
    }),
    ("trust in the directory above", |host| {
        put(&host.home().join(".claude/skills"), "fine", "", "fine");
        in_project(host, ".claude/skills");
        let home = host.home().to_owned();
        host.succeeds(&["trust", "--yes", "--always", home.to_str().unwrap()]);
    }),
    ("trust in a directory below", |host| {
        put(&host.project().join("a/.claude/skills"), "fine", "", "fine");
        host.succeeds(&["trust", "--yes", "--always", "a"]);
        in_project(host, ".claude/skills");
    }),
    ("trust in another directory of the same content", |host| {
        let twin = host.home().join("twin");
        evil(&twin.join(".claude/skills"));
        host.succeeds(&["trust", "--yes", twin.to_str().unwrap()]);
        in_project(host, ".claude/skills");
    }),
    ("its own configuration", |host| {
        in_project(host, ".chibi/skills");
        let text = "trust = \"always\"\n[visibility]\nevil = \"on\"\n";
        fs::write(host.project().join(".chibi/agent-skills.toml"), text).unwrap();
        fs::write(host.project().join(".chibi/config.toml"), text).unwrap();
    }),
    ("the user's choice of visibility", |host| {
        in_project(host, ".chibi/skills");
        host.config("[visibility]\nevil = \"on\"\n");
    }),
    ("a layer in its frontmatter", |host| {
        let more = "layer: enterprise\npriority: 99999\nscope: {layer: plugin}\nlicense: EVIL";
        put(&host.project().join(".claude/skills"), "evil", more, "EVIL");
    }),
    ("a lockfile that says it was installed", |host| {
        in_project(host, ".chibi/skills");
        let lock = json!({"version": 1, "skills": [{"name": "evil", "source": "https://github.com/anthropics/skills"}]});
        write_at(
            host.project().join(".chibi/skills.lock.json"),
            lock.to_string(),
        );
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
            let place = host.project().join(".claude/skills");
            put(&place, "evil", "license: EVIL", "EVIL 2");
        }),
        ("a script", |host| {
            fs::write(host.project().join(".claude/skills/evil/run.sh"), "echo 2").unwrap();
        }),
        ("a script of the same length and time", |host| {
            let script = host.project().join(".claude/skills/evil/run.sh");
            let modified = fs::metadata(&script).unwrap().modified().unwrap();
            fs::write(&script, "echo LIVE\n").unwrap();
            let file = fs::File::options().write(true).open(script).unwrap();
            file.set_modified(modified).unwrap();
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
            write_at(host.project().join(".claude/skills/lib/x.sh"), "x");
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
    let each = ways.iter().flat_map(|way| [(way, false), (way, true)]);
    for ((way, change), waits) in each {
        let mut host = Host::stdin();
        in_project(&host, ".claude/skills");
        fs::write(host.project().join("outside.txt"), "1").unwrap();
        fs::write(host.project().join("other.txt"), "2").unwrap();
        let link = host.project().join(".claude/skills/evil/link");
        symlink("../../../outside.txt", link).unwrap();
        host.succeeds(&["trust", "--yes"]);
        assert!(is_offered(&host, "evil"), "{way}");
        // Now and once the digests are taken from those that are kept.
        if waits {
            sleep(SETTLED);
            assert!(is_offered(&host, "evil"), "{way}");
            assert!(host.plugin_dir().join("digests").is_dir(), "{way}");
        }
        change(&mut host);
        // The words that a trusted skill is disclosed with are not in these files.
        let at_use = [
            "a script",
            "a script of the same length and time",
            "a bit",
            "what a link leads to",
        ];
        if !at_use.contains(way) {
            assert!(!is_offered(&host, "evil"), "{way}");
        }
        let hidden = "hidden-untrusted".to_owned();
        assert!(codes(&host, "evil").contains(&hidden), "{way}");
        host.knows_not("evil");
        assert!(!is_offered(&host, "evil"), "{way}");
        if *way != "a circle" {
            host.succeeds(&["trust", "--yes"]);
            assert!(is_offered(&host, "evil"), "{way}");
        }
    }
}

/// A warm call does not read the record of trust; whatever happens to it ends what was known.
#[test]
fn trust_ends_with_its_record_in_a_warm_call_too() {
    type Change = fn(&Host, &Path);
    let ways: [(&str, Change); 5] = [
        ("revoked", |host, _| {
            host.succeeds(&["trust", "--revoke"]);
        }),
        ("removed", |_, record| fs::remove_file(record).unwrap()),
        ("damaged", |_, record| fs::write(record, "{").unwrap()),
        ("writable by others", |_, record| {
            fs::set_permissions(record, Permissions::from_mode(0o666)).unwrap();
        }),
        ("with other digests", |_, record| {
            let text = fs::read_to_string(record).unwrap();
            fs::write(record, text.replace('1', "0")).unwrap();
        }),
    ];
    for (way, change) in ways {
        let host = Host::stdin();
        in_project(&host, ".claude/skills");
        host.succeeds(&["trust", "--yes"]);
        sleep(SETTLED);
        assert!(
            is_offered(&host, "evil") && is_offered(&host, "evil"),
            "{way}"
        );
        change(&host, &host.plugin_dir().join("trust.json"));
        assert!(!is_offered(&host, "evil"), "{way}");
    }
}
