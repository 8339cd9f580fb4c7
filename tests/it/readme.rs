//! What the documentation shows is what happens. Every `sh` block of the README is run, line by
//! line, as a new user would, in one home and without a network; every `sh-session` block of a
//! document is in a transcript. What needs a network, a host or minutes stands in a `console`
//! block, and is not run; its options exist.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use crate::Host;
use crate::host::finish;

const README: &str = include_str!("../../README.md");

/// The contents of the blocks of that kind.
fn blocks(text: &str, kind: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(fence) = line.strip_prefix("```").filter(|fence| !fence.is_empty()) else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if fence == kind {
            found.push(block.join("\n") + "\n");
        }
    }
    found
}

#[test]
fn every_shell_block_of_the_readme_works_in_a_new_home() {
    let host = Host::stdin().skill("pdf", "allowed-tools: Read Bash(git:*)", "Body.");
    let bin = host.home().join("bin");
    fs::create_dir(&bin).unwrap();
    let exe = env!("CARGO_BIN_EXE_agent-skills");
    std::os::unix::fs::symlink(exe, bin.join("agent-skills")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let blocks = blocks(README, "sh");
    assert!(blocks.len() >= 2, "{blocks:?}");
    let mut ran_some = 0;
    for block in blocks {
        // Building and testing this very program is what is going on.
        if block.contains("cargo") || block.contains("install.sh") {
            continue;
        }
        let command = host.command();
        let mut shell = Command::new("sh");
        shell.args(["-euc", &block]).env("PATH", &path);
        shell.envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        shell.env("PATH", &path).current_dir(host.project());
        shell
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let ran = finish(&mut shell, b"");
        assert_eq!(ran.status, 0, "{block}\n{ran:?}");
        ran_some += 1;
    }
    assert!(ran_some > 0);
}

/// README.md and every document, by name.
fn documents() -> Vec<(String, String)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = vec![("README.md".to_owned(), README.to_owned())];
    for directory in ["docs", "docs/spec"] {
        for entry in fs::read_dir(root.join(directory)).unwrap().flatten() {
            if entry.path().is_file() {
                let name = format!("{directory}/{}", entry.file_name().display());
                texts.push((name, fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    texts
}

#[test]
fn every_session_in_the_documentation_is_in_a_transcript() {
    let answers = crate::transcripts::answers();
    let mut compared = 0;
    for (name, text) in documents() {
        for session in blocks(&text, "sh-session") {
            for part in session.split("$ agent-skills").skip(1) {
                let (words, expected) = part.split_once('\n').unwrap();
                let line = format!("agent-skills{words}");
                let told = answers.iter().filter(|(command, _)| *command == line);
                // A terminal shows no status.
                let mut shown = told.map(|(_, told)| match told.split_once('\n') {
                    Some((first, rest)) if first.starts_with("? ") => rest,
                    _ => told,
                });
                assert!(shown.any(|shown| shown == expected), "{name}: {line}");
                compared += 1;
            }
        }
    }
    assert!(compared > 3);
}

/// The command lines of the program that a text shows, in blocks and in code among its words.
fn command_lines(text: &str) -> Vec<String> {
    let blocks = ["sh", "console"].map(|kind| blocks(text, kind)).concat();
    let in_blocks = blocks.iter().flat_map(|block| block.lines());
    let prose = text.split('`').skip(1).step_by(2);
    let lines = in_blocks
        .chain(prose)
        .map(|line| line.strip_prefix("$ ").unwrap_or(line));
    let lines = lines.filter(|line| line.starts_with("agent-skills "));
    // Without comments, the words of others, and what says that something may be left out.
    let bare = |line: &str| {
        let line = line.split(" #").next().unwrap();
        let line: Vec<&str> = line.split(['\'', '"']).step_by(2).collect();
        line.join("").replace(['[', ']', '|'], " ")
    };
    lines.map(bare).collect()
}

#[test]
fn every_option_in_the_documentation_exists() {
    let answers = crate::transcripts::answers();
    let help = |words: &[&str]| {
        let line = format!("{} --help", words.join(" "));
        let asked = answers.iter().find(|(command, _)| *command == line);
        asked.map(|(_, told)| told.as_str())
    };
    let (mut unknown, mut known) = (Vec::new(), 0);
    for (name, text) in documents() {
        for line in command_lines(&text) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let mut lengths = [3, 2, 1]
                .into_iter()
                .filter(|length| *length <= words.len());
            let Some(help) = lengths.find_map(|length| help(&words[..length])) else {
                continue;
            };
            for option in words
                .iter()
                .filter(|word| word.starts_with('-') && word.len() > 2)
            {
                let option = option.split('=').next().unwrap();
                let mut offered = help
                    .split_whitespace()
                    .flat_map(|word| word.split(['=', '[', ',']));
                if offered.any(|offered| offered == option) {
                    known += 1;
                } else {
                    unknown.push(format!("{name}: {line}"));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(known > 20, "{known}");
}

#[test]
fn every_command_the_documentation_names_is_one() {
    let host = Host::stdin();
    let mut known = BTreeMap::new();
    let mut unknown = Vec::new();
    for (name, text) in documents() {
        for (at, _) in text.match_indices("agent-skills ") {
            let rest = &text[at + "agent-skills ".len()..];
            let verb: String = rest
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == '-' || *c == '_')
                .collect();
            let in_code = text[..at].ends_with('`') || text[..at].ends_with("$ ");
            if !in_code || verb.is_empty() || verb.starts_with('_') {
                continue;
            }
            let has_help = || host.person(&[&verb, "--help"]).status == 0;
            if !*known.entry(verb.clone()).or_insert_with(has_help) {
                unknown.push(format!("{name}: agent-skills {verb}"));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_file_the_readme_links_to_is_there() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for part in README.split("](").skip(1) {
        let target = part.split(')').next().unwrap();
        let target = target.split('#').next().unwrap();
        if !target.contains("://") && !target.is_empty() {
            assert!(root.join(target).exists(), "{target}");
        }
    }
}
