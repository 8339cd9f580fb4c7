//! `sed` as a filter (docs/spec/restriction.md#program-filters): one `s` command, or printing or
//! deleting addressed lines. Other commands and flags read and write files and run programs.

/// Whether a script only prints what it reads, changed or not.
pub fn only_prints(script: &str) -> bool {
    // Line numbers, `$`, and what prints, deletes or ends.
    let is_numeric = |c: char| c.is_ascii_digit() || "$,;!~ pdq".contains(c);
    is_harmless(script) || !script.is_empty() && script.chars().all(is_numeric)
}

/// Whether a script is a substitution, or one or two addresses with `p` or `d`.
fn is_harmless(script: &str) -> bool {
    if script.contains(['\n', ';', '{']) {
        return false;
    }
    if let Some(substitution) = script.strip_prefix('s') {
        return is_substitution(substitution);
    }
    let Some(after) = after_address(script) else {
        return false;
    };
    let after = after.strip_prefix(',').map_or(Some(after), after_address);
    matches!(after, Some("p" | "d"))
}

/// The text after a line number, `$` or `/REGEX/`.
fn after_address(script: &str) -> Option<&str> {
    match script.chars().next()? {
        '$' => Some(&script[1..]),
        '/' => after_regex(&script[1..], '/'),
        _ => {
            let after = script.trim_start_matches(|c: char| c.is_ascii_digit());
            (after.len() < script.len()).then_some(after)
        }
    }
}

fn is_substitution(script: &str) -> bool {
    let Some(delimiter) = script.chars().next().filter(|c| "/|,#".contains(*c)) else {
        return false;
    };
    let flags = after_regex(&script[1..], delimiter)
        .and_then(|replacement| after_replacement(replacement, delimiter));
    let is_flag = |c: char| "gpiI".contains(c) || c.is_ascii_digit();
    flags.is_some_and(|flags| flags.chars().all(is_flag))
}

/// The text after a regular expression and its delimiter. Versions differ on whether a delimiter in
/// brackets counts, so brackets may not contain it. Most treat a backslash in brackets as ordinary,
/// which closes `[\]`; some treat it as escaping `]`, so it may not precede one.
fn after_regex(text: &str, delimiter: char) -> Option<&str> {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let next = at + c.len_utf8();
        at = match c {
            // In some versions `\c` takes another character.
            '\\' => {
                next + text[next..]
                    .chars()
                    .next()
                    .filter(|c| *c != 'c')?
                    .len_utf8()
            }
            '[' => {
                let inside = &text[next..];
                let inside = inside.strip_prefix('^').unwrap_or(inside);
                text.len() - inside.len() + bracket(inside, delimiter)?
            }
            _ if c == delimiter => return (at > 0).then(|| &text[next..]),
            _ => next,
        };
    }
    None
}

/// The width of the rest of a bracket expression, including the closing `]`.
fn bracket(inside: &str, delimiter: char) -> Option<usize> {
    let mut at = usize::from(inside.starts_with(']'));
    loop {
        let c = inside[at..].chars().next()?;
        let class = inside[at..].strip_prefix("[:");
        match class {
            Some(class) => {
                let letters = class.find(|c: char| !c.is_ascii_lowercase())?;
                class[letters..].strip_prefix(":]")?;
                at += 2 + letters + 2;
            }
            None if c == ']' => return (!inside[..at].ends_with('\\')).then_some(at + 1),
            None if c == delimiter
                || inside[at..].starts_with("[.")
                || inside[at..].starts_with("[=") =>
            {
                return None;
            }
            None => at += c.len_utf8(),
        }
    }
}

fn after_replacement(text: &str, delimiter: char) -> Option<&str> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == delimiter {
            return Some(&text[at + 1..]);
        }
        if c == '\\' {
            chars.next().filter(|(_, escaped)| *escaped != 'c')?;
        }
    }
    None
}

#[cfg(test)]
#[rustfmt::skip]
mod tests {
    use crate::shell::reading_programs;
    use crate::shell::word::Word;

    fn is_filter(arguments: &[Word]) -> bool {
        reading_programs::is_filter(&[&[Word::literal("sed")], arguments].concat())
    }

    fn filters(arguments: &[&str]) -> bool {
        let words: Vec<_> = arguments.iter().map(|text| Word::literal(text)).collect();
        is_filter(&words)
    }

    #[test]
    fn substitutions_and_selected_lines_are_harmless() {
        for script in [
            "s/a/b/", "s/a/b/g", "s|origin/||", "s,a,b,2", "s#.*github.com[:/]##", "s/a\\/b/c/", "s/[]x]/y/gI", "s/[^]x]/y/",
            "s/[[:space:]]*$//", "s/\\x1b\\[[0-9]*m//g", "s/^v//p", "s/<[^>]*>//g", "s/a/\\//", "s/a/&&/", "p", "1p",
            "$p", "$d", "1,20p", "/x/d", "/^$/d", "/a/,/b/p", "10,$p", "/a\\/b/p", "/[[:digit:]]/p",
        ] {
            // A bare command without an address is not accepted.
            assert!(filters(&[script]), "{script}");
        }
        for arguments in [
            &["-n", "1p"][..], &["-E", "s/(a|b)/x/"], &["-n", "-E", "-e", "/a|b/p"], &["-e", "s/a/b/"],
        ] {
            assert!(filters(arguments), "{arguments:?}");
        }
    }

    #[test]
    fn what_reads_writes_or_runs() {
        for script in [
            "", "s/a/b/e", "s/a/b/w x", "s/a/b/gw x", "s/a/b/we", "s/a/b/m", "1e id", "e", "e id", "w x", "1w x", "r x",
            "1r /etc/passwd", "R x", "W x", "s/a/b/;e id", "s/a/b/\ne id", "{p}", "1{p}", "1,2{p", "s/a/b", "s/a", "s",
            "sxaxbx", "s;a;b;", "s\\a\\b\\", "s/[/]/w x/", "s/[/]/x/", "s/[a/b/", "s/[\\]/x/", "/[\\]/,/]/p", "s/[\\]/]\\/x/g", "s/[\\/]/x/", "s/[[./.]]/x/", "s/[[=a=]]/x/",
            "s/[[:a/b:]]/x/", "s//b/", "//p", "/a/I p", "/a/Ip", "\\,a,p", "1,+2p", 
            "1pw x", "1pe", "1d\n1e id", "y/a/b/", "=", "$=", "l", "n", "i x", "a x", "c x", ":a", "ba",
            "1s/a/b/", "/x/s/a/b/e", "s/a/b/ e", "s/a/b/}", "s/a/b/#e", "#n", "s/\\c\\/a/b/w x/", "s/a/\\c\\/w x/", "s,[,],w x,",
            "s/\\[/]/w x/", "s/[]/]w x/", "s/a/b/\te", "z", "F", "Q", "D", "1,$e", "s|a|b|e", "s#a#b#w x",
        ] {
            assert!(!filters(&[script]), "{script}");
        }
        for arguments in [
            &[][..], &["-i", "s/a/b/"], &["-n", "-i", "1p"], &["-ni", "1p"], &["-s", "1p"], &["-f", "x"], &["-e", "1p", "x"],
            &["-e", "1p", "-e", "e id"], &["1p", "x"],
            &["-n"], &["-e"], &["-nf", "x"], &["--in-place", "1p"], &["-z", "1p"],
        ] {
            assert!(!filters(arguments), "{arguments:?}");
        }
        assert!(!is_filter(&[Word::unknown()]));
    }
}
