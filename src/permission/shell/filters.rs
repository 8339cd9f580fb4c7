//! Pipe filters (docs/spec/restriction.md#pipe-filters): programs that turn standard input into
//! standard output, and the options with which they do only that. An abbreviated or unknown option
//! makes the command ordinary, because `sort` and similar programs can write files and run
//! programs.

mod awk;
mod jq;
mod sed;

use super::word::{self, Word};

pub use jq::stays_inside as is_jq_program;
pub use sed::{files_read as files_of_sed, only_prints as is_sed_script};

struct Filter {
    name: &'static str,
    /// Letters of flags that may be clustered, such as `-rn`.
    letters: &'static str,
    /// Options whose value is the next word or joined to them.
    valued: &'static [&'static str],
    /// The permitted operands: patterns and sets, never files.
    operands: Operands,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    None,
    /// Exactly one, unless an option gave it.
    Pattern,
    /// One or two.
    Sets,
}

#[rustfmt::skip]
static FILTERS: &[Filter] = &[
    filter("head", "qv", &["-n", "-c"], Operands::None),
    filter("tail", "qv", &["-n", "-c"], Operands::None),
    filter("wc", "lwcmL", &[], Operands::None),
    filter("sort", "rnufhVbdgMs", &["-k", "-t"], Operands::None),
    filter("uniq", "cdui", &["-f", "-s", "-w"], Operands::None),
    filter("cut", "s", &["-d", "-f", "-c", "-b"], Operands::None),
    filter("tr", "dscC", &[], Operands::Sets),
    filter("grep", "nivEFPwxcohqsa", &["-m", "-e", "-A", "-B", "-C"], Operands::Pattern),
    filter("egrep", "nivwxcohqsa", &["-m", "-e", "-A", "-B", "-C"], Operands::Pattern),
    filter("fgrep", "nivwxcohqsa", &["-m", "-e", "-A", "-B", "-C"], Operands::Pattern),
    filter("nl", "", &["-b", "-w", "-s"], Operands::None),
    filter("column", "tx", &["-s", "-c"], Operands::None),
    filter("cat", "nbsAETvet", &[], Operands::None),
    filter("rev", "", &[], Operands::None),
    filter("tac", "", &[], Operands::None),
];

const fn filter(
    name: &'static str,
    letters: &'static str,
    valued: &'static [&'static str],
    operands: Operands,
) -> Filter {
    Filter {
        name,
        letters,
        valued,
        operands,
    }
}

/// Whether a command only filters what it reads from a pipe.
pub fn is_filter(words: &[Word]) -> bool {
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    match program.text() {
        Some("jq") => jq::is_filter(arguments),
        Some("sed") => sed::is_filter(arguments),
        Some("awk") => awk::is_filter(arguments),
        Some(name) => {
            let filter = FILTERS.iter().find(|filter| name == filter.name);
            filter.is_some_and(|filter| filter.takes(arguments))
        }
        None => false,
    }
}

impl Filter {
    fn takes(&self, arguments: &[Word]) -> bool {
        // An unknown word may be anything, including `-f/etc/passwd`.
        let Some(texts) = word::texts(arguments) else {
            return false;
        };
        let mut operands = 0;
        let mut pattern_given = false;
        let mut texts = texts.into_iter();
        while let Some(text) = texts.next() {
            if text.len() < 2 || !text.starts_with('-') {
                operands += 1;
            } else if !self.is_flag(text) {
                let mut valued = self.valued.iter();
                let Some(option) = valued.find(|option| text.starts_with(**option)) else {
                    return false;
                };
                let value = Some(&text[option.len()..]).filter(|value| !value.is_empty());
                let value = value.or_else(|| texts.next());
                pattern_given |= *option == "-e";
                if !value.is_some_and(|value| is_value(option, value, self.operands)) {
                    return false;
                }
            }
        }
        match self.operands {
            Operands::None => operands == 0,
            Operands::Pattern => operands == usize::from(!pattern_given),
            Operands::Sets => (1..=2).contains(&operands),
        }
    }

    fn is_flag(&self, text: &str) -> bool {
        let letters = &text[1..];
        let counts =
            matches!(self.name, "head" | "tail") && letters.chars().all(|c| c.is_ascii_digit());
        let is_long = self.operands == Operands::Pattern
            && matches!(text, "--color=never" | "--line-buffered");
        counts || is_long || letters.chars().all(|c| self.letters.contains(c))
    }
}

/// Whether an option's value has the right form: a number, field list, delimiter or pattern.
fn is_value(option: &str, value: &str, operands: Operands) -> bool {
    match option {
        "-t" | "-d" | "-s" => value.chars().count() <= 2,
        "-e" => operands == Operands::Pattern,
        _ => {
            let plain = |c: char| c.is_ascii_alphanumeric() || "+-,.".contains(c);
            !value.is_empty() && value.chars().all(plain)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(command: &str) -> bool {
        let words: Vec<_> = command.split(' ').map(Word::literal).collect();
        is_filter(&words)
    }

    #[test]
    fn what_only_filters() {
        for command in [
            "head",
            "head -20",
            "head -n 20",
            "head -n20",
            "tail -c 100",
            "tail -n +5",
            "wc -l",
            "sort",
            "sort -rn",
            "sort -k 2 -t ,",
            "sort -k2,3n",
            "uniq -c",
            "cut -d: -f1",
            "cut -d , -f 1-3",
            "tr a-z A-Z",
            "tr -d x",
            "grep x",
            "grep -i x",
            "grep -vE x",
            "grep -n -A 3 x",
            "grep -e x",
            "grep -c x",
            "nl",
            "column -t",
            "cat",
            "rev",
            "tac",
        ] {
            assert!(filters(command), "{command}");
        }
    }

    #[test]
    fn what_reads_or_writes_files_or_runs_programs() {
        for command in [
            "head x",
            "head -n 5 x",
            "head --lines=5",
            "tail -f",
            "tail -F x",
            "tail --follow",
            "wc x",
            "wc --files0-from=x",
            "sort x",
            "sort -o x",
            "sort -uo x",
            "sort -ox",
            "sort --compress-prog=./evil",
            "sort -S100k",
            "sort -T /tmp",
            "sort --files0-from=x",
            "uniq x",
            "uniq x y",
            "cut -f1 x",
            "tr",
            "tr a b c",
            "grep",
            "grep x y",
            "grep -r x",
            "grep -f x",
            "grep -fx",
            "grep -e x y",
            "grep -R x",
            "grep --file=x",
            "cat x",
            "cat -",
            "cat -x",
            "nl x",
            "rev x",
            "tac x",
            "column x",
            "sed w x",
            "awk x",
            "tee x",
            "xargs x",
            "less",
            "jq",
            "grep -if x",
            "sort -k /x",
            "head -n ../x",
        ] {
            assert!(!filters(command), "{command}");
        }
    }
}
