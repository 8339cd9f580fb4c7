//! Measures what the trust in a project costs: each call with the same skills in the personal
//! directory and in a trusted project, in turns. Prints the ratio of the medians, and fails beyond
//! the gate, except for activations, which digest the whole skill. `AGENT_SKILLS_BIN=path` measures
//! another executable.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use agent_skills::facts::Facts;
use agent_skills::policy::{Ledger, SeenPart, parts_of};
use agent_skills::sys::Env;

const ROUNDS: usize = 200;
const GATE: f64 = 1.3;

/// The files and bytes of each skill: 425 and 11 MB in all, as in anthropics/skills.
const SKILLS: [(usize, usize); 17] = [
    (3, 40_000),
    (3, 40_000),
    (3, 40_000),
    (3, 40_000),
    (3, 40_000),
    (3, 40_000),
    (3, 40_000),
    (3, 40_000),
    (3, 40_000),
    (12, 90_000),
    (20, 200_000),
    (30, 400_000),
    (40, 500_000),
    (60, 1_100_000),
    (62, 1_200_000),
    (90, 1_200_000),
    (84, 5_900_000),
];

/// The calls, each with the hook that comes before it, and whether it digests a skill.
const CALLS: [(&str, Option<Hook>, Hook, bool); 5] = [
    ("--schema", None, ("", ""), false),
    (
        "prompt hook",
        None,
        ("post_system_prompt", r#"{"context_name":"default"}"#),
        false,
    ),
    ("read of a file", None, ("read", ""), false),
    (
        "activation, 40 KB",
        Some(("on_start", "{}")),
        (
            "pre_tool",
            r#"{"tool_name":"skill_skill-05","arguments":{}}"#,
        ),
        true,
    ),
    (
        "activation, 1.2 MB",
        Some(("on_start", "{}")),
        (
            "pre_tool",
            r#"{"tool_name":"skill_skill-14","arguments":{}}"#,
        ),
        true,
    ),
];
type Hook = (&'static str, &'static str);

fn main() -> ExitCode {
    let root = tempfile::tempdir().unwrap();
    let [personal, trusted] = ["personal", "trusted"].map(|name| root.path().join(name));
    for (home, skills) in [
        (&personal, personal.join("plugin/skills")),
        (&trusted, trusted.join("clone/.agents/skills")),
    ] {
        fs::create_dir_all(home.join("clone")).unwrap();
        fs::create_dir_all(home.join("plugin/skills")).unwrap();
        fill(&skills);
    }
    trust(&trusted);
    // What changed within the clock's last tick is not believed.
    std::thread::sleep(Duration::from_millis(100));
    let mut is_within = true;
    println!("| call | personal | trusted | × |\n|---|---|---|---|");
    for (name, before, call, digests) in CALLS {
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..=ROUNDS {
            for (home, times) in [&personal, &trusted].into_iter().zip(&mut times) {
                before.map(|before| run(home, before));
                let time = run(home, call);
                // The first round warms the caches.
                if round > 0 {
                    times.push(time);
                }
            }
        }
        let [personal, trusted] = times.map(|mut times| {
            times.sort_unstable();
            times[ROUNDS / 2]
        });
        let ratio = trusted.as_secs_f64() / personal.as_secs_f64();
        println!("| {name} | {personal:.2?} | {trusted:.2?} | {ratio:.2} |");
        is_within &= digests || ratio <= GATE;
    }
    if is_within {
        return ExitCode::SUCCESS;
    }
    println!("beyond the gate of {GATE}");
    ExitCode::FAILURE
}

fn fill(skills: &Path) {
    for (at, (files, bytes)) in SKILLS.into_iter().enumerate() {
        let dir = skills.join(format!("skill-{at:02}"));
        for sub in ["scripts/schemas", "references"] {
            fs::create_dir_all(dir.join(sub)).unwrap();
        }
        let text = format!(
            "---\nname: skill-{at:02}\ndescription: Fills in documents of the kind {at}. Use when asked.\n\
             allowed-tools: Read Bash(git status *)\n---\n{}",
            "Read the rules before you begin.\n".repeat(100)
        );
        fs::write(dir.join("SKILL.md"), text).unwrap();
        for file in 1..files {
            let sub = ["scripts", "references", "scripts/schemas"][file % 3];
            let content = vec![b'x'; bytes / files];
            fs::write(dir.join(format!("{sub}/{file}.txt")), content).unwrap();
        }
    }
}

/// Records the trust of a person in `home`'s project.
fn trust(home: &Path) {
    let facts = Facts::new(Env::new(variables(home), home), None);
    let project = home.join("clone");
    let record = Ledger::trusted(facts.state());
    let seen = SeenPart::all(parts_of(&project), None);
    assert!(record.trust_seen(&project, seen, false).unwrap().is_empty());
}

fn variables(home: &Path) -> [(&'static str, PathBuf); 3] {
    [
        ("AGENT_SKILLS_HOME", home.join("plugin")),
        ("HOME", home.to_owned()),
        ("CHIBI_PROJECT_ROOT", home.join("clone")),
    ]
}

fn run(home: &Path, (hook, data): Hook) -> Duration {
    let given = std::env::var_os("AGENT_SKILLS_BIN");
    let program = given.unwrap_or_else(|| env!("CARGO_BIN_EXE_agent-skills").into());
    let mut command = Command::new(program);
    command.env_clear().envs(variables(home));
    match hook {
        "" => command.arg("--schema"),
        "read" => command.envs([
            ("CHIBI_TOOL_NAME", "read_skill_file"),
            (
                "CHIBI_TOOL_ARGS",
                r#"{"skill":"skill-09","path":"SKILL.md"}"#,
            ),
        ]),
        hook => command.envs([("CHIBI_HOOK", hook), ("CHIBI_HOOK_DATA", data)]),
    };
    let started = Instant::now();
    let output = command.stdin(Stdio::null()).output().unwrap();
    let took = started.elapsed();
    let answer = String::from_utf8_lossy(&output.stdout);
    let refused = answer.contains("Error:") || answer.contains(r#""block":true"#);
    assert!(output.status.success() && !refused, "{hook}: {output:?}");
    took
}
