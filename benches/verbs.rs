//! Measures what a person waits for: every verb that touches many skills, with 200 and 800 of them
//! installed from one repository, and with a source of 2,500 and 10,000 skills, against `git clone
//! --depth 1` of the repository, `cat` of the same files and `sha256sum`. Prints the ratios with the
//! larger number and the growth to it, and fails beyond a gate. Both programs of a ratio run in
//! turns, and the fastest runs are compared.

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
const GATES: [(&str, &str, f64); 17] = [
    ("install --all", "clone", 4.0),
    ("update, 40 changed", "clone", 4.0),
    ("list", "cat", 6.0),
    ("list --json", "cat", 6.0),
    ("doctor", "cat", 15.0),
    ("validate", "cat", 40.0),
    ("verify", "cat", 8.0),
    ("update --check", "cat", 8.0),
    ("info", "cat", 15.0),
    ("search_installed", "cat", 6.0),
    ("audit --summary", "cat", 6.0),
    ("trust", "cat", 40.0),
    ("list, trusted project", "cat", 15.0),
    ("scan of 17 MB", "sha256sum", 6.0),
    ("source add", "cat of the source", 40.0),
    ("search", "cat of the source", 1.0),
    ("search, all", "cat of the source", 6.0),
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
    println!("| verb | few | many | growth | × with many | gate |\n|---|---|---|---|---|---|");
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
        println!("{name}: {} ms", time.as_millis());
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
    time("list", &mut ours(&["list"]));
    time("list --json", &mut ours(&["list", "--json"]));
    time("doctor", &mut ours(&["doctor"]));
    time("validate", ours(&["validate"]).arg(clone.join("skills")));
    time("verify", &mut ours(&["verify"]));
    time("update --check", &mut ours(&["update", "--check"]));
    time("info", &mut ours(&["info", "skill-0001"]));
    time(
        "search_installed",
        &mut ours(&["search_installed", "word17"]),
    );
    time("audit --summary", &mut ours(&["audit", "--summary"]));
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
    time("scan of 17 MB", ours(&["scan"]).arg(&large));

    // A project with the same skills, in a home of its own.
    let project = root.path().join("project");
    fs::create_dir_all(project.join(".agents")).unwrap();
    fs::rename(clone.join("skills"), project.join(".agents/skills")).unwrap();
    let plugin = root.path().join("plugin");
    fs::create_dir(&plugin).unwrap();
    fs::write(plugin.join("config.toml"), "unattended = true\n").unwrap();
    let apart = |words: &[&str]| {
        let mut command = ours(words);
        command
            .current_dir(&project)
            .env("AGENT_SKILLS_HOME", &plugin);
        command
    };
    time("trust", &mut apart(&["trust", "--yes"]));
    time("list, trusted project", &mut apart(&["list"]));

    let offered = root.path().join("offered");
    // 2,500 and 10,000.
    write_skills(&offered, skills * 25 / 2);
    time(
        "cat of the source",
        Command::new("cat").args(files(&offered.join("skills"))),
    );
    let first = ["source", "remove", "anthropics-skills"];
    apart(&first).output().unwrap();
    let shown = offered.display().to_string();
    time("source add", &mut apart(&["source", "add", &shown]));
    time("search", &mut apart(&["search", "word17"]));
    time("search, all", &mut apart(&["search"]));
}

/// A repository of skills.
fn repository(dir: &Path, skills: usize) {
    write_skills(dir, skills);
    let init = git(dir).args(["init", "--quiet"]).arg(dir).status();
    assert!(init.unwrap().success());
    commit(dir);
}

/// Skills of 45 lines, with a script each.
fn write_skills(dir: &Path, skills: usize) {
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
