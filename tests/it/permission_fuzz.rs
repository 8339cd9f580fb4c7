//! Whatever is in a list or a command, a decision about it comes, and soon: no panic, no overflow
//! of the stack, nothing that takes long. `FUZZ_SECONDS=600` makes it a long run, and with
//! `--release` the law's 50 ms are enforced.

use std::time::{Duration, Instant};

use crate::shell_grammar::Grammar;
use crate::shell_tables::refusal;

/// A build without optimisation is given more, and so is a machine with other work.
const LIMIT: Duration = Duration::from_millis(if cfg!(debug_assertions) { 5000 } else { 50 });

#[test]
fn every_list_and_command_is_decided_soon() {
    // The program decides on its main thread, which has 8 MB; without optimisation each call takes
    // several times the stack.
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    thread.spawn(decide_for_a_while).unwrap().join().unwrap();
}

fn decide_for_a_while() {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seconds = variable("FUZZ_SECONDS").unwrap_or(2);
    let mut grammar = Grammar::new(variable("FUZZ_SEED").unwrap_or(11));
    let trace = std::env::var_os("FUZZ_TRACE");
    let begun = Instant::now();
    let mut decided = 0_u64;
    let mut slowest = (Duration::ZERO, String::new());
    while begun.elapsed() < Duration::from_secs(seconds) {
        let entries = grammar.entries();
        let command = grammar.anything();
        if let Some(trace) = &trace {
            // What overflows the stack leaves nothing else behind.
            std::fs::write(trace, format!("{entries}\n\n{command}")).unwrap();
        }
        let start = Instant::now();
        let message = refusal(&entries, &command);
        let mut took = start.elapsed();
        for _ in 0..5 {
            // Something else may have had the processor.
            if took > LIMIT {
                let again = Instant::now();
                refusal(&entries, &command);
                took = took.min(again.elapsed());
            }
        }
        let shown: String = command.chars().take(300).collect();
        assert!(
            took < LIMIT,
            "{took:?} for {} bytes under {entries:?}: {shown:?}",
            command.len()
        );
        assert!(message.is_none_or(|text| text.chars().count() <= 600));
        decided += 1;
        if took > slowest.0 {
            slowest = (took, shown);
        }
    }
    println!(
        "{decided} decided, slowest {:?}: {:?}",
        slowest.0, slowest.1
    );
}
