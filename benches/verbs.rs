//! Measures what a person waits for: every verb that touches many skills, with 200 and 800 of them
//! installed from one repository, against `git clone --depth 1` of it, `cat` of the same files and
//! `sha256sum`. Prints the ratios at 800 and the growth from 200 to 800, and fails beyond a gate
//! (issue 18). Both programs of a ratio run in turns, and the fastest runs are compared.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;
/// Four times the work may take so many times the time.
const GROWTH: f64 = 5.5;

/// A verb, what it is compared with, and how many times as long it may take with 800 skills.
const GATES: [(&str, &str, f64); 11] = [
    ("install --all", "clone", 4.0),
    ("update, 40 changed", "clone", 4.0),
    ("list-installed", "cat", 6.0),
    ("list-installed --json", "cat", 6.0),
    ("doctor", "cat", 15.0),
    ("validate", "cat", 40.0),
    ("verify", "cat", 8.0),
    ("outdated", "cat", 8.0),
    ("search-installed", "cat", 6.0),
    ("tree", "cat", 15.0),
    ("scan of 12 MB", "sha256sum", 6.0),
];

type Times = BTreeMap<&'static str, Duration>;

fn main() -> ExitCode {
    let mut few = Times::new();
    let mut many = Times::new();
    for _ in 0..ROUNDS {
        for (skills, times) in [(200, &mut few), (800, &mut many)] {
            round(skills, times);
        }
    }
    let mut is_within = true;
    println!("| verb | 200 | 800 | growth | × at 800 | gate |\n|---|---|---|---|---|---|");
    for (verb, other, gate) in GATES {
        let ratio = many[verb].as_secs_f64() / many[other].as_secs_f64();
        // The scan's work is the same in both rounds.
        let growth = many[verb].as_secs_f64() / few[verb].as_secs_f64();
        let (few, many) = (few[verb].as_millis(), many[verb].as_millis());
        println!(
            "| `{verb}` | {few} ms | {many} ms | {growth:.1} | {ratio:.1} × {other} | {gate} |"
        );
        is_within &= ratio <= gate && growth <= GROWTH;
    }
    for (name, time) in many
        .iter()
        .filter(|(name, _)| GATES.iter().all(|gate| gate.0 != **name))
    {
        println!("{name} at 800: {} ms", time.as_millis());
    }
    if is_within {
        return ExitCode::SUCCESS;
    }
    println!("beyond a gate (growth {GROWTH})");
    ExitCode::FAILURE
}

/// Measures everything once, from an empty home directory.
fn round(skills: usize, times: &mut Times) {
    let root = tempfile::tempdir().unwrap();
    let (home, source, clone) = ["home", "source", "clone"]
        .map(|name| root.path().join(name))
        .into();
    fs::create_dir(&home).unwrap();
    repository(&source, skills);
    let url = format!("file://{}", source.display());
    let mut time = |name: &'static str, command: &mut Command| {
        let command = command.env("HOME", &home).stdin(Stdio::null());
        let started = Instant::now();
        let output = command.output().unwrap();
        let took = started.elapsed();
        assert!(
            output.status.code().is_some_and(|code| code < 2),
            "{name}: {output:?}"
        );
        let fastest = times.entry(name).or_insert(took);
        *fastest = took.min(*fastest);
    };
    time(
        "clone",
        git(root.path())
            .args(["clone", "--quiet", "--depth=1", &url])
            .arg(&clone),
    );
    let all = files(&clone.join("skills"));
    time("cat", Command::new("cat").args(&all));
    let ours = |words: &[&str]| {
        let mut command = Command::new(program());
        command.args(words);
        command
    };
    time(
        "install --all",
        &mut ours(&["install", &url, "--all", "--yes"]),
    );
    time("list-installed", &mut ours(&["list-installed"]));
    time(
        "list-installed --json",
        &mut ours(&["list-installed", "--json"]),
    );
    time("doctor", &mut ours(&["doctor"]));
    time("validate", ours(&["validate"]).arg(clone.join("skills")));
    time("verify", &mut ours(&["verify"]));
    time("outdated", &mut ours(&["outdated"]));
    time(
        "search-installed",
        &mut ours(&["search-installed", "word17"]),
    );
    time("tree", &mut ours(&["tree", "skill-0001"]));
    for at in 0..40 {
        let file = source.join(format!("skills/skill-{:04}/SKILL.md", at * skills / 40));
        let text = fs::read_to_string(&file).unwrap() + "more text\n";
        fs::write(file, text).unwrap();
    }
    commit(&source);
    time("update, 40 changed", &mut ours(&["update", "--yes"]));
    let large = root.path().join("large");
    fs::create_dir(&large).unwrap();
    fs::write(
        large.join("SKILL.md"),
        "---\nname: large\ndescription: Use when x.\n---\nx\n",
    )
    .unwrap();
    for at in 0..400 {
        fs::write(large.join(format!("{at}.md")), words(at, 5000)).unwrap();
    }
    time("sha256sum", Command::new("sha256sum").args(files(&large)));
    time("scan of 12 MB", ours(&["scan"]).arg(&large));
}

/// A repository of skills of 45 lines, with a script each.
fn repository(dir: &Path, skills: usize) {
    for skill in 0..skills {
        let dir = dir.join(format!("skills/skill-{skill:04}"));
        fs::create_dir_all(dir.join("scripts")).unwrap();
        let about = words(skill, 20).replace('\n', " ");
        let body = words(skill + 1_000_000, 400);
        let text =
            format!("---\nname: skill-{skill:04}\ndescription: Use when you {about}.\n---\n{body}");
        fs::write(dir.join("SKILL.md"), text).unwrap();
        fs::write(
            dir.join("scripts/run.sh"),
            format!("#!/bin/sh\necho {skill}\n"),
        )
        .unwrap();
    }
    let init = git(dir).args(["init", "--quiet"]).arg(dir).status();
    assert!(init.unwrap().success());
    commit(dir);
}

fn commit(dir: &Path) {
    for words in [&["add", "--all"][..], &["commit", "--quiet", "--message=x"]] {
        let names = ["-c", "user.name=x", "-c", "user.email=x@x.org", "-C"];
        let done = git(dir).args(names).arg(dir).args(words).status();
        assert!(done.unwrap().success());
    }
}

fn git(dir: &Path) -> Command {
    let mut git = Command::new("git");
    git.env("GIT_CONFIG_NOSYSTEM", "1")
        .current_dir(dir.parent().unwrap());
    git
}

/// So many words of three thousand, ten in a line.
fn words(seed: usize, count: usize) -> String {
    let mut text = String::new();
    let mut state = u32::try_from(seed).unwrap().wrapping_mul(2_654_435_761) | 1;
    for at in 1..=count {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let end = if at % 10 == 0 { '\n' } else { ' ' };
        let _ = write!(text, "word{}{end}", (state >> 16) % 3000);
    }
    text
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let below = entries.flat_map(|path| {
        if path.is_dir() {
            files(&path)
        } else {
            vec![path]
        }
    });
    below.collect()
}

fn program() -> PathBuf {
    let given = std::env::var_os("AGENT_SKILLS_BIN");
    given.map_or_else(|| env!("CARGO_BIN_EXE_agent-skills").into(), PathBuf::from)
}
