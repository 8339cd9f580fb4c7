//! What the documentation shows is what happens: every `sh` block of the README is run, line by
//! line, as a new user would, in one home and without a network. What needs a network, a host or
//! minutes stands in a `console` block, and is not run.

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

#[test]
fn the_terminal_session_of_the_readme_is_a_real_one() {
    let host = Host::stdin();
    let bundled = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("skills/.");
    let mut copy = Command::new("cp");
    copy.arg("-R").arg(bundled).arg(host.skills_dir());
    assert!(copy.status().unwrap().success());
    let exe = env!("CARGO_BIN_EXE_agent-skills");
    let bin = host.home().join("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(exe, bin.join("agent-skills")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let sessions = blocks(README, "sh-session");
    assert_eq!(sessions.len(), 1);
    let command = host.command();
    for part in sessions[0].split("$ agent-skills").skip(1) {
        let (words, expected) = part.split_once('\n').unwrap();
        let mut shell = Command::new("sh");
        shell.envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        shell
            .args(["-c", &format!("agent-skills{words}")])
            .current_dir(host.project());
        shell.env("PATH", &path).env("NO_COLOR", "1");
        let (shown, _) = crate::terminal::at_width(100, &mut shell, "");
        assert_eq!(shown.replace('\r', ""), expected, "agent-skills{words}");
    }
}

#[test]
fn every_command_the_documentation_names_is_one() {
    let host = Host::stdin();
    let help = host.succeeds(&["--help"]);
    let mut unknown = Vec::new();
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
    for (name, text) in texts {
        for (at, _) in text.match_indices("agent-skills ") {
            let rest = &text[at + "agent-skills ".len()..];
            let verb: String = rest
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == '-' || *c == '_')
                .collect();
            let in_code = text[..at].ends_with('`') || text[..at].ends_with("$ ");
            let is_known = help
                .lines()
                .any(|line| line.split_whitespace().next() == Some(&verb));
            if in_code
                && !verb.is_empty()
                && !verb.starts_with('_')
                && !is_known
                && verb != "list_installed"
            {
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
