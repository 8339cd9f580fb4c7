//! How a shell is told to run a text: the one supported form, for grants and denials
//! (docs/spec/restriction.md#shells-within-commands). In any other form some shell takes another
//! word as the text.

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

#[cfg(test)]
mod tests {
    use super::*;

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
