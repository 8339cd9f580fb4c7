//! Fits text to the terminal's width, each line of it indented.

use super::screen::Screen;
use crate::sys::wrap::filled;

/// `text` after `first`, with later lines indented by `indent`. A word wider than the line stays
/// whole, so that it can be copied. Without a width the result is one line.
pub fn hanging(first: &str, text: &str, indent: usize, screen: Screen) -> String {
    let width = screen.width.unwrap_or(usize::MAX);
    filled(first, text, indent, width).trim_end().to_owned() + "\n"
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
