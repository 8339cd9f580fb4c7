//! Measures the cost of a call: the real executable as a whole process, alternating with an empty
//! program compiled here, so that both see the same load. Prints each call's time as a ratio to the
//! empty program's next to its gate, and checks every answer. A missed gate is only
//! printed; a wrong answer fails.
//!
//! `cargo bench --bench latency`; `-- --quick` only shows that it runs, `-- WORD` measures the rows
//! with that word. `AGENT_SKILLS_BIN=path` measures another executable, such as that of install.sh.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::too_many_lines,
    clippy::disallowed_methods
)]

mod cases;
mod fixture;
mod spawn;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cases::Case;
use fixture::Fixture;
use spawn::{Program, Protocol};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let quick = words.iter().any(|word| word == "--quick");
    let wanted = words.iter().find(|word| !word.starts_with('-'));
    let rounds = if quick { 2 } else { 200 };
    let built = PathBuf::from(env!("CARGO_BIN_EXE_agent-skills"));
    let executable = std::env::var_os("AGENT_SKILLS_BIN").map_or(built, PathBuf::from);
    let sizes: &[usize] = if quick {
        &[10]
    } else {
        &[10, 100, 1000, 10_000]
    };
    let fixture = Fixture::new(sizes);
    let empty = Program::empty(fixture.path());
    let ours = Program::installed(&executable, fixture.path());
    let is_static = is_static(&executable);

    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "{} ({}, {} bytes), {rounds} rounds, load {}",
        executable.display(),
        if is_static { "static" } else { "dynamic" },
        std::fs::metadata(&executable).unwrap().len(),
        load.trim()
    );
    println!(
        "{:<38} {:>6} {:>6}  {:>6} {:>6}  {:>5}  {:>8}  {:>7}",
        "median (fastest), x empty", "env", "", "stdin", "", "gate", "ours", "peak"
    );
    let mut missed = 0;
    for case in cases::all(&fixture) {
        if wanted.is_some_and(|part| !case.name.contains(part.as_str())) {
            continue;
        }
        // With ten thousand skills a round is slow, and the ratio has no gate.
        let rounds = rounds / case.slowness.min(rounds);
        missed += usize::from(!measure(&case, &ours, &empty, rounds, is_static));
    }
    for size in sizes {
        let index = fixture.index_bytes(*size);
        println!(
            "index of {size} skills: {index} bytes, {} a skill",
            index / *size as u64
        );
    }
    println!("{missed} of the gates missed");
}

/// Measures one row of the table; returns whether it meets its gate.
fn measure(case: &Case, ours: &Program, empty: &Program, rounds: usize, is_static: bool) -> bool {
    let mut cells = String::new();
    let (mut worst, mut time, mut peak, mut least) = (0.0_f64, Duration::ZERO, 0, 0);
    for protocol in Protocol::ALL {
        let (mut theirs, mut mine) = (Vec::new(), Vec::new());
        for round in 0..=rounds {
            for before in &case.before {
                let run = ours.run(&before.call, protocol);
                assert!((before.is_right)(&run.answer), "{}: {run:?}", case.name);
            }
            (case.prepare)();
            let run = ours.run(&case.measured.call, protocol);
            assert!(
                (case.measured.is_right)(&run.answer),
                "{}: {run:?}",
                case.name
            );
            let idle = empty.run(&case.measured.call, protocol);
            assert!(idle.answer.is_empty());
            // The first round warms the caches.
            if round > 0 {
                peak = peak.max(run.peak_kb);
                least = least.max(idle.peak_kb);
                mine.push(run.time);
                theirs.push(idle.time);
            }
        }
        let ratio = |rank: usize| at(&mut mine.clone(), rank) / at(&mut theirs.clone(), rank);
        let (median, fastest) = (ratio(rounds / 2), ratio(0));
        worst = worst.max(median);
        time = time.max(Duration::from_secs_f64(at(&mut mine, rounds / 2)));
        let _ = write!(cells, "{median:>6.2} ({fastest:>4.2})  ");
    }
    let gate = case.gate.filter(|_| is_static);
    let (word, kept) = match gate {
        None => (String::new(), true),
        Some(gate) if worst <= gate => ("PASS".to_owned(), true),
        Some(gate) => (format!("MISSED by {:.2}", worst - gate), false),
    };
    let gate = gate.map_or_else(|| "-".to_owned(), |gate| format!("{gate:.2}"));
    // The peak memory of a child includes this process's until exec.
    let most = if peak > least { ' ' } else { '<' };
    println!(
        "{:<38} {cells}{gate:>5}  {time:>8.2?} {most}{peak:>5} KB  {word}",
        case.name
    );
    kept
}

/// The run time at this rank, in seconds.
fn at(times: &mut [Duration], rank: usize) -> f64 {
    times.sort_unstable();
    times[rank.min(times.len() - 1)].as_secs_f64()
}

/// Whether it is statically linked. A dynamically linked program has the loader's name in its first
/// page.
fn is_static(executable: &Path) -> bool {
    let bytes = std::fs::read(executable).unwrap();
    let head = &bytes[..bytes.len().min(4096)];
    !head
        .windows(4)
        .any(|window| window == b"/ld-" || window == b"dyld")
}
