//! The words of the command line: what the verbs of each group took over, under their earlier names
//! too, and what `list` means through which door.

use serde_json::{Value, json};

use crate::Host;
use crate::market::acme;

#[test]
fn every_earlier_word_does_what_its_new_one_does() {
    let (host, _hub) = acme(Host::stdin());
    host.succeeds(&["install", "acme/pdf"]);
    for (earlier, now) in [
        (&["list-installed"][..], &["list"][..]),
        (&["list_installed", "--json"], &["ls", "--json"]),
        (&["outdated"], &["update", "--check"]),
        (&["outdated", "--json"], &["update", "--check", "--json"]),
        (&["tree", "pdf"], &["info", "pdf", "--files"]),
        (&["history", "pdf"], &["info", "pdf", "--history"]),
        (
            &["cat", "acme/skills@pdf:scripts/run.sh"],
            &["show", "acme/skills@pdf", "--file", "scripts/run.sh"],
        ),
        (&["stats"], &["audit", "--summary"]),
        (&["sources", "list"], &["source", "list"]),
    ] {
        let answer = host.succeeds(earlier);
        assert!(!answer.is_empty(), "{earlier:?}");
        assert_eq!(answer, host.succeeds(now), "{earlier:?}");
    }
    let shown = host.succeeds(&["show", "acme/skills@pdf", "--file", "scripts/run.sh"]);
    assert_eq!(shown, "#!/bin/sh\necho ran\n");
    for words in [
        &["rm", "pdf"][..],
        &["add", "acme/pdf"],
        &["uninstall", "pdf"],
    ] {
        host.succeeds(words);
    }
}

#[test]
fn the_help_fits_a_screen_without_earlier_words() {
    let help = Host::stdin().succeeds(&["--help"]);
    assert!(help.lines().count() <= 48, "{help}");
    for title in ["Get:", "Look:", "Write:", "Safety:", "Set up:"] {
        assert!(help.lines().any(|line| line == title), "{help}");
    }
    for earlier in ["list-installed", "outdated", "cat", "stats", "man", "link"] {
        let first = |line: &str| line.split_whitespace().next() == Some(earlier);
        assert!(!help.lines().any(first), "{earlier}: {help}");
    }
}

#[test]
fn list_has_a_meaning_for_people_and_one_for_hosts() {
    for host in Host::both() {
        let (host, _hub) = acme(host);
        host.succeeds(&["source", "remove", "anthropics-skills"]);
        host.succeeds(&["source", "add", "acme/skills"]);
        host.succeeds(&["install", "acme/pdf"]);
        let installed = host.succeeds(&["list"]);
        assert!(
            installed.contains("pdf") && !installed.contains("csv"),
            "{installed}"
        );
        let available = host.succeeds(&["list", "--available"]);
        assert!(available.contains("csv"), "{available}");
        for (tool, arguments) in [
            ("agent-skills", json!({"args": ["list"]})),
            ("skill_marketplace", json!({"action": "list"})),
        ] {
            let answer = host.tool(tool, &arguments);
            assert!(answer.contains("csv"), "{answer}");
        }
        // What is installed from there is marked.
        let found: Value = host.json(&["search", "does", "--json"]);
        let of = |name: &str| {
            let all = found["skills"].as_array().unwrap();
            all.iter().find(|one| one["name"] == name).unwrap()["installed"].clone()
        };
        assert_eq!((of("pdf"), of("csv")), (json!(true), json!(false)));
        let told = host.succeeds(&["find", "does"]);
        assert!(told.contains("(installed) Does pdf."), "{told}");
        // An order of what is installed is none of what is not.
        let refused = host.fails(&["list", "--available", "--sort", "tokens"]);
        assert!(refused.contains("--sort name"), "{refused}");
    }
}

#[test]
fn trust_is_taken_back_by_an_option() {
    let host = Host::stdin();
    crate::trust_ways::evil(&host.project().join(".claude/skills"));
    host.succeeds(&["trust", "--yes"]);
    assert!(crate::layers::is_offered(&host, "evil"));
    host.succeeds(&["trust", "--revoke"]);
    assert!(!crate::layers::is_offered(&host, "evil"));
}
