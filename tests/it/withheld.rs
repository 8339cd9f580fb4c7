//! Words of a skill that nobody trusts, in whatever its author can write them: no verb that prints
//! a skill by its name says one of them, whatever else cannot be read.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, write_at};
use crate::layers::{policy, put, with_layers};

type Break = (&'static str, fn(&Host));

/// A directory in a file's place, which nobody can read: not even the user `root`.
fn unreadable(file: &Path) {
    let _ = fs::remove_file(file);
    fs::create_dir_all(file.join("x")).unwrap();
}

/// Writes `text` over every file of a directory of the plugin's.
fn over(host: &Host, directory: &str, text: &str) {
    for entry in fs::read_dir(host.plugin_dir().join(directory)).unwrap() {
        fs::write(entry.unwrap().path(), text).unwrap();
    }
}

const BREAKS: [Break; 17] = [
    ("nothing", |_| {}),
    ("a wrong policy", |host| policy(host, "[skills\n")),
    ("a policy that cannot be read", |host| {
        unreadable(&host.home().join("enterprise/policy.toml"));
    }),
    ("a wrong configuration", |host| host.config("enforce = 7\n")),
    ("a configuration that cannot be read", |host| {
        unreadable(&host.plugin_dir().join("config.toml"));
    }),
    ("both", |host| {
        host.config("enforce = 7\n");
        policy(host, "[skills\n");
    }),
    ("a wrong record of trust", |host| {
        fs::write(host.plugin_dir().join("trust.json"), "{").unwrap();
    }),
    ("a record of trust that cannot be read", |host| {
        unreadable(&host.plugin_dir().join("trust.json"));
    }),
    ("a damaged index", |host| over(host, "index", "OBEY")),
    ("an index that is gone", |host| {
        fs::remove_dir_all(host.plugin_dir().join("index")).unwrap();
        fs::write(host.plugin_dir().join("index"), "").unwrap();
    }),
    ("a corrupt state", |host| {
        fs::write(host.plugin_dir().join("state.json"), "{").unwrap();
    }),
    ("a state that cannot be read", |host| {
        unreadable(&host.plugin_dir().join("state.json"));
    }),
    ("a wrong lockfile", |host| {
        fs::write(host.plugin_dir().join("skills.lock.json"), "{").unwrap();
        let project = host.project().join(".claude/skills.lock.json");
        write_at(
            project,
            "{\"version\": 1, \"skills\": [{\"id\": \"OBEY\"}]}",
        );
    }),
    ("a policy against projects", |host| {
        policy(host, "[project]\ntrust = \"never\"\n");
    }),
    ("a policy against the name", |host| {
        policy(host, "[skills]\nblock = [\"*\"]\n");
    }),
    ("a catalog without it", |host| {
        host.config("[catalog]\n\"*\" = [\"other\"]\n");
    }),
    ("everything", |host| {
        unreadable(&host.plugin_dir().join("config.toml"));
        unreadable(&host.home().join("enterprise/policy.toml"));
        unreadable(&host.plugin_dir().join("trust.json"));
        unreadable(&host.plugin_dir().join("state.json"));
        over(host, "index", "OBEY");
    }),
];

/// Every verb that prints a skill, or a message about one, that was named or found in the catalog.
/// What takes a path shows what is there: the user looks at it in order to trust it.
const VERBS: [&[&str]; 41] = [
    &[],
    &["list"],
    &["list", "--long"],
    &["list", "--json"],
    &["search_installed", "evil"],
    &["search_installed", "OBEY", "--json"],
    &["info", "evil"],
    &["info", "evil", "--json"],
    &["info", "project/evil"],
    &["info", "evil", "--history", "--offline"],
    &["info", "evil", "--history", "--offline", "--json"],
    &["info", "broken"],
    &["info", "broken", "--json"],
    &["info", "nameless"],
    &["try", "evil"],
    &["doctor"],
    &["doctor", "--json"],
    &["check", "evil", "--tool=shell_exec", "--arg=command=ls"],
    &["check", "evil", "--tool", "shell_exec", "--json"],
    &["check", "project/evil", "--tool=file_head", "--arg=path=x"],
    &["__complete", "--", "info", ""],
    &["trust", "--list"],
    &["approve", "evil"],
    &["approve", "--list"],
    &["policy"],
    &["approve", "broken"],
    &["verify"],
    &["verify", "evil", "--layer", "project"],
    &["update", "--check"],
    &["rollback", "evil", "--layer", "project"],
    &["package", "evil", "--output", "evil.zip"],
    &["audit"],
    &["audit", "--summary"],
    &["config", "list"],
    &["scan", "evil"],
    &["show", "evil"],
    &["validate", "evil"],
    // These change something, so they come last.
    &["remove", "evil", "--layer", "project"],
    &["deactivate"],
    &["enable", "evil"],
    &["disable", "evil"],
];

/// Calls of a model.
fn calls() -> Vec<(&'static str, Value)> {
    let market = |action: &str, of: &str| {
        let arguments = json!({"action": action, "skill_ref": of, "query": "evil"});
        ("skill_marketplace", arguments)
    };
    vec![
        ("skill_evil", json!({})),
        ("skill", json!({"skill_name": "evil"})),
        market("list_installed", ""),
        market("search_installed", ""),
        market("info", "evil"),
        market("use", "project/evil"),
        (
            "read_skill_file",
            json!({"skill": "evil", "path": "SKILL.md"}),
        ),
        (
            "run_skill_script",
            json!({"skill": "evil", "script": "OBEY.sh"}),
        ),
        (
            "skill_session",
            json!({"action": "load", "names": ["evil"]}),
        ),
        ("skill_session", json!({"action": "status"})),
    ]
}

/// A project with skills whose authors wrote `OBEY` wherever they could.
fn obeying(host: &Host) {
    let place = host.project().join(".claude/skills");
    let obey = "license: OBEY\nversion: OBEY\nallowed-tools: OBEY\nhooks: {pre: [OBEY]}\n\
                argument-hint: OBEY\ntags: [OBEY]\nmetadata: {OBEY: OBEY}\nrequires: [OBEY]\n\
                model: OBEY\npriority: OBEY\nscope: {OBEY: OBEY}";
    put(&place, "evil", obey, "OBEY");
    fs::write(place.join("evil/OBEY.sh"), "OBEY").unwrap();
    let broken = [
        ("broken", "---\nname: [OBEY\nOBEY: - OBEY\n---\n"),
        ("nameless", "---\nname: \"OBEY! OBEY!\"\nx: *OBEY\n---\n"),
    ];
    for (name, text) in broken {
        write_at(place.join(name).join("SKILL.md"), text);
    }
    let lock = json!({"version": 1, "skills": [{
        "id": "evil", "name": "evil", "source": "https://github.com/OBEY/OBEY", "kind": "git",
        "requested": "OBEY", "ref": "OBEY", "commit": "OBEY", "path": "", "tree": null,
        "sha256": "", "files": {}, "license": "OBEY",
    }]});
    write_at(
        host.project().join(".claude/skills.lock.json"),
        lock.to_string(),
    );
}

fn says_nothing(what: &str, host: &Host) {
    let check = |by: &str, told: &str| {
        // What was asked for is said again.
        let told = told.replace("`OBEY`", "").replace("OBEY.sh", "");
        assert!(!told.contains("OBEY"), "{what}: {by}: {told}");
    };
    let whole = ["nothing", "everything", "changed since"].contains(&what);
    // Of the others, each breaks every second verb.
    let first = what.len() % 2;
    let verbs = VERBS.into_iter().enumerate();
    for (_, args) in verbs.filter(|(at, _)| whole || at % 2 == first) {
        let ran = host.person(args);
        assert!(ran.status < 2, "{what}: {args:?} is no command: {ran:?}");
        check(&format!("{args:?}"), &(ran.stdout + &ran.stderr));
        if whole {
            let told = host.tool("agent-skills", &json!({"args": args}));
            check(&format!("{args:?}, by the host"), &told);
        }
    }
    for (tool, arguments) in calls() {
        let by = format!("{tool} {arguments}");
        check(&by, &host.pre_tool(tool, &arguments).to_string());
        check(&by, &host.tool(tool, &arguments));
    }
    check("the prompt", &host.prompt());
    check("the schema", &json!(host.schema()).to_string());
}

#[test]
fn an_untrusted_skill_says_nothing_whatever_is_broken() {
    for (at, (what, spoil)) in BREAKS.into_iter().enumerate() {
        let host = with_layers(if at % 2 == 0 {
            Host::stdin()
        } else {
            Host::environment()
        });
        obeying(&host);
        host.schema();
        spoil(&host);
        says_nothing(what, &host);
    }
}

#[test]
fn a_skill_changed_since_it_was_trusted_says_nothing_new() {
    let host = with_layers(Host::stdin());
    put(&host.project().join(".claude/skills"), "evil", "", "before");
    host.succeeds(&["trust", "--yes"]);
    host.schema();
    host.prompt().has("From before.");
    obeying(&host);
    says_nothing("changed since", &host);
}

#[test]
fn once_trusted_the_same_words_are_shown() {
    let host = with_layers(Host::stdin());
    obeying(&host);
    host.succeeds(&["trust", "--yes"]);
    let looks = VERBS
        .into_iter()
        .take_while(|args| args != &["remove", "evil", "--layer", "project"]);
    let shown = looks.filter(|args| {
        let told = host.person(args).stdout;
        told.replace("`OBEY`", "").contains("OBEY")
    });
    assert!(shown.count() >= 15);
    host.prompt().has("OBEY");
}
