//! Programs that only report or wait, each with the options that keep it so
//! (docs/spec/restriction.md#neutral-commands). Options must be literal. An unknown operand must be
//! quoted and must not be where it could be an option: `date FILE` sets the clock, `date -f FILE`
//! prints it. `basename` and `dirname` have only options that print.

use super::word::{Word, after_options, all, is_digits};

/// Whether a program with these arguments needs no rule.
pub fn is_neutral(program: &str, arguments: &[Word]) -> bool {
    match program {
        "sleep" => !arguments.is_empty() && all(arguments, is_duration),
        "date" => date(arguments),
        "basename" | "dirname" => names_paths(program, arguments),
        "seq" => seq(arguments),
        "uname" => all(arguments, |text| is_cluster(text, "asnrvmpio")),
        "id" => id(arguments),
        "nproc" => all(arguments, |text| text == "--all"),
        "which" => has_names_after(arguments, &["-a"]),
        "type" => has_names_after(arguments, &["-a", "-t", "-p"]),
        "whoami" | "hostname" => arguments.is_empty(),
        _ => false,
    }
}

/// `-` followed by some of these letters.
fn is_cluster(text: &str, letters: &str) -> bool {
    text.strip_prefix('-')
        .is_some_and(|these| !these.is_empty() && these.chars().all(|c| letters.contains(c)))
}

fn is_number(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    is_digits(whole) && is_digits(part)
}

fn is_duration(text: &str) -> bool {
    is_number(text.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(text))
}

/// `+FORMAT`, `-d TEXT`, and output format options.
fn date(arguments: &[Word]) -> bool {
    let mut words = arguments.iter();
    let mut formats = 0;
    while let Some(word) = words.next() {
        if word.prefix().starts_with('+') && word.is_one_word() {
            formats += 1;
            continue;
        }
        match word.text() {
            Some("-d") if words.next().is_some_and(Word::is_one_word) => {}
            Some(
                "-u" | "-R" | "-I" | "-Idate" | "-Ihours" | "-Iminutes" | "-Iseconds" | "-Ins",
            ) => {}
            _ => return false,
        }
    }
    formats <= 1
}

/// One operand; for `basename` optionally a suffix.
fn names_paths(program: &str, arguments: &[Word]) -> bool {
    let operands = match arguments {
        [first, operands @ ..] if first.text() == Some("--") => operands,
        operands => operands,
    };
    let most = if program == "basename" { 2 } else { 1 };
    // A known operand is not an option: `basename -s x y` and similar are not interpreted.
    let plain =
        |word: &Word| word.is_one_word() && word.text().is_none_or(|text| !text.starts_with('-'));
    (1..=most).contains(&operands.len()) && operands.iter().all(plain)
}

/// Numbers; after the first, where options have ended, unknown words too.
fn seq(arguments: &[Word]) -> bool {
    let mut rest = arguments;
    while let [option, after @ ..] = rest {
        rest = match (option.text(), after) {
            (Some("-w"), _) => after,
            (Some("-s"), [separator, after @ ..]) if separator.text().is_some() => after,
            _ => break,
        };
    }
    let is_signed = |text: &str| is_number(text.strip_prefix('-').unwrap_or(text));
    let number = |word: &Word| match word.text() {
        Some(text) => is_signed(text),
        None => word.is_one_word(),
    };
    match rest {
        [first, others @ ..] => {
            others.len() <= 2 && first.text().is_some_and(is_number) && others.iter().all(number)
        }
        [] => false,
    }
}

/// Options, then at most one user.
fn id(arguments: &[Word]) -> bool {
    let is_option = |word: &&Word| word.fits(|text| is_cluster(text, "ugGnr"));
    let users = &arguments[arguments.iter().take_while(is_option).count()..];
    users.len() <= 1 && all(users, is_plain_name)
}

fn is_plain_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

/// These options, then one or more plain names.
fn has_names_after(arguments: &[Word], options: &[&str]) -> bool {
    let names = after_options(arguments, options);
    !names.is_empty() && all(names, is_plain_name)
}

#[cfg(test)]
#[rustfmt::skip]
mod tests {
    use super::*;
    use crate::permission::shell::word::{Arity, Piece};

    /// `?` is a quoted unknown word, `*` an unquoted one.
    fn neutral(command: &str) -> bool {
        let hole = |arity| Word {
            raw: "…".to_owned(),
            pieces: vec![Piece::Value(arity)],
            is_whole: true,
        };
        let words: Vec<_> = command
            .split(' ')
            .map(|word| match word {
                "?" => hole(Arity::One),
                "*" => hole(Arity::Any),
                text => Word::literal(text),
            })
            .collect();
        is_neutral(words[0].text().unwrap(), &words[1..])
    }

    #[test]
    fn what_only_tells_or_waits() {
        for command in [
            "sleep 5", "sleep 0.5", "sleep 2m 3s", "date", "date +%F", "date -u +%Y-%m-%dT%H:%M:%SZ", "date -d yesterday +%F",
            "date -d ? +%s", "date -R", "date -Iseconds", "basename ?", "basename a/b.md .md", "basename -- ?", "dirname ?",
            "dirname /a/b", "seq 3", "seq 1 ?", "seq -w 1 10", "seq -s , 1 3", "seq 10 -1 1", "uname", "uname -s", "uname -sm",
            "whoami", "id", "id -u", "id -un", "id -u root", "nproc", "nproc --all", "which git", "which -a git", "type git",
            "type -t cd", "hostname",
        ] {
            assert!(neutral(command), "{command}");
        }
    }

    #[test]
    fn what_may_do_more() {
        for command in [
            "sleep", "sleep ?", "sleep infinity", "sleep --help", "sleep 1x", "date ?", "date *", "date -f x", "date -s x",
            "date --set=x", "date 010100002030", "date -fx", "date -r x", "date -d", "date -d *", "date +%F ?", "date +%F +%s",
            "date -d x -s y", "date -us x", "date --file=x", "basename", "basename *", "basename -s x", "basename a b c",
            "dirname *", "dirname a b", "dirname --", "seq", "seq ?", "seq *", "seq 1 *", "seq --help", "seq -f x 1", "seq -5",
            "seq 1 2 3 4", "uname ?", "uname --all", "uname x", "uname -", "whoami x", "id ?", "id -u ?", "id --zero", "id a b",
            "nproc ?", "nproc --ignore=1", "which", "which ?", "which --read-alias", "which -i x", "type", "type ?", "type -f x",
            "type -m x", "hostname x", "hostname ?", "hostname -F x", "hostname -s", "hostname -b x", "env", "rm x",
        ] {
            assert!(!neutral(command), "{command}");
        }
    }
}
