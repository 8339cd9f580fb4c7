//! Wraps prose for a terminal between words, with later lines indented.

use unicode_width::UnicodeWidthStr;

use super::screen::Screen;

/// `text` after `first`, with later lines indented by `indent`. A word wider than the line stays
/// whole, so that it can be copied. Without a width the result is one line.
pub fn hanging(first: &str, text: &str, indent: usize, screen: Screen) -> String {
    let Some(width) = screen.width else {
        return format!("{first}{text}").trim_end().to_owned() + "\n";
    };
    let mut lines = first.to_owned();
    // `first` may contain colour codes; its visible width is `indent`.
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
