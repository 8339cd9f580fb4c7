//! Commands looked at for denials, harder than for grants (RESTRICTION.md §6): programs by base
//! name, behind every wrapper and assignment, in texts that are run later; and what cannot be
//! read is denied too.

use super::Fault;
use super::names::Variables;
use super::read::read;
use super::special::is_special;
use super::step::{Simple, Step};
use super::word::Word;
use crate::permission::command::Canonical;
use crate::permission::steps::Steps;

/// Programs that run the words after them, whatever their options.
pub(super) const RUN_WORDS: [&str; 67] = [
    "sudo",
    "doas",
    "su",
    "runuser",
    "pkexec",
    "sg",
    "env",
    "timeout",
    "gtimeout",
    "time",
    "nice",
    "nohup",
    "stdbuf",
    "command",
    "builtin",
    "exec",
    "xargs",
    "find",
    "watch",
    "setsid",
    "ionice",
    "chrt",
    "taskset",
    "numactl",
    "prlimit",
    "setarch",
    "setpriv",
    "flock",
    "parallel",
    "ssh",
    "docker",
    "podman",
    "kubectl",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "nix",
    "nix-shell",
    "direnv",
    "mise",
    "strace",
    "ltrace",
    "valgrind",
    "gdb",
    "perf",
    "chroot",
    "unshare",
    "nsenter",
    "fakeroot",
    "bwrap",
    "firejail",
    "systemd-run",
    "systemd-inhibit",
    "dbus-run-session",
    "xvfb-run",
    "caffeinate",
    "busybox",
    "toybox",
    "script",
    "unbuffer",
    "rlwrap",
    "entr",
    "tmux",
    "screen",
    "coproc",
    "noglob",
];
/// Shells, which run text among their arguments or from their standard input.
const SHELLS: [&str; 11] = [
    "bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh",
];
/// Other programs that run text among their arguments.
const RUN_TEXT: [&str; 17] = [
    "eval",
    "trap",
    "su",
    "runuser",
    "sg",
    "ssh",
    "watch",
    "parallel",
    "script",
    "nix",
    "nix-shell",
    "flock",
    "mise",
    "entr",
    "tmux",
    "screen",
    "xvfb-run",
];
/// Other programs that run their standard input when no argument tells them what to run.
const RUN_INPUT: [&str; 6] = ["parallel", "fakeroot", "unshare", "setarch", "newgrp", "at"];
/// What a text among arguments costs, beside its length.
const TEXT_COST: usize = 32;
/// Words after a program that runs them.
const MAX_WORDS: usize = 256;
/// Texts within texts that are followed.
const MAX_DEPTH: usize = 8;

/// The first part of a command line for which `denies` finds a rule: the part, and the rule's number.
///
/// # Errors
/// When the command cannot be read, or runs a program whose name is not plain text: it may be the
/// one that is denied.
pub fn denied(
    command: &str,
    denies: &dyn Fn(&Canonical) -> Option<usize>,
    steps: &Steps,
) -> Result<Option<(String, usize)>, Fault> {
    // `||` is no pipe; everything else with these characters may feed a program.
    let feeds = command.replace("||", "").contains(['|', '<']);
    Seeker {
        denies,
        feeds,
        steps,
    }
    .text(command, 0)
}

struct Seeker<'a> {
    denies: &'a dyn Fn(&Canonical) -> Option<usize>,
    /// Whether the command line writes to the standard input of something.
    feeds: bool,
    steps: &'a Steps,
}

type Found = Result<Option<(String, usize)>, Fault>;

impl Seeker<'_> {
    fn text(&mut self, text: &str, depth: usize) -> Found {
        if depth > MAX_DEPTH {
            return Err(Fault::new(
                "",
                "too many command lines within command lines",
            ));
        }
        for step in read(text, Variables::default(), self.steps)? {
            match step {
                Step::Command(simple) => {
                    if let Some(found) = self.simple(&simple, depth)? {
                        return Ok(Some(found));
                    }
                }
                Step::Loop(name) if is_special(&name) => {
                    let part = format!("for {name}");
                    return Err(Fault::new(&part, "this variable may steer programs"));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    fn simple(&mut self, simple: &Simple, depth: usize) -> Found {
        // Every word may begin the command that is run, so the work is the square of their number.
        let many = simple.words.len() > MAX_WORDS;
        let mut runs_words = true;
        for (at, word) in simple.words.iter().enumerate() {
            if !runs_words {
                break;
            }
            let words = &simple.words[at..];
            let Some(program) = word.text() else {
                if at == 0 {
                    return Err(Fault::new(&word.raw, "the program must be plain text"));
                }
                continue;
            };
            let base = program.rsplit('/').next().unwrap_or(program);
            for name in [program, base] {
                if let Some(rule) = (self.denies)(&canonical(name, &words[1..])) {
                    return Ok(Some((simple.shown(), rule)));
                }
            }
            if let Some(found) = self.arguments(base, &words[1..], depth)? {
                return Ok(Some(found));
            }
            // `command -v bash` and `find -name bash` only look for it.
            let looks = at > 0 && only_looks(&simple.words);
            if self.feeds && !looks && runs_input(base, &words[1..]) {
                return Err(Fault::new(base, "it runs text that is not known"));
            }
            runs_words = at > 0 || RUN_WORDS.contains(&base);
            if runs_words && many {
                return Err(Fault::new(base, "it runs too long a command"));
            }
        }
        Ok(None)
    }

    /// Looks into arguments that may be command lines themselves.
    fn arguments(&mut self, program: &str, arguments: &[Word], depth: usize) -> Found {
        if program == "eval" {
            let texts: Option<Vec<&str>> = arguments.iter().map(Word::text).collect();
            let Some(texts) = texts else {
                return Err(Fault::new("eval", "it runs text that is not known"));
            };
            return self.text(&texts.join(" "), depth + 1);
        }
        let unknown = |part: &str| Fault::new(part, "it runs text that is not known");
        if program == "env" {
            return match split_by_env(arguments)? {
                // Options in it count too.
                Some(text) => self.text(&format!("env {text}"), depth + 1),
                None => Ok(None),
            };
        }
        if !runs_text(program) {
            return Ok(None);
        }
        // Behind a script stand only words for it, unless they look like more.
        let only_long = SHELLS.contains(&program) && !arguments.iter().any(has_command);
        for word in arguments {
            let text = word.text().ok_or_else(|| unknown(&word.raw))?;
            // The end of `find … -exec sh -c …` is none of its texts.
            if text == ";" || only_long && !text.contains(char::is_whitespace) {
                continue;
            }
            let is_option = text.starts_with('-') && !text.contains(char::is_whitespace);
            let texts = match text.split_once('=') {
                _ if !is_option => [text, ""],
                Some((_, value)) => [value, ""],
                None => [
                    text.get(2..).unwrap_or_default(),
                    text.trim_start_matches('-'),
                ],
            };
            for text in texts.into_iter().filter(|text| !text.trim().is_empty()) {
                if !self.steps.spend(TEXT_COST) {
                    return Err(Fault::too_much());
                }
                if let Some(found) = self.text(text, depth + 1)? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }
}

/// Whether a program, by its base name, runs text among its arguments.
pub fn runs_text(program: &str) -> bool {
    let base = program.rsplit('/').next().unwrap_or(program);
    RUN_TEXT.contains(&base) || SHELLS.contains(&base)
}

/// The text that `env -S` takes apart.
///
/// # Errors
/// When it is not known, or `env` would read it otherwise than a shell.
fn split_by_env(arguments: &[Word]) -> Result<Option<String>, Fault> {
    let splits = |word: &Word| {
        let option = word.prefix().strip_prefix('-')?;
        match option.strip_prefix('-') {
            Some(long) if long.starts_with('s') => {
                Some(long.split_once('=').map_or("", |(_, text)| text).len())
            }
            Some(_) => None,
            None => option.split_once('S').map(|(_, text)| text.len()),
        }
    };
    // Options end at a word that can be no value of the option before it.
    let is_option = |word: &Word| word.prefix().starts_with('-');
    let ends = |pair: &[Word]| !pair.iter().any(is_option) && !pair[1].raw.contains('=');
    let options = match arguments.first() {
        Some(first) if !is_option(first) && !first.raw.contains('=') => 0,
        _ => arguments
            .windows(2)
            .position(ends)
            .map_or(arguments.len(), |at| at + 1),
    };
    let found = arguments[..options]
        .iter()
        .enumerate()
        .find_map(|(at, word)| Some((at, splits(word)?)));
    let Some((at, length)) = found else {
        return Ok(None);
    };
    let word = if length == 0 { at + 1 } else { at };
    let text = arguments.get(word).and_then(Word::text);
    let text = text.filter(|text| !text.contains(['\\', '$']));
    let text = text.ok_or_else(|| Fault::new("env -S", "it runs text that is not known"))?;
    Ok(Some(match length {
        0 => text.to_owned(),
        length => text[text.len() - length..].to_owned(),
    }))
}

/// Whether a command that begins with these words only names what stands behind them.
fn only_looks(words: &[Word]) -> bool {
    match words.first().and_then(Word::text) {
        Some("find") => true,
        Some("command") => words
            .get(1)
            .and_then(Word::text)
            .is_some_and(|text| matches!(text, "-v" | "-V")),
        _ => false,
    }
}

/// Whether a program with these arguments takes commands from its standard input.
fn runs_input(program: &str, arguments: &[Word]) -> bool {
    let is = |word: &Word, texts: &[&str]| word.text().is_some_and(|text| texts.contains(&text));
    match program {
        "su" | "runuser" => !arguments.iter().any(has_command),
        "sudo" => arguments
            .iter()
            .any(|word| is(word, &["-s", "-i", "--shell", "--login"])),
        "." | "source" => arguments.first().is_some_and(is_input),
        _ if RUN_INPUT.contains(&program) => {
            arguments.iter().all(|word| word.prefix().starts_with('-'))
        }
        _ if SHELLS.contains(&program) => shell_runs_input(arguments),
        _ => false,
    }
}

/// Whether a word may be the option `-c`, also among others.
fn has_command(word: &Word) -> bool {
    word.prefix().starts_with(['-', '+']) && word.prefix().contains('c')
}

/// Whether a file is the standard input under another name.
fn is_input(word: &Word) -> bool {
    let starts = ["/dev/stdin", "/dev/fd/", "/proc/"];
    starts.iter().any(|start| word.prefix().starts_with(start))
}

fn shell_runs_input(arguments: &[Word]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(letters) = word.prefix().strip_prefix(['-', '+']) else {
            return is_input(word);
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

fn canonical(program: &str, arguments: &[Word]) -> Canonical {
    let mut canonical = Canonical::default();
    canonical.word();
    canonical.literal(program);
    for word in arguments {
        word.write(&mut canonical);
    }
    canonical
}
