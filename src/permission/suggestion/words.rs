//! The words of a command as it is written, as far as they can stand in an entry.

/// A word, or `None` where only the shell knows what it becomes.
pub type Word = Option<String>;

/// Splits a simple command at blanks outside quotes.
pub fn split(command: &str) -> Vec<Word> {
    let mut words: Vec<(String, bool)> = Vec::new();
    let (mut quote, mut between) = (None, true);
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        if quote.is_none() && c.is_whitespace() {
            between = true;
            continue;
        }
        if std::mem::take(&mut between) {
            words.push((String::new(), true));
        }
        let Some((word, is_plain)) = words.last_mut() else {
            break;
        };
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (_, '\\') => {
                *is_plain = false;
                chars.next();
            }
            _ => {
                *is_plain &= is_plain_character(c);
                word.push(c);
            }
        }
    }
    let kept = |(word, is_plain): (String, bool)| (is_plain && !word.is_empty()).then_some(word);
    words.into_iter().map(kept).collect()
}

/// Characters that mean themselves to the shell, to an entry and to a list of entries, and that a
/// person cannot take for others.
fn is_plain_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./@:+=%~^".contains(c)
}

/// Whether this is `NAME=value`.
pub fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Whether this is an option, or a lone `-`.
pub fn is_option(word: &str) -> bool {
    word.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_shell_would_change_is_no_word_of_an_entry() {
        let read = |text: &str| {
            let words = split(text).into_iter();
            let shown = words.map(|word| word.unwrap_or_else(|| "?".to_owned()));
            shown.collect::<Vec<_>>().join("|")
        };
        for (text, words) in [
            ("git log  -1", "git|log|-1"),
            ("a 'b/c' \"d\"", "a|b/c|d"),
            ("a 'b c' \"$d\" e*", "a|?|?|?"),
            ("a b\\ c d", "a|?|d"),
            ("a '' (b)", "a|?|?"),
            ("a=1 b", "a=1|b"),
            ("", ""),
        ] {
            assert_eq!(read(text), words, "{text}");
        }
        assert!(is_assignment("A_1=x") && !is_assignment("1=x") && !is_assignment("--a=b"));
    }
}
