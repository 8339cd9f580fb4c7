//! Every command at a terminal of 60 columns: no line is wider, unless it cannot be broken.

use std::thread;

use unicode_width::UnicodeWidthStr;

use crate::transcript_world::World;
use crate::transcripts::all;

const COLUMNS: u16 = 60;

/// Whether a command prints what is not broken: JSON, files, or what other programs read.
fn prints_data(line: &str) -> bool {
    const DATA: [&str; 9] = [
        "--json",
        "--file",
        "--diff",
        "--format",
        " cat ",
        " try ",
        " completions",
        " proposals show",
        "__complete",
    ];
    let is_other = !line.contains("agent-skills") || line.contains('|') || line.contains('>');
    is_other || DATA.iter().any(|data| line.contains(data))
}

/// Whether a line has more than a label and one word; a command in backticks is one.
fn could_be_broken(line: &str) -> bool {
    let outside: Vec<&str> = line.split('`').step_by(2).collect();
    outside.join("x").split_whitespace().count() > 2
}

#[test]
fn at_sixty_columns_no_line_is_wider() {
    let wide: Vec<String> = thread::scope(|scope| {
        let play = |text: String| {
            move || {
                let world = World::new();
                let mut wide = Vec::new();
                for (line, answer) in world.answers_at(COLUMNS, &text) {
                    // What was typed is on the screen already, with its line end.
                    let answer = answer.replace("] ", "]\n");
                    let too_wide =
                        |line: &&str| line.width() > COLUMNS.into() && could_be_broken(line);
                    let lines = answer
                        .lines()
                        .filter(too_wide)
                        .map(|told| format!("$ {line}\n{told}"));
                    if !prints_data(&line) {
                        wide.extend(lines);
                    }
                }
                wide
            }
        };
        // These have each command; the others are variations.
        let walks = all()
            .into_iter()
            .filter(|(name, _)| name.starts_with("walk_"));
        let played: Vec<_> = walks.map(|(_, text)| scope.spawn(play(text))).collect();
        played
            .into_iter()
            .flat_map(|one| one.join().unwrap())
            .collect()
    });
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}
