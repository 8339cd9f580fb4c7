//! Prose on a terminal: broken between words, with what follows the first line indented.

use unicode_width::UnicodeWidthStr;

use super::screen::Screen;

/// `text` behind `first`, further lines below each other at `indent`; a word that has no room on
/// any line is left whole, so that it can be copied. Without a width it is one line.
pub fn hanging(first: &str, text: &str, indent: usize, screen: Screen) -> String {
    let Some(width) = screen.width() else {
        return format!("{first}{text}").trim_end().to_owned() + "\n";
    };
    let mut lines = first.to_owned();
    // What stands before the text may be coloured, and is as wide as the indent says.
    let mut used = indent;
    for (at, word) in text.split(' ').enumerate() {
        let wide = word.width();
        if at > 0 && used + 1 + wide > width {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            used = indent;
        } else if at > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += wide;
    }
    lines.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_do_not_fit_go_below_and_long_ones_stay_whole() {
        for (width, expected) in [
            (80, "- one two three\n"),
            (10, "- one two\n  three\n"),
            (5, "- one\n  two\n  three\n"),
        ] {
            let shown = hanging("- ", "one two three", 2, Screen::wide(width));
            assert_eq!(shown, expected, "{width}");
        }
        assert_eq!(
            hanging("", "a /long/path", 0, Screen::wide(4)),
            "a\n/long/path\n"
        );
        assert_eq!(hanging("- ", "one two", 2, Screen::pipe()), "- one two\n");
    }
}
