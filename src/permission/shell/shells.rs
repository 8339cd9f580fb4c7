//! How a shell is told to run a text: the one supported form for grants
//! (docs/spec/restriction.md#shells-within-commands), as in any other form some shell takes another
//! word as the text; and whatever bash takes as one, for denials and protected places.

use super::word::Word;

/// Shells whose text is parsed like the surrounding command line.
const READ: [&str; 3] = ["bash", "sh", "dash"];

/// Whether a program, by name, is a shell whose texts are parsed.
pub fn is_read(program: &str) -> bool {
    READ.contains(&program)
}

/// What the arguments of a shell mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rendered<'a> {
    /// `[-e] [-u] [-o pipefail] -c TEXT`; further words are the text's parameters.
    Text(&'a str),
    /// `[-e] [-u] [-o pipefail] FILE`: a script; further words are its arguments.
    File(&'a str),
    /// Something else.
    Other,
}

/// Reads the arguments of a shell. Options must be in this order, separate or clustered.
pub fn read(arguments: &[Word]) -> Rendered<'_> {
    let mut words = arguments.iter();
    let mut order = "euoc".chars();
    while let Some(text) = words.next().and_then(Word::text) {
        let Some(letters) = text.strip_prefix('-') else {
            let is_file = !text.is_empty() && !text.starts_with('+');
            return if is_file {
                Rendered::File(text)
            } else {
                Rendered::Other
            };
        };
        let is_ordered = letters
            .chars()
            .all(|letter| order.any(|next| next == letter));
        if letters.is_empty() || !is_ordered || letters.contains('o') && letters.ends_with('c') {
            return Rendered::Other;
        }
        if letters.ends_with('o') && words.next().and_then(Word::text) != Some("pipefail") {
            return Rendered::Other;
        }
        if letters.ends_with('c') {
            let text = words.next().and_then(Word::text);
            let text = text.filter(|text| !text.starts_with(['-', '+']));
            return text.map_or(Rendered::Other, Rendered::Text);
        }
    }
    Rendered::Other
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

    fn told(arguments: &str) -> String {
        let words: Vec<_> = arguments.split(' ').map(Word::literal).collect();
        match read(&words) {
            Rendered::Text(text) => format!("text {text}"),
            Rendered::File(file) => format!("file {file}"),
            Rendered::Other => "other".to_owned(),
        }
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
        ] {
            assert_eq!(told(&format!("{options} x")), "text x", "{options}");
            assert_eq!(told(&format!("{options} x -c y")), "text x", "{options}");
        }
        for arguments in ["x", "x -c y", "-e x", "-eu -o pipefail x y"] {
            assert!(told(arguments).starts_with("file x"), "{arguments}");
        }
        for arguments in [
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
            "-l -c x",
            "-lc x",
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
            let told = told(arguments);
            assert!(
                told == "other" || arguments == "-c " && told == "text ",
                "{arguments}: {told}"
            );
        }
    }
}
