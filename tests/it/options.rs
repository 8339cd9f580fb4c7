//! The options of every command mean the same everywhere.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::Host;
use crate::host::{Has, write_at};
use crate::market::{acme, skill};
use crate::proposals::{diff, propose};
use crate::repository::{Hub, commit, files};

/// The commands that change something, each so that it would here.
const CHANGES: &[&str] = &[
    "install acme/skills@csv",
    "install acme/skills@csv --layer personal",
    "install acme/skills@csv --project",
    "install",
    "update",
    "update --force",
    "update old --stash --diff",
    "sync --layer plugin",
    "remove pdf",
    "remove hand pdf",
    "source add ./more",
    "source remove anthropics-skills",
    "source update",
    "new made --description Makes",
    "new made --description Makes --layer project",
    "validate --fix bad",
    "package pdf",
    "publish pdf REGISTRY",
    "proposals approve ID",
    "proposals reject ID",
    "trust",
    "trust --always",
    "trust --revoke",
    "approve hand",
    "enable hand",
    "disable hand",
    "verify --fix",
    "keys add alice@x key.pub",
    "keys remove bob@x --file team",
    "keys revoke SHA256:sRXsfsW5RGpkdVVLA8+dquiCzxw4g2S6ZqL0AZbHOP8",
    "rollback old",
    "deactivate",
    "doctor --fix",
    "config set enforce warn",
    "config unset visibility.hand",
    "sync lock",
    "suggest lacks --local",
    "suggest lacks --apply",
];

/// The commands that change nothing anyway.
const LOOKS: &[&str] = &[
    "search",
    "show",
    "list",
    "info",
    "check",
    "simulate",
    "audit",
    "jobs",
    "try",
    "scan",
    "completions",
    "policy",
    "hosts",
];

fn world() -> (Host, Hub, String) {
    let host = Host::stdin().skill("hand", "", "Mine.");
    let host = host.skill("lacks", "allowed-tools: Read", "Run `npx a b`.");
    let (host, hub) = acme(host);
    hub.repository("old/skills", &[("skills/old/SKILL.md", &skill("old"))]);
    host.succeeds(&["install", "acme/skills@pdf", "old/skills@old", "--yes"]);
    let source = hub.dir().join("old/skills");
    for change in ["one", "two"] {
        if change == "two" {
            host.succeeds(&["update", "old", "--yes"]);
        }
        let text = skill("old") + change;
        fs::write(source.join("skills/old/SKILL.md"), text).unwrap();
        commit(&source);
    }
    fs::write(host.skills_dir().join("pdf/extra"), "mine").unwrap();
    let id = propose(&host, "hand", &diff("Mine.", "Yours."));
    host.starts().activates("hand");
    let put = |path: &str, text: &str| write_at(host.project().join(path), text);
    put(".chibi/skills/deploy/SKILL.md", &skill("deploy"));
    host.succeeds(&["trust", "--yes"]);
    host.succeeds(&["disable", "hand"]);
    host.succeeds(&["enable", "hand"]);
    put(".chibi/skills/deploy/new", "changed");
    put("more/one/SKILL.md", &skill("one"));
    put("made-before/SKILL.md", &skill("made-before"));
    put(
        "bad/SKILL.md",
        "---\nname: bad\ndescription: d: e\n---\nB\n",
    );
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJr7IjL5a48XomjrHMZSICwfNNBUDqvzWMytztz8oorr";
    put("key.pub", key);
    put("team", &format!("bob@x {key}\n"));
    put(
        "talk.yaml",
        "skills: [made-before]\nsteps:\n- prompt: hello\n",
    );
    put(
        "lock/skills-lock.json",
        r#"{"skills": {"csv": {"source": "acme/skills", "sourceType": "github", "skillPath": "skills/csv/SKILL.md"}}}"#,
    );
    // What is asked for only once is there before.
    host.person(&["search"]);
    host.person(&["doctor"]);
    (host, hub, id)
}

/// Every file of the user with its content; without what is fetched again whenever it is gone.
fn state(host: &Host) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = files(host.home());
    let is_kept = |path: &PathBuf| {
        let text = path.to_str().unwrap();
        !["/cache/", "/index", "/digests"]
            .iter()
            .any(|part| text.contains(part))
    };
    all.retain(|(path, _)| is_kept(path));
    all
}

#[test]
fn a_dry_run_says_what_it_would_do_and_changes_nothing() {
    let (host, _hub, id) = world();
    let registry = crate::registry_stub::Registry::new();
    let place = registry.reference("acme/pdf");
    for line in CHANGES {
        let words = line.split(' ').map(|word| match word {
            "ID" => &*id,
            "REGISTRY" => &*place,
            word => word,
        });
        let words: Vec<&str> = words.collect();
        let before = state(&host);
        for (is_person, more) in [(false, ""), (true, "--yes"), (false, "--json")] {
            let mut dry = [&words[..], &["--dry-run", more]].concat();
            dry.retain(|word| !word.is_empty());
            let ran = if is_person {
                host.person(&dry)
            } else {
                host.unattended(&dry)
            };
            ran.stderr.lacks("only a person");
            let after = state(&host);
            let differ = |(path, bytes): &&(PathBuf, Vec<u8>)| {
                let same =
                    |(other, as_well): &(PathBuf, Vec<u8>)| other == path && as_well == bytes;
                !(before.iter().any(same) && after.iter().any(same))
            };
            let changed = before.iter().chain(&after).filter(differ);
            let changed: Vec<_> = changed.map(|(path, _)| path).collect();
            assert!(changed.is_empty(), "{line} {more}: {changed:?} {ran:?}");
            // `sync` says by 3 that there is something to do.
            let is_told = [0, 1, 3].contains(&ran.status) && !ran.stdout.is_empty();
            assert!(is_told, "{line}: {ran:?}");
            if more == "--json" {
                let _: Value = serde_json::from_str(&ran.stdout).expect(line);
            }
        }
    }
}

#[test]
fn each_command_that_changes_something_has_its_dry_run() {
    let help = Host::stdin().succeeds(&["--help"]);
    let verbs = help.lines().filter_map(|line| line.strip_prefix("  "));
    for verb in verbs.map(|line| line.split(' ').next().unwrap()) {
        let changes = CHANGES
            .iter()
            .any(|line| line.split(' ').next() == Some(verb));
        assert!(changes || LOOKS.contains(&verb), "{verb}");
    }
}

#[test]
fn a_model_says_yes_to_nothing() {
    let host = Host::stdin().skill("pdf", "", "x");
    host.starts();
    for words in [
        &["list", "--yes"][..],
        &["remove", "pdf", "-y"],
        &["install", "-y", "anthropics/skills@pdf"],
        &["update", "--yes"],
        &["info", "--yes", "pdf"],
    ] {
        host.blocks("skill_marketplace", &json!({"args": words}))
            .has("agent-skills");
    }
}

#[test]
fn a_models_name_stays_in_the_plugins_layer() {
    let host = Host::stdin();
    let personal = host.home().join(".chibi/skills/mine");
    write_at(personal.join("SKILL.md"), skill("mine"));
    host.starts();
    let remove = json!({"action": "remove", "skill_ref": "mine"});
    host.tool("skill_marketplace", &remove).begins("Error: ");
    assert!(personal.exists());
    host.succeeds(&["remove", "mine", "--yes"]);
    assert!(!personal.exists());
}
