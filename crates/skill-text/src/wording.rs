//! Shortens and lists what strangers wrote, for a message, and suggests the name that was meant.

use std::fmt::Display;

/// At most `max` characters of `text`, ending in an ellipsis if it was cut.
pub fn shorten(text: &str, max: usize) -> String {
    if text.len() <= max || text.char_indices().nth(max).is_none() {
        return text.to_owned();
    }
    if max == 0 {
        return String::new();
    }
    let kept: String = text.chars().take(max - 1).collect();
    format!("{}…", kept.trim_end())
}

/// Each value once, where it comes first.
pub fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut kept, value| {
        if !kept.contains(&value) {
            kept.push(value);
        }
        kept
    })
}

/// What a user wrote, for a message: on one line, and shortened if long.
pub fn quoted(written: &str) -> String {
    shorten(&written.escape_debug().to_string(), 100)
}

/// How many things: `1 file`, `2 files`.
pub fn count(number: usize, thing: &str) -> String {
    counted(number, thing, &format!("{thing}s"))
}

/// As [`count`], with the word and its verb: `1 skill is`, `2 skills are`.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    let thing = if number == 1 { one } else { many };
    format!("{number} {thing}")
}

/// The names in backticks.
pub fn backticked<T: Display>(names: impl IntoIterator<Item = T>, between: &str) -> String {
    let names = names.into_iter().map(|name| format!("`{name}`"));
    names.collect::<Vec<_>>().join(between)
}

/// The first `most` of `names` in one line, and how many more there are.
pub fn listed<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The longest name, in bytes, for which one is suggested: no typo is longer, and the comparison is
/// quadratic.
const SUGGESTED_FOR: usize = 200;

/// The name that somebody who wrote `written` most likely meant: at most a third of the letters
/// differ, or else it contains what was written. Case, `_` and `-` do not count.
pub fn nearest<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let folded = |name: &str| name.to_lowercase().replace(['_', '-'], "");
    let wanted = Some(folded(written)).filter(|_| written.len() <= SUGGESTED_FOR)?;
    let length = wanted.chars().count();
    let score = |name: &'n str| {
        let (known, size) = (folded(name), name.chars().count());
        let distance = strsim::damerau_levenshtein(&wanted, &known);
        let is_near = distance * 3 <= length.max(known.chars().count());
        let is_part = length >= 3 && known.contains(&wanted);
        (is_near || is_part).then_some(((!is_near, distance, size), name))
    };
    let names = names.into_iter().filter(|name| name.len() <= SUGGESTED_FOR);
    let best = names.filter_map(score).min_by_key(|(score, _)| *score);
    best.map(|(_, name)| name)
}

/// The question whether the [`nearest`] name is meant, for a hint.
pub fn did_you_mean<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let nearest = nearest(written, names)?;
    Some(format!("did you mean `{}`?", quoted(nearest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_a_character() {
        assert_eq!(shorten("äöü", 3), "äöü");
        assert_eq!(shorten("äöü", 2), "ä…");
        assert_eq!(shorten("ab cd", 4), "ab…");
        assert_eq!(shorten("ab", 0), "");
    }

    #[test]
    fn one_name_is_suggested_for_a_typo_and_none_for_another_word() {
        let names = [
            "pdf",
            "pdf-forms",
            "acme--csv",
            "shell_exec",
            "max_active",
            "x",
        ];
        for (written, expected) in [
            ("pfd", Some("pdf")),
            ("PDF_from", Some("pdf-forms")),
            ("forms", Some("pdf-forms")),
            ("acme-csv", Some("acme--csv")),
            ("shell_exce", Some("shell_exec")),
            ("max_activ", Some("max_active")),
            ("y", None),
            ("", None),
            ("entirely-different", None),
        ] {
            assert_eq!(nearest(written, names), expected, "{written}");
        }
        assert_eq!(nearest(&"x".repeat(SUGGESTED_FOR + 1), names), None);
    }

    #[test]
    fn one_thing_is_not_said_in_the_plural() {
        assert_eq!(count(0, "file"), "0 files");
        assert_eq!(count(1, "file"), "1 file");
        assert_eq!(counted(1, "file is", "files are"), "1 file is");
        assert_eq!(counted(2, "file is", "files are"), "2 files are");
    }
}
