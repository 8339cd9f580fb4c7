//! The words of the command line, and what they mean through which door.

use serde_json::json;

use crate::Host;
use crate::host::Has;
use crate::market::acme;

#[test]
fn short_words_do_what_the_long_ones_do() {
    let (host, _hub) = acme(Host::stdin());
    host.succeeds(&["add", "acme/pdf"]);
    assert_eq!(host.succeeds(&["ls"]), host.succeeds(&["list"]));
    host.succeeds(&["rm", "pdf"]);
}

#[test]
fn the_help_fits_a_screen() {
    let help = Host::stdin().succeeds(&["--help"]);
    assert!(help.lines().count() <= 48, "{help}");
    for title in ["Get:", "Look:", "Write:", "Safety:", "Set up:"] {
        assert!(help.lines().any(|line| line == title), "{help}");
    }
    for hidden in ["list_installed", "search_installed", "confine"] {
        let first = |line: &str| line.split_whitespace().next() == Some(hidden);
        assert!(!help.lines().any(first), "{hidden}: {help}");
    }
}

#[test]
fn list_has_another_meaning_in_the_models_tool() {
    let host = Host::stdin();
    let (host, _hub) = acme(host);
    host.succeeds(&["source", "remove", "anthropics-skills"]);
    host.succeeds(&["source", "add", "acme/skills"]);
    host.succeeds(&["install", "acme/pdf"]);
    let installed = host.succeeds(&["list"]);
    installed.has("pdf").lacks("csv");
    host.succeeds(&["search"]).has("csv");
    for arguments in [json!({"action": "list"}), json!({"args": ["list"]})] {
        host.tool("skill_marketplace", &arguments).has("csv");
    }
    // `chibi -p agent-skills "list"` is a person's.
    for words in [&["list"][..], &["list_installed"]] {
        host.tool("agent-skills", &json!({"args": words}))
            .has("pdf")
            .lacks("csv");
    }
    // What is installed from there is marked.
    let found = host.json(&["search", "does", "--json"]);
    let of = |name: &str| {
        let all = found["skills"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap()["installed"].clone()
    };
    assert_eq!((of("pdf"), of("csv")), (json!(true), json!(false)));
    host.succeeds(&["search", "does"])
        .has("(installed) Does pdf.");
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
