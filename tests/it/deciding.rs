//! The list of what only a person decides, as tests/decisions.md has it, walked over: each command from a
//! pipe, by way of both hosts, with a host's variables, from a terminal below a host, and from a
//! person's terminal.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::Host;
use crate::decisions::{IN_A_HOST, shell};
use crate::host::{Has, finish};
use crate::terminal::terminal;

/// What the documentation says of one command.
struct Row {
    words: Vec<&'static str>,
    class: &'static str,
    for_models: bool,
}

fn rows() -> Vec<Row> {
    let text = include_str!("../decisions.md");
    let section = text.split("## What only a person decides").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.split(" | ").collect();
        Some(Row {
            words: cells[0].trim_end_matches('`').split_whitespace().collect(),
            class: cells[1].split(',').next().unwrap(),
            for_models: cells[2].starts_with("yes"),
        })
    });
    let rows: Vec<Row> = rows.collect();
    assert!(rows.len() > 60);
    rows
}

/// Nothing here is to reach the network.
fn host(host: Host) -> Host {
    host.var("AGENT_SKILLS_GITHUB_BASE", "file:///no/such/place")
}

const REFUSED: &str = "only a person";

#[test]
fn from_a_pipe_only_what_needs_no_person_is_done() {
    let host = host(Host::stdin());
    for Row { words, class, .. } in rows() {
        let ran = host.unattended(&words);
        let refused = ran.stderr.contains(REFUSED);
        let expected = class == "decides" || words[0] == "remove";
        assert_eq!(refused, expected, "{words:?}: {ran:?}");
        assert!(!refused || ran.status == 1, "{words:?}: {ran:?}");
    }
    assert!(!host.plugin_dir().join("config.toml").exists());
}

/// A dry run decides nothing, but the model of a host has its own tools to look.
#[test]
fn a_dry_run_needs_no_terminal_and_no_host_above_it() {
    let host = host(Host::stdin());
    let rows = rows();
    let decided = rows.iter().filter(|row| row.class == "decides");
    let mut lines = Vec::new();
    for Row { words, .. } in decided {
        let dry = [words, &["--dry-run"][..]].concat();
        let ran = host.unattended(&dry);
        assert!(!ran.stderr.contains(REFUSED), "{dry:?}: {ran:?}");
        lines.push(format!(
            "\"$A\" {} 2>&1 | grep -c '{REFUSED}'",
            dry.join(" ")
        ));
    }
    let script = format!("{IN_A_HOST} {}; echo", lines.join("; "));
    let ran = finish(&mut shell(&host, &script), b"");
    let refused = ran.stdout.lines().filter(|line| *line == "1").count();
    assert_eq!(refused, lines.len(), "{ran:?}");
}

#[test]
fn only_a_persons_terminal_without_a_host_decides() {
    let host = host(Host::stdin());
    for Row { words, .. } in rows() {
        let ran = host.person(&words);
        assert!(!ran.stderr.contains(REFUSED), "{words:?}: {ran:?}");
    }
}

#[test]
fn by_way_of_a_host_nothing_is_decided() {
    let played = Host::stdin();
    let host = host(played);
    // What takes long is done by a process of its own, which the host's caller is not.
    host.config("unattended = true\n");
    for Row {
        words,
        class,
        for_models,
    } in rows()
    {
        let arguments = json!({"args": words});
        let told = host.tool("agent-skills", &arguments);
        let refused = told.starts_with(&format!("Error: {REFUSED}"));
        assert_eq!(refused, class == "decides", "{words:?}: {told}");
        // The model has no direct call, and of its own tool what is written there.
        host.blocks("agent-skills", &arguments);
        let answer = host.pre_tool("skill_marketplace", &arguments);
        let blocked = answer["block"] == json!(true);
        // Of what may be installed the reference decides.
        let installs = words[0] == "install";
        assert_eq!(blocked, !for_models || installs, "{words:?}: {answer}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_refusal_names_the_command_as_it_was_given() {
    let host = Host::stdin().var("AGENT_SKILLS_BY_HOST", "1");
    for (words, command) in [
        (&["disable", "My Skill"][..], "disable 'My Skill'`"),
        (
            &["enable", "MY_SKILL", "--name-only"],
            "enable MY_SKILL --name-only`",
        ),
        (&["trust", "--always", "a dir"], "trust --always 'a dir'`"),
        (
            &["config", "set", "deny", "Bash(rm:*)"],
            "config set deny 'Bash(rm:*)'`",
        ),
    ] {
        let told = host.person(words).stdout;
        let hint = format!("can run `agent-skills {command}");
        told.has(&hint);
    }
}

#[test]
fn below_a_host_nothing_is_decided_whatever_terminal_there_is() {
    let played = Host::stdin();
    let host = host(played);
    host.config("unattended = true\n");
    let rows = rows();
    let calls = rows.iter().map(|row| {
        let words = row.words.join(" ");
        format!("echo \"== {words}\" >&2; \"$A\" {words} >/dev/null; ")
    });
    let script = format!("{IN_A_HOST} sh -c '{}'; echo", calls.collect::<String>());
    let (_ours, theirs) = terminal(0);
    let mut command: Command = shell(&host, &script);
    let ran = finish(command.stdin(theirs).stdout(Stdio::piped()), b"");
    for Row {
        words,
        class,
        for_models,
    } in rows
    {
        let for_models = for_models && words[0] != "install";
        let mark = format!("== {}\n", words.join(" "));
        let told = ran
            .stderr
            .split(&mark)
            .nth(1)
            .unwrap_or_else(|| panic!("{mark}: {ran:?}"));
        let told = told.split("== ").next().unwrap();
        // What the model's own tool may do, its shell may do.
        let expected = class != "reads" && !for_models;
        assert_eq!(told.contains(REFUSED), expected, "{words:?}: {told}");
    }
}

/// Installs a skill that its source can bring back.
fn installs(host: &Host, name: &str) {
    let dir = host.home().join("from").join(name);
    std::fs::create_dir_all(&dir).unwrap();
    let text = format!("---\nname: {name}\ndescription: d\n---\n");
    std::fs::write(dir.join("SKILL.md"), text).unwrap();
    host.succeeds(&["install", "--yes", dir.to_str().unwrap()]);
}

/// The model's tool removes, and takes nothing away that restricts.
#[test]
fn a_model_removes_nothing_that_restricts() {
    let played = Host::stdin();
    let host = host(played)
        .skill("listed", "allowed-tools: Read", "")
        .skill("denying", "disallowed-tools: WebFetch", "");
    installs(&host, "free");
    for (name, refused) in [("listed", true), ("denying", true), ("free", false)] {
        let call = json!({"action": "remove", "skill_ref": name});
        let told = host.tool("skill_marketplace", &call);
        assert_eq!(told.starts_with("Error: only a person"), refused, "{told}");
        assert_eq!(host.skills_dir().join(name).exists(), refused, "{name}");
    }
}
