//! How a shell is told to run a text: the one supported form for grants
//! (docs/spec/restriction.md#shells-within-commands), as in any other form some shell takes another
//! word as the text; and whatever bash takes as one, for denials and protected places.

use super::word::Word;

/// The text in `[-l] [-e] [-u] [-o pipefail] -c TEXT`; further words are its parameters. Options must
/// be in this order, separate or clustered.
pub fn text(arguments: &[Word]) -> Option<&str> {
    let mut words = arguments.iter().map(Word::text);
    let mut order = "leuoc".chars();
    loop {
        let letters = words.next()??.strip_prefix('-')?;
        let mut each = letters.chars();
        let is_ordered = each.all(|letter| order.any(|next| next == letter));
        if letters.is_empty() || !is_ordered || letters.contains('o') && letters.ends_with('c') {
            return None;
        }
        if letters.ends_with('o') && words.next()?? != "pipefail" {
            return None;
        }
        if letters.ends_with('c') {
            return words.next()?.filter(|text| !text.starts_with(['-', '+']));
        }
    }
}

/// Whether a shell runs the file of this name: without a slash, it may look for one elsewhere.
pub fn is_script(word: &str) -> bool {
    word.contains('/') && !word.starts_with(['-', '+'])
}

/// The text that bash would run, behind whatever options.
pub fn text_of(arguments: &[Word]) -> Option<&Word> {
    let mut words = arguments.iter();
    let mut runs_text = false;
    loop {
        let word = words.next()?;
        let option = word.prefix();
        if !option.starts_with(['-', '+']) {
            return runs_text.then_some(word);
        }
        if matches!(option, "-" | "--") {
            return words.next().filter(|_| runs_text);
        }
        if let Some(long) = option.strip_prefix("--") {
            if matches!(long, "rcfile" | "init-file") {
                words.next();
            }
            continue;
        }
        runs_text |= option.contains('c');
        for _ in option.matches(['o', 'O']) {
            words.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_takes_a_text_behind_its_options() {
        for (arguments, text) in [
            ("-c x", Some("x")),
            ("-lc x y", Some("x")),
            ("-ce x", Some("x")),
            ("-c -e -- x", Some("x")),
            ("-o pipefail -O extglob -xc x", Some("x")),
            ("-coe pipefail x", Some("x")),
            ("--rcfile y -c x", Some("x")),
            ("x -c y", None),
            ("-x x", None),
            ("-c", None),
            ("--norc x", None),
        ] {
            let words: Vec<_> = arguments.split(' ').map(Word::literal).collect();
            assert_eq!(text_of(&words).and_then(Word::text), text, "{arguments}");
        }
    }

    fn told(arguments: &str) -> Option<String> {
        let words: Vec<_> = arguments.split(' ').map(Word::literal).collect();
        text(&words).map(str::to_owned)
    }

    #[test]
    fn one_form_is_a_text() {
        for options in [
            "-c",
            "-e -c",
            "-u -c",
            "-eu -c",
            "-ec",
            "-euc",
            "-uc",
            "-e -u -o pipefail -c",
            "-euo pipefail -c",
            "-eo pipefail -c",
            "-o pipefail -c",
            "-l -c",
            "-lec",
        ] {
            for rest in ["x", "x -c y"] {
                let text = told(&format!("{options} {rest}"));
                assert_eq!(text.as_deref(), Some("x"), "{options}");
            }
        }
        for arguments in [
            "x",
            "x -c y",
            "-e x",
            "-eu -o pipefail x y",
            "- -c x",
            "-- -c x",
            "-c -- x",
            "-c - x",
            "-c -e x",
            "-c +e x",
            "+e -c x",
            "-ce x",
            "-cc x",
            "-ue x",
            "-e -e x",
            "-x -c x",
            "-i -c x",
            "-s -c x",
            "-c",
            "-ec",
            "-e",
            "-o -c x",
            "-oc pipefail x",
            "-euoc pipefail x",
            "-o errexit -c x",
            "-o posix -c x",
            "-O extglob -c x",
            "--norc -c x",
            "--rcfile y -c x",
            "--posix -c x",
            "--login -c x",
            "-o pipefail -e -c x",
            "-o pipefail -o pipefail -c x",
            "-ceuo pipefail x",
            "-n -c x",
            "-p -c x",
            "-c ",
            "-",
            "--",
            "",
            "+x x",
            "-x x",
            "--norc x",
            "-s x",
        ] {
            let text = told(arguments);
            assert!(text.is_none_or(|text| text.is_empty()), "{arguments}");
        }
    }
}
