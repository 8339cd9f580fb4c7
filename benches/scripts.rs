//! Measures the plugin's overhead for a script: an empty script is run directly and through the
//! real executable, alternately, so that both see the same load. Prints the fastest runs and the
//! medians, and fails if the fastest differ by more than the budget (issue 4: 3 ms). Other load
//! only adds time, and more to three processes than to one, so the fastest are compared.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 300;
const BUDGET: Duration = Duration::from_millis(3);

fn main() {
    let root = tempfile::tempdir().unwrap();
    skill(root.path(), "plain", "");
    skill(root.path(), "confined", "execution: {sandbox: true}\n");
    let script = root.path().join("skills/plain/run.sh");
    // By this path the same shell is found as interpreter.
    let direct = || {
        Command::new("bash")
            .arg(&script)
            .env("HOME", root.path())
            .output()
    };
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        times[0].push(timed(|| assert!(direct().unwrap().status.success())));
        for (at, name) in [(1, "plain"), (2, "confined")] {
            times[at].push(timed(|| {
                let output = through(root.path(), name).output().unwrap();
                assert_eq!(output.stdout, b"(no output)", "{output:?}");
            }));
        }
    }
    for times in &mut times {
        times.sort_unstable();
    }
    println!("a script that does nothing, {ROUNDS} runs each, interleaved:");
    let more = |at: usize, rank: usize| times[at][rank].saturating_sub(times[0][rank]);
    for (what, rank) in [("fastest", 0), ("median", ROUNDS / 2)] {
        let direct = times[0][rank];
        let (plain, confined) = (more(1, rank), more(2, rank));
        println!(
            "  {what:<8} directly {direct:.2?}, plugin +{plain:.2?}, confined +{confined:.2?}"
        );
    }
    assert!(more(1, 0) <= BUDGET, "over the budget of {BUDGET:?}");
}

fn skill(root: &Path, name: &str, more: &str) {
    let dir = root.join("skills").join(name);
    fs::create_dir_all(&dir).unwrap();
    let text = format!("---\nname: {name}\ndescription: Does nothing.\n{more}---\nbody\n");
    fs::write(dir.join("SKILL.md"), text).unwrap();
    fs::write(dir.join("run.sh"), "").unwrap();
}

fn through(root: &Path, skill: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-skills"));
    let arguments = format!(r#"{{"skill":"{skill}","script":"run.sh"}}"#);
    command
        .env("CHIBI_TOOL_NAME", "run_skill_script")
        .env("CHIBI_TOOL_ARGS", arguments)
        .env("AGENT_SKILLS_HOME", root)
        .env("HOME", root)
        .stdin(Stdio::null());
    command
}

fn timed(run: impl FnOnce()) -> Duration {
    let began = Instant::now();
    run();
    began.elapsed()
}
