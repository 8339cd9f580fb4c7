//! `awk` as a filter (docs/spec/restriction.md#program-filters): programs of a few tokens that
//! compare, count and print fields. The rest of the language reads and writes files and runs programs.

use std::sync::LazyLock;

use regex_lite::Regex;

/// One character, or a tab in `awk`'s notation.
pub fn is_separator(text: &str) -> bool {
    let mut chars = text.chars();
    let one = chars.next().filter(|_| chars.as_str().is_empty());
    text == "\\t" || one.is_some_and(|c| c == ' ' || c.is_ascii_graphic() && !"\\-".contains(c))
}

/// A token at the beginning of a text. In a string, only a tab and a line break may be escaped.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    let tokens = [
        r#"[ \t{},;]|"(?:[^"\\\n]|\\[tn])*""#,
        r"\$(?:N[FR]\b|[0-9]+)|[0-9][0-9.]*|(?:N[FR]|print|BEGIN|END)\b",
        // No function of any version is called so.
        r"(?:sum|total|count|[a-z])\b|\+[=+]?",
        "[=!<>]=|&&|[|][|]|[<>]",
    ];
    Regex::new(&format!("^(?:{})", tokens.join("|"))).expect("a test compiles it")
});

/// A pattern at the beginning of a program. Elsewhere a `/` may divide, and where one ends that has a
/// bracket or an escape, versions differ.
static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("^ */[A-Za-z0-9_^][A-Za-z0-9 _:.,=^$*+?@%#-]*/").expect("a test compiles it")
});

/// Whether a program contains only listed tokens. After `print`, `>` writes a file, so it may
/// appear only outside braces, where it compares.
pub fn is_harmless(program: &str) -> bool {
    let pattern = PATTERN.find(program).map_or(0, |found| found.end());
    let mut rest = &program[pattern..];
    let mut in_braces = false;
    while let Some(token) = TOKEN.find(rest) {
        let is_permitted = match token.as_str() {
            "{" => !std::mem::replace(&mut in_braces, true),
            "}" => std::mem::replace(&mut in_braces, false),
            "print" => in_braces,
            "BEGIN" | "END" => !in_braces,
            ">" | ">=" => !in_braces && !rest.starts_with(">>"),
            _ => true,
        };
        if !is_permitted {
            return false;
        }
        rest = &rest[token.end()..];
    }
    rest.is_empty() && !in_braces && !program.trim().is_empty() && !program.starts_with('-')
}

#[cfg(test)]
#[rustfmt::skip]
mod tests {
    use crate::shell::reading_programs;
    use crate::shell::word::Word;

    fn is_filter(arguments: &[Word]) -> bool {
        reading_programs::is_filter(&[&[Word::literal("awk")], arguments].concat())
    }

    fn filters(arguments: &[&str]) -> bool {
        let words: Vec<_> = arguments.iter().map(|text| Word::literal(text)).collect();
        is_filter(&words)
    }

    #[test]
    fn comparing_and_printing_fields_is_harmless() {
        for arguments in [
            &["{print $1}"][..], &["{ print $1, $NF }"], &["{print}"], &["NR > 1 {print $2}"], &["$3 > 100 {print $1, $3}"],
            &["$3 != \"Running\" {print $1}"], &["NF"], &["NR==1"], &["NR>=2 && NR<=5"], &["{print $1 \",\" $3}"],
            &["{print $1 \"\\t\" $2}"], &["-F,", "{print $2}"], &["-F", ",", "{print $2}"], &["-F:", "$3 >= 1000 {print $1}"],
            &["-F\\t", "{print $2}"], &["-F", "|", "{print NR \": \" $0}"],
            &["$1 == 2.5 || $2 < 3 {print $0} NR == 7 {print $1}"], &["/x/"], &["/time:/ {print $0}"], &[" /^a.*b$/{print $1}"],
            &["/x/ && NR > 2"], &["{s += $1} END {print s}"], &["{sum+=$2; n++} END {print sum, n}"], &["/x/ {count++} END{print count}"],
            &["END{print NR}"], &["{print $1+$2;}"], &["{ print $1 ; }"], &["BEGIN {print 1}"],
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
            "{x=1}", "{NR=1}", "NR=1", "{print;system(\"id\")}", "{print}\n{system(\"id\")}",
            "{print \"a\\\"\" | \"id\"}", "{print \"a\\", "{print \"a", "{print \"a\\\\\" | \"sh\"}", "print > \"x\"", "print",
            "{print $1", "print $1}", "{{print}}", "}{print}", "/x/ {system(1)}", "//", "/=x/", "/x/y/", "/x", "$1 /x/", "/a\\/b/", "/[/]x/", "/x/ {print > \"f\"}", "/\"/", "NR==1 /x/", "$1 ~ /x/", "$1 ~ \"x\"", "!x", "#x",
            "{print FILENAME}", "ARGV", "{fflush()}", "$1 | 2", "$1 & 2", "1 >> 2", "NR >>\"x\"", "{print}>\"x\"{print >\"x\"}",
            "{END}", "END{system(1)}", "{s+=system(1)}", "{print s | \"sh\"}", "{getline s}", "{print > s}", "{s=1}", "{a[1]++}", "{total(1)}", "{x+=/y/}", "{print\\\n}", "{print `id`}", "{print 'x'}", "NRx", "$NFx", "$", "$x", "-f", "-v",
            "--version", "{print length}", "{sqrt(s)}", "{split}", "{print\t\u{a0}1}", "{nextfile}", "{exit}",
        ] {
            assert!(!filters(&[program]), "{program}");
        }
        for arguments in [
            &[][..], &["-f", "x"], &["-f", "x", "y"], &["-v", "a=1", "{print}"], &["-Fab", "{print}"], &["-F", "{print}"],
            &["-F", "-", "{print}"], &["-F\\\\", "{print}"], &["-F", "\\|", "{print}"], &["-F,", "-f", "x"], &["{print}", "x"],
            &["{print}", "a=b"], &["-F,", "{print}", "x"], &["-E", "x"], &["-i", "x", "{print}"],
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
