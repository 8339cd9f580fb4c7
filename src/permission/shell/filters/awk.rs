//! `awk` as a filter (docs/spec/restriction.md#program-filters): programs of a few tokens that
//! compare and print fields. The rest of the language reads and writes files and runs programs.

use crate::permission::shell::word::{self, Word};

/// Whether these arguments make `awk` a filter: `[-F CHAR] PROGRAM`.
pub fn is_filter(arguments: &[Word]) -> bool {
    match word::texts(arguments).as_deref() {
        Some(["-F", separator, program]) => is_separator(separator) && is_harmless(program),
        Some([joined, program]) => {
            joined.strip_prefix("-F").is_some_and(is_separator) && is_harmless(program)
        }
        Some([program]) => is_harmless(program),
        _ => false,
    }
}

/// One character, or a tab in `awk`'s notation.
fn is_separator(text: &str) -> bool {
    let mut chars = text.chars();
    let one = chars.next().filter(|_| chars.as_str().is_empty());
    text == "\\t" || one.is_some_and(|c| c == ' ' || c.is_ascii_graphic() && !"\\-".contains(c))
}

/// Whether a program contains only listed tokens. After `print`, `>` writes a file, so it may
/// appear only outside braces, where it compares.
fn is_harmless(program: &str) -> bool {
    const OPERATORS: [&str; 9] = ["==", "!=", "<=", ">=", "&&", "||", "<", ">", ","];
    let mut rest = program;
    let mut in_braces = false;
    while let Some(c) = rest.chars().next() {
        let token = match c {
            ' ' | '\t' => 1,
            '{' if !in_braces => 1,
            '}' if in_braces => 1,
            '"' => match string(rest) {
                Some(width) => width,
                None => return false,
            },
            '$' => {
                let index = &rest[1..];
                let digits =
                    index.len() - index.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                match name(index) {
                    "NF" | "NR" => 3,
                    _ if digits > 0 => 1 + digits,
                    _ => return false,
                }
            }
            '0'..='9' => {
                rest.len()
                    - rest
                        .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
                        .len()
            }
            'A'..='Z' | 'a'..='z' | '_' => match (name(rest), in_braces) {
                (name @ ("NR" | "NF"), _) => name.len(),
                ("print", true) => "print".len(),
                _ => return false,
            },
            _ => {
                let operator = OPERATORS
                    .iter()
                    .find(|operator| rest.starts_with(**operator));
                let writes = |operator: &str| {
                    in_braces && operator.starts_with('>') || rest.starts_with(">>")
                };
                match operator {
                    Some(operator) if !writes(operator) => operator.len(),
                    _ => return false,
                }
            }
        };
        in_braces = match c {
            '{' => true,
            '}' => false,
            _ => in_braces,
        };
        rest = &rest[token..];
    }
    !in_braces && !program.trim().is_empty() && !program.starts_with('-')
}

fn name(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    &text[..end.unwrap_or(text.len())]
}

/// The width of a string; only a tab and a line break may be escaped in it.
fn string(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some(at + 1),
            '\\' => {
                chars
                    .next()
                    .filter(|(_, escaped)| matches!(escaped, 't' | 'n'))?;
            }
            '\n' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
#[rustfmt::skip]
mod tests {
    use super::*;

    fn filters(arguments: &[&str]) -> bool {
        let words: Vec<_> = arguments.iter().map(|text| Word::literal(text)).collect();
        is_filter(&words)
    }

    #[test]
    fn fields_that_are_compared_and_printed() {
        for arguments in [
            &["{print $1}"][..], &["{ print $1, $NF }"], &["{print}"], &["NR > 1 {print $2}"], &["$3 > 100 {print $1, $3}"],
            &["$3 != \"Running\" {print $1}"], &["NF"], &["NR==1"], &["NR>=2 && NR<=5"], &["{print $1 \",\" $3}"],
            &["{print $1 \"\\t\" $2}"], &["-F,", "{print $2}"], &["-F", ",", "{print $2}"], &["-F:", "$3 >= 1000 {print $1}"],
            &["-F\\t", "{print $2}"], &["-F", "|", "{print NR \": \" $0}"],
            &["$1 == 2.5 || $2 < 3 {print $0} NR == 7 {print $1}"],
        ] {
            assert!(filters(arguments), "{arguments:?}");
        }
    }

    #[test]
    fn what_reads_writes_or_runs() {
        for program in [
            "", " ", "{system(\"id\")}", "BEGIN{system(\"id\")}", "{print | \"sh\"}", "{print $1 | \"sh\"}", "{print > \"x\"}",
            "{print >> \"x\"}", "{print $1 > $2}", "{print $1>2}", "{print $1 >= $2}", "{\"id\" | getline}", "{getline < \"x\"}",
            "{getline}", "@include \"x\"", "@load \"filefuncs\"", "{print ENVIRON[\"HOME\"]}", "{print | & \"x\"}",
            "{print |& \"sh\"}", "function f(){system(1)}", "{close(\"x\")}", "{printf \"%s\", $1}", "{print $(1)}", "{print -1}",
            "{x=1}", "{NR=1}", "NR=1", "{print $NR++}", "{print;system(\"id\")}", "{print}\n{system(\"id\")}",
            "{print \"a\\\"\" | \"id\"}", "{print \"a\\", "{print \"a", "{print \"a\\\\\" | \"sh\"}", "print > \"x\"", "print",
            "{print $1", "print $1}", "{{print}}", "}{print}", "/x/ {print}", "/x/", "$1 ~ /x/", "$1 ~ \"x\"", "!x", "#x",
            "{print FILENAME}", "ARGV", "{fflush()}", "$1 | 2", "$1 & 2", "1 >> 2", "NR >>\"x\"", "{print}>\"x\"{print >\"x\"}",
            "BEGIN", "END{print NR}", "{print\\\n}", "{print `id`}", "{print 'x'}", "NRx", "$NFx", "$", "$x", "-f", "-v",
            "--version", "{print length}", "{ print $1 ; }", "{print\t\u{a0}1}", "{nextfile}", "{exit}",
        ] {
            assert!(!filters(&[program]), "{program}");
        }
        for arguments in [
            &[][..], &["-f", "x"], &["-f", "x", "y"], &["-v", "a=1", "{print}"], &["-Fab", "{print}"], &["-F", "{print}"],
            &["-F", "-", "{print}"], &["-F\\\\", "{print}"], &["-F", "\\|", "{print}"], &["-F,", "-f", "x"], &["{print}", "x"],
            &["{print}", "a=b"], &["-F,", "{print}", "x"], &["--", "{print}"], &["-E", "x"], &["-i", "x", "{print}"],
        ] {
            assert!(!filters(arguments), "{arguments:?}");
        }
        assert!(!is_filter(&[Word::unknown()]));
        assert!(!is_filter(&[
            Word::literal("-F"),
            Word::unknown(),
            Word::literal("{print}")
        ]));
    }
}
