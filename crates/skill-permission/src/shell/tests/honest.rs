//! Commands as models write them: over-blocking is a defect too. The table says what a sensible
//! person expects; what is refused although it should run says why, and must stay rare.

use crate::scene::scene;

const TABLE: &str = include_str!("honest.txt");

#[test]
fn honest_commands_pass_under_the_list_an_author_would_write() {
    let (mut list, mut count, mut exceptions, mut wrong) = ("", 0, 0, Vec::new());
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (mark, text) = line.split_at(2);
        let (command, reason) = match text.split_once(" :: ") {
            Some((command, reason)) => (command, Some(reason)),
            None => (text, None),
        };
        let command = command.replace('⏎', "\n").replace("{skill}", "/skills/s");
        let runs = || scene().active(list).runs(&command);
        match (mark, reason) {
            ("= ", None) => {
                list = text;
                continue;
            }
            ("+ ", None) if runs() => {}
            ("- ", Some(_)) if !runs() => {}
            // Each exception is a known one: it leaves the table when it is none any more.
            ("+ ", Some(_)) if !runs() => exceptions += 1,
            _ => wrong.push(line),
        }
        count += 1;
    }
    assert_eq!(wrong, Vec::<&str>::new(), "{} under their lists", wrong.len());
    assert!(count >= 300 && exceptions * 100 <= count * 3, "{exceptions} of {count}");
}

#[test]
fn characters_of_several_bytes_are_only_characters() {
    let commands = TABLE.lines().filter_map(|line| line.strip_prefix("+ "));
    let mut read = 0;
    for command in commands.step_by(3).chain(["xargs -0 rm", "env -i a", "nice -n 5 a"]) {
        for (at, _) in command.match_indices(['-', '$', '=', '>', '%', '\\']) {
            let (before, after) = command.split_at(at + 1);
            for other in ['\u{ad}', '\u{1f600}'] {
                let _ = scene().active("Bash(*)").runs(&format!("{before}{other}{after}"));
                read += 1;
            }
        }
    }
    assert!(read > 300, "{read}");
}
