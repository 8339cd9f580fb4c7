//! Finds the program behind a wrapper, so that an unknown word in its place is not taken for an
//! operand (docs/spec/restriction.md#unknown-programs). Options are parsed by the wrapper's own
//! syntax; ambiguity counts against the command.

use super::filled;
use super::program::base;
use crate::permission::shell::names;
use crate::permission::shell::word::{Arity, Piece, Word};

struct Wrapper {
    name: &'static str,
    /// Letters of options whose value is the next word or joined; `*` if this is unknown.
    valued: &'static str,
    /// The number of its own operands before the program.
    operands: usize,
}

const fn row(name: &'static str, valued: &'static str, operands: usize) -> Wrapper {
    Wrapper {
        name,
        valued,
        operands,
    }
}

#[rustfmt::skip]
static WRAPPERS: &[Wrapper] = &[
    row("sudo", "ughpCDRTUrt", 0), row("doas", "uC", 0), row("env", "uCS", 0), row("timeout", "ks", 1), row("gtimeout", "ks", 1),
    row("time", "fo", 0), row("nice", "n", 0), row("nohup", "", 0), row("stdbuf", "ioe", 0), row("command", "", 0), row("builtin", "", 0),
    row("exec", "a", 0), row("xargs", "adEILnPs", 0), row("watch", "n", 0), row("setsid", "", 0), row("ionice", "cnpPu", 0), row("chrt", "TPDp", 1),
    row("taskset", "", 1), row("setarch", "", 1), row("flock", "wE", 1), row("chroot", "", 1), row("unshare", "SGRw", 0), row("nsenter", "tSGW", 0),
    row("noglob", "", 0), row("nocorrect", "", 0), row("-", "", 0), row("repeat", "", 1), row("coproc", "", 0), row("busybox", "", 0), row("toybox", "", 0),
    row("npx", "pc", 0), row("bunx", "p", 0), row("pnpx", "p", 0), row("uvx", "pw", 0), row("parallel", "*", 0), row("caffeinate", "tw", 0), row("unbuffer", "", 0),
    row("direnv", "*", 2), row("prlimit", "*", 0), row("numactl", "*", 0), row("setpriv", "*", 0), row("strace", "eopPsuabIOSEX", 0), row("ltrace", "*", 0),
    row("valgrind", "*", 0), row("gdb", "*", 0), row("perf", "*", 1), row("fakeroot", "*", 0), row("bwrap", "*", 0), row("firejail", "*", 0),
    row("systemd-run", "*", 0), row("systemd-inhibit", "*", 0), row("dbus-run-session", "*", 0), row("rlwrap", "*", 0), row("pkexec", "*", 0),
    // After the word that makes them run something: a container, then the program.
    row("docker", "*", 1), row("podman", "*", 1), row("kubectl", "*", 1),
];

/// Subcommands with which container tools run a program.
const RUNS: [&str; 4] = ["run", "exec", "create", "debug"];

/// The unknown word, as written, that may be the program behind wrappers.
pub fn unknown_program(words: &[Word]) -> Option<String> {
    let mut words = words.to_vec();
    let names = filled::placeholders(&words);
    for word in words.iter_mut().skip(1) {
        let is_filled_in = |text: &str| {
            !text.starts_with('-') && names.iter().any(|name| text.contains(name.as_str()))
        };
        if word.text().is_some_and(is_filled_in) {
            word.pieces = vec![Piece::Value(Arity::One)];
        }
    }
    unknown_in(&words)
}

fn unknown_in(words: &[Word]) -> Option<String> {
    let mut words = words;
    // Whether words are added from elsewhere, so that a program follows in any case.
    let mut is_fed = false;
    loop {
        let (first, mut rest) = words.split_first()?;
        let Some(name) = first.text().map(base) else {
            return Some(first.raw.clone());
        };
        let looks = |word: &Word| word.text().is_some_and(|text| text == "-v" || text == "-V");
        if name == "command" && rest.first().is_some_and(looks) {
            return None;
        }
        if name == "find" {
            let unknown = unknown_action(rest);
            return unknown.or(is_fed.then(|| first.raw.clone()));
        }
        let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
        if matches!(name, "docker" | "podman" | "kubectl") {
            let runs = |word: &Word| word.text().is_some_and(|text| RUNS.contains(&text));
            rest = &rest[rest.iter().position(runs)? + 1..];
        }
        words = match behind(wrapper, rest) {
            Place::Known(inner) => inner,
            Place::Unknown(word) => return Some(word.raw.clone()),
            Place::Nowhere => return is_fed.then(|| first.raw.clone()),
        };
        is_fed |= matches!(name, "xargs" | "parallel");
    }
}

enum Place<'a> {
    /// The program and the words after it.
    Known(&'a [Word]),
    Unknown(&'a Word),
    Nowhere,
}

fn behind<'a>(wrapper: &Wrapper, words: &'a [Word]) -> Place<'a> {
    let mut operands = wrapper.operands;
    let mut rest = words.iter().enumerate();
    // Whether the previous option may take this word as its value.
    let mut may_be_value = false;
    let mut options = true;
    while let Some((at, word)) = rest.next() {
        let assigns = names::assignment(&word.raw).is_some();
        match word.text() {
            _ if assigns && word.is_one_word() && !may_be_value => {}
            Some("--") if options => (options, may_be_value) = (false, false),
            Some(text) if options && text.len() > 1 && text.starts_with('-') => {
                match option(text, wrapper.valued) {
                    Takes::Nothing => may_be_value = false,
                    Takes::Maybe => may_be_value = true,
                    Takes::Next => match rest.next() {
                        Some((_, value)) if !value.is_one_word() => return Place::Unknown(value),
                        _ => may_be_value = false,
                    },
                }
            }
            Some(_) if may_be_value => may_be_value = false,
            Some(_) if operands > 0 => operands -= 1,
            Some(_) => return Place::Known(&words[at..]),
            None if may_be_value || word.arity() == Arity::Any => return Place::Unknown(word),
            None if options && word.prefix().starts_with('-') => {}
            None if operands > 0 => operands -= 1,
            None => return Place::Unknown(word),
        }
    }
    Place::Nowhere
}

enum Takes {
    Nothing,
    Maybe,
    Next,
}

fn option(text: &str, valued: &str) -> Takes {
    if let Some(long) = text.strip_prefix("--") {
        return if long.contains('=') {
            Takes::Nothing
        } else {
            Takes::Maybe
        };
    }
    if valued == "*" {
        return Takes::Maybe;
    }
    match text[1..].find(|letter| valued.contains(letter)) {
        Some(at) if at + 2 == text.len() => Takes::Next,
        _ => Takes::Nothing,
    }
}

/// A word of `find` that may be a program it runs, or may become an action.
fn unknown_action(arguments: &[Word]) -> Option<String> {
    let is_any =
        |word: &Word, texts: &[&str]| word.text().is_some_and(|text| texts.contains(&text));
    let is_unknown = |word: &Word| word.text().is_none() && !word.is_never_option();
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        if is_any(word, &["-exec", "-execdir", "-ok", "-okdir"]) {
            let end = after.iter().position(|word| is_any(word, &[";", "+"]));
            let (run, others) = after.split_at(end.unwrap_or(after.len()));
            rest = others;
            // Two unknown words may be `;` and `-exec`.
            let may_run =
                |at: usize| at == 0 || run[..at].iter().filter(|word| is_unknown(word)).count() > 1;
            let mut places = (0..run.len()).filter(|at| may_run(*at));
            if let Some(found) = places.find_map(|at| unknown_in(&run[at..])) {
                return Some(found);
            }
        } else if is_unknown(word) {
            // It may be `-exec`, and the next word a program.
            let found = if word.is_one_word() {
                unknown_in(after)
            } else {
                Some(word.raw.clone())
            };
            if found.is_some() {
                return found;
            }
        }
    }
    None
}
