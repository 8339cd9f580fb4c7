//! What the documentation shows is what happens. Every `sh` block of the README is run, line by
//! line, as a new user would, in one home and without a network; every `sh-session` block of a
//! document is in a transcript. What needs a network, a host or minutes stands in a `console`
//! block, and is not run; its options exist.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

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
    // With the skills that install.sh installs, and nothing else.
    let host = Host::stdin();
    let mut copy = Command::new("cp");
    copy.arg("-R")
        .arg(format!("{}/skills", env!("CARGO_MANIFEST_DIR")));
    assert!(copy.arg(host.plugin_dir()).status().unwrap().success());
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
        let mut shell = Command::new("sh");
        shell.args(["-euc", &block]).env("PATH", &path);
        let ran = finish(&mut host.surround(shell), b"");
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
    let shown = answers.iter().map(|(line, told)| {
        // A terminal shows no status.
        let told = match told.split_once('\n') {
            Some((first, rest)) if first.starts_with("? ") => rest,
            _ => told,
        };
        format!("$ {line}\n{told}")
    });
    let shown: Vec<String> = shown.collect();
    let mut compared = 0;
    for (name, text) in documents() {
        for session in blocks(&text, "sh-session") {
            // One after the other in one transcript, from the first command to the last.
            let length = session
                .lines()
                .filter(|line| line.starts_with("$ "))
                .count();
            let mut parts = shown.windows(length.max(1)).map(<[String]>::concat);
            assert!(parts.any(|part| part == session), "{name}: {session}");
            compared += length;
        }
    }
    assert!(compared > 3);
}

#[test]
fn no_other_block_shows_what_a_command_prints() {
    for (name, text) in documents() {
        let mut kind = None;
        let mut asked = false;
        for line in text.lines() {
            if let Some(fence) = line.trim_start().strip_prefix("```") {
                kind = kind.is_none().then_some(fence);
                asked = false;
            } else if kind.is_some_and(|kind| kind != "sh-session") {
                let asks = line.starts_with("$ ");
                assert!(asks || !asked, "{name}: {line}");
                asked |= asks;
            }
        }
    }
}

#[test]
fn the_readme_has_less_than_1200_words() {
    let words = README.split_whitespace().count();
    assert!(words < 1200, "{words}");
}

#[test]
fn the_index_of_the_documents_names_each_once() {
    let index = documents()
        .into_iter()
        .find(|(name, _)| name == "docs/README.md");
    let index = index.unwrap().1;
    for (name, _) in documents() {
        if let Some(name) = name
            .strip_prefix("docs/")
            .filter(|name| *name != "README.md")
            && !name.starts_with("spec/")
        {
            assert_eq!(index.matches(&format!("]({name})")).count(), 1, "{name}");
        }
    }
}

#[test]
fn the_readme_shows_the_groups_and_verbs_of_the_help() {
    let answers = crate::transcripts::answers();
    let help = answers
        .iter()
        .find(|(line, _)| line == "agent-skills --help");
    let mut group = "";
    for line in help.unwrap().1.lines() {
        match line.strip_prefix("  ") {
            None => group = line.strip_suffix(':').unwrap_or_default(),
            Some(_) if group.is_empty() => {}
            Some(verb) => {
                let verb = verb.split(' ').next().unwrap();
                let row = README
                    .lines()
                    .find(|line| line.starts_with(&format!("| **{group}** |")));
                assert!(
                    row.is_some_and(|row| row.contains(&format!("`{verb}`"))),
                    "{group}: {verb}"
                );
            }
        }
    }
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
            // `agent-skills use NAME` is the beginning of a prompt in chibi.
            if !in_code || verb.is_empty() || verb.starts_with('_') || verb == "use" {
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

#[test]
fn the_program_names_no_document_that_is_not_installed() {
    // Whoever installed a release may have no checkout, so messages name commands and addresses.
    let exe = env!("CARGO_BIN_EXE_agent-skills");
    let found = Command::new("grep")
        .args(["-aoE", "docs/[a-z/]*\\.md", exe])
        .output();
    assert_eq!(String::from_utf8_lossy(&found.unwrap().stdout), "");
}
