//! Programs that read commands from standard input.

use crate::permission::shell::name_list::Names;
use crate::permission::shell::reach::plain_path;
use crate::permission::shell::runners::SHELLS;
use crate::permission::shell::word::Word;

/// Other programs that run their standard input if no argument names a command.
const RUN_INPUT: Names = Names::new("parallel fakeroot unshare setarch newgrp");

/// Whether a program with these arguments reads commands from standard input.
pub fn runs_input(program: &str, arguments: &[Word]) -> bool {
    match program {
        "su" | "runuser" => !arguments.iter().any(has_command),
        "sudo" => arguments
            .iter()
            .any(|word| word.is_any(&["-s", "-i", "--shell", "--login"])),
        "." | "source" => arguments.first().is_some_and(is_input),
        // Its operands are a time.
        "at" | "batch" => {
            let may_be_input = |word: &Word| word.text().is_none() || is_input(word);
            arguments.iter().any(may_be_input) || !arguments.iter().any(reads_no_input)
        }
        // It installs what runs later.
        "crontab" => arguments.iter().all(|word| word.is_any(&["-"])),
        _ if RUN_INPUT.has(program) => arguments.iter().all(Word::begins_option),
        _ if SHELLS.has(program) => shell_runs_input(arguments),
        _ => false,
    }
}

/// Whether a word may contain the option `-c`, alone or in a cluster.
fn has_command(word: &Word) -> bool {
    word.prefix().starts_with(['-', '+']) && word.prefix().contains('c')
}

/// Whether an option tells `at` to read a file, or only to show or remove jobs.
fn reads_no_input(word: &Word) -> bool {
    word.is_any(&["-f", "-l", "-d", "-r", "-c", "-V"])
}

/// Whether a file is standard input under another name.
fn is_input(word: &Word) -> bool {
    let starts = ["/dev/stdin", "/dev/fd/", "/proc/"];
    let path = plain_path(word.prefix());
    starts.iter().any(|start| path.starts_with(start))
}

fn shell_runs_input(arguments: &[Word]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(letters) = word.prefix().strip_prefix(['-', '+']) else {
            // The end of an `-exec sh ;` is no file.
            return is_input(word) || word.is_any(&[";", "+"]);
        };
        match letters.strip_prefix('-') {
            Some("rcfile" | "init-file") => drop(words.next()),
            None if letters.contains('s') => return true,
            None if letters.contains('c') => return words.next().is_none(),
            None if letters.ends_with(['o', 'O']) => drop(words.next()),
            _ => {}
        }
    }
    true
}
