//! `agent-skills search` over a catalog of 10,000 skills: the whole process, from start to answer.
//! The issue requires less than 50 ms.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The maximum for one source.
const SKILLS: usize = 10_000;
const RUNS: usize = 40;

/// A word of a description: one of a thousand, some far more common than others.
fn word(seed: &mut u64) -> String {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    let share = (*seed % 1000) * (*seed / 1000 % 1000) / 1000;
    format!("word{share}s")
}

fn main() -> Result<(), Box<dyn Error>> {
    let root = tempfile::tempdir()?;
    let mut seed = 88_172_645_463_325_252;
    for skill in 0..SKILLS {
        let dir = root
            .path()
            .join(format!("source/{}/skill-{skill}", skill % 100));
        fs::create_dir_all(&dir)?;
        // 40 words are 300 characters, a typical description.
        let words: Vec<String> = (0..40).map(|_| word(&mut seed)).collect();
        let name = format!("{}-{skill}", word(&mut seed));
        let text = format!("---\nname: {name}\ndescription: {}\n---\n", words.join(" "));
        fs::write(dir.join("SKILL.md"), text)?;
    }
    let source = root.path().join("source");
    run(root.path(), &["sources", "remove", "anthropics-skills"])?;
    run(root.path(), &["sources", "add", &source.to_string_lossy()])?;
    for words in [
        &["word500s"][..],
        &["word1s", "word700s", "word900s"],
        &["nothing-like-it"],
    ] {
        let search = [&["search"][..], words].concat();
        let mut times = Vec::new();
        for _ in 0..RUNS {
            times.push(run(root.path(), &search)?);
        }
        times.sort();
        let (median, worst) = (times[RUNS / 2], times[RUNS - 1]);
        println!("search {words:?} over {SKILLS} skills: median {median:.1?}, worst {worst:.1?}");
    }
    Ok(())
}

fn run(home: &Path, words: &[&str]) -> Result<Duration, Box<dyn Error>> {
    let started = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_agent-skills"))
        .args(words)
        .env("AGENT_SKILLS_HOME", home.join("plugin"))
        .current_dir(home)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!("{words:?} failed").into());
    }
    Ok(started.elapsed())
}
