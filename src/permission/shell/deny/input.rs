//! Programs that read commands from standard input.

use crate::permission::shell::reach::plain_path;
use crate::permission::shell::runners::{self, SHELLS, abbreviates};
use crate::permission::shell::word::Word;
use crate::sys::name_list::Names;

/// Other programs that run their standard input if no argument names a command.
const RUN_INPUT: Names = Names::new(
    "parallel fakeroot unshare nsenter setarch linux32 linux64 i386 i486 i586 i686 x86_64 uname26 \
     chroot newgrp",
);

/// Whether a program with these arguments reads commands from standard input.
pub fn runs_input(program: &str, arguments: &[Word]) -> bool {
    match program {
        "su" | "runuser" => !arguments.iter().any(has_command),
        "sudo" | "doas" => arguments.iter().any(begins_shell),
        "." | "source" => sourced(arguments).is_some_and(is_input),
        // Its operands are a time.
        "at" | "batch" => {
            let may_be_input = |word: &Word| word.text().is_none() || is_input(word);
            arguments.iter().any(may_be_input) || !arguments.iter().any(reads_no_input)
        }
        // It installs what runs later.
        "crontab" => arguments.iter().all(|word| word.is_any(&["-"])),
        _ if RUN_INPUT.has(program) => {
            let operands = arguments.iter().filter(|word| !word.begins_option());
            operands.count() <= runners::wrapper(program).map_or(0, |wrapper| wrapper.operands)
        }
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

/// Whether an option of `sudo` may ask for a shell, alone or in a cluster.
fn begins_shell(word: &Word) -> bool {
    match word.prefix().strip_prefix('-') {
        Some(long) if long.starts_with('-') => ["--shell", "--login"]
            .iter()
            .any(|option| abbreviates(word.prefix(), option)),
        Some(letters) => letters.contains(['s', 'i']),
        None => false,
    }
}

/// The file that `.` reads.
pub fn sourced(arguments: &[Word]) -> Option<&Word> {
    arguments.iter().find(|word| !word.begins_option())
}

/// Whether a file may be standard input under another name, also by a path that climbs.
fn is_input(word: &Word) -> bool {
    let path = plain_path(word.prefix());
    let climbs = path.split('/').any(|name| name == "..");
    ["/dev/stdin", "/dev/fd/", "/proc/"]
        .iter()
        .any(|name| path.starts_with(name) || climbs && path.contains(name))
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
            None if letters.ends_with(['o', 'O']) => drop(words.next()),
            _ => {}
        }
    }
    true
}
