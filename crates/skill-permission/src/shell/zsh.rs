//! Syntax that zsh reads differently; refused if the shell may be zsh
//! (docs/spec/restriction.md#which-shell). zsh evaluates subscripts: with `y='path[$(cmd)]'`,
//! `"$x[y]"` runs `cmd`.

use super::Rejection;
use super::variables::is_name_char;

/// Checks an expansion at the start of `text`, which is a `$`.
///
/// # Errors
/// For `$~x`, `$=x`, `$^x` and `$+x`, and for a name followed by a subscript or modifier.
pub fn expansion(text: &str) -> Result<(), Rejection> {
    let refused = |part: &str| Rejection::err(part, "zsh reads this expansion differently");
    let after = &text[1..];
    if after.starts_with(['~', '=', '^', '+']) {
        return refused(&text[..2]);
    }
    let name = after.len() - after.trim_start_matches(is_name_char).len();
    let width = match after.chars().next() {
        _ if name > 0 => name,
        Some(c) if "@*#?$!-".contains(c) => 1,
        _ => return Ok(()),
    };
    let mut rest = after[width..].chars();
    let goes_on = match rest.next() {
        Some('[') => true,
        Some(':') => rest
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || "&#|*^$(`\"'".contains(c)),
        _ => false,
    };
    if goes_on {
        return refused(&text[..=width]);
    }
    Ok(())
}

/// Checks every expansion in a text that is expanded like a here-document.
///
/// # Errors
/// As [`expansion`].
pub fn expansions(text: &str) -> Result<(), Rejection> {
    text.match_indices('$')
        .try_for_each(|(at, _)| expansion(&text[at..]))
}

/// Checks an operator at the start of `text`, of which `width` bytes were read.
///
/// # Errors
/// For `>!`, `&!`, `&|` and `<1-9>`.
pub fn operator(text: &str, width: usize) -> Result<(), Rejection> {
    let after = &text[width..];
    let forces = after.starts_with('!') || text.starts_with('&') && after.starts_with('|');
    let range = text
        .strip_prefix('<')
        .and_then(|range| range.split_once('>'));
    let is_range = range.is_some_and(|(range, _)| {
        range.contains('-') && range.chars().all(|c| c.is_ascii_digit() || c == '-')
    });
    if forces || is_range {
        return Rejection::err(&text[..width], "zsh reads this operator differently");
    }
    Ok(())
}

/// Checks an argument word.
///
/// # Errors
/// For `=word`, which expands to a program's path, and for a lone `{` or `}`, which group.
pub fn argument(word: &str) -> Result<(), Rejection> {
    let names_program = word.starts_with('=') && word != "=" && word != "==";
    if names_program || word == "{" || word == "}" {
        return Rejection::err(word, "zsh reads this word differently");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expansions_with_subscripts_or_modifiers_are_refused() {
        for text in [
            "$x", "$x y", "$x.y", "$x/y", "$x-y", "$?", "$?,", "$", "$ ", "$.", "$x:", "$x:8080",
            "$x:/y", "$x: y", "$1", "${x}[y]",
        ] {
            assert_eq!(expansion(text), Ok(()), "{text}");
        }
        for text in [
            "$~x",
            "$=x",
            "$^x",
            "$+x",
            "$x[1]",
            "$x[y]",
            "$1[y]",
            "$?[y]",
            "$@[y]",
            "$$[y]",
            "$![y]",
            "$-[y]",
            "$*[y]",
            "$#[y]",
            "$x:h",
            "$x:s/a/b/",
            "$x:&",
            "$x:$y",
            "$@:t",
        ] {
            assert!(expansion(text).is_err(), "{text}");
            assert!(expansions(&format!("a $b {text}")).is_err(), "{text}");
        }
    }

    #[test]
    fn operators_and_words_that_zsh_reads_otherwise() {
        for (text, width) in [
            (">!x", 1),
            (">>!x", 2),
            (">&!x", 2),
            ("&!", 1),
            ("&|", 1),
            ("<1-9>", 1),
            ("<->", 1),
            ("<1->x", 1),
        ] {
            assert!(operator(text, width).is_err(), "{text}");
        }
        for (text, width) in [
            ("> !x", 1),
            (">x", 1),
            ("&& !x", 2),
            ("& x", 1),
            ("<x", 1),
            ("<1 >2", 1),
            ("<x-y>z", 1),
        ] {
            assert_eq!(operator(text, width), Ok(()), "{text}");
        }
        for word in ["=ls", "===", "=a=b", "{", "}"] {
            assert!(argument(word).is_err(), "{word}");
        }
        for word in ["=", "==", "a=b", "{}", "a}", "x"] {
            assert_eq!(argument(word), Ok(()), "{word}");
        }
    }
}
