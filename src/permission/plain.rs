//! Commands without any shell syntax: words that every shell reads alike.

use super::command::Canonical;

/// The words of a command that consists of plain and quoted text only; `None` for anything that a
/// shell could read as more than one command with literal words.
pub fn plain_command(text: &str) -> Option<Canonical> {
    let mut words: Vec<String> = Vec::new();
    let mut chars = text.trim().chars();
    let mut between = true;
    while let Some(c) = chars.next() {
        if c == ' ' || c == '\t' {
            between = true;
            continue;
        }
        if std::mem::take(&mut between) {
            words.push(String::new());
        }
        let word = words.last_mut()?;
        match c {
            '\'' | '"' => loop {
                match chars.next()? {
                    end if end == c => break,
                    '$' | '`' | '\\' | '!' if c == '"' => return None,
                    inside if inside.is_control() => return None,
                    inside => word.push(inside),
                }
            },
            c if c.is_ascii_alphanumeric() || "_-./:@%+,^".contains(c) => word.push(c),
            '=' if words.len() > 1 => words.last_mut()?.push('='),
            _ => return None,
        }
    }
    (!words.is_empty()).then(|| words.iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_read_and_syntax_is_not() {
        let words = plain_command(" git  commit -m 'a; b' --x=\"c d\" ");
        let expected = ["git", "commit", "-m", "a; b", "--x=c d"].iter().collect();
        assert_eq!(words, Some(expected));
        for text in [
            "", "a;b", "a&b", "a|b", "a>b", "a<b", "a\nb", "$a", "`a`", "a$(b)", "\"$a\"", "a*",
            "a?", "a[b]", "~/a", "{a,b}", "a\\b", "'a", "a=b c", "(a)", "#a", "!a", "\"`a`\"",
        ] {
            assert_eq!(plain_command(text), None, "{text}");
        }
    }
}
