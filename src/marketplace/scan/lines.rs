//! The lines of a text as all rules get them: every byte is in one of them. Pure.

/// The longest line that is looked at as one, in bytes.
pub const LONGEST: usize = 20_000;
/// What follows within this distance in a longer line is seen together.
const OVERLAP: usize = LONGEST / 2;
/// What ends a line for some readers: for Markdown a return, for others these separators too.
const ENDS: [char; 3] = ['\r', '\u{2028}', '\u{2029}'];

/// A line, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'t> {
    /// The number of the line, from 1.
    pub number: usize,
    /// Its text.
    pub text: &'t str,
    /// The text as patterns see it: in lower case, and with each white space character as a space.
    pub normal: String,
    /// See [`Extent`].
    pub extent: Extent,
}

/// How much of a line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The whole of an ordinary line.
    Line,
    /// The whole of a line longer than [`LONGEST`], for what may reach as far. Such lines are mostly
    /// generated, and hold so much that words beside each other mean nothing.
    Long,
    /// A window of a long line, or what stands between [`ENDS`].
    Part,
}

impl Extent {
    /// Whether it is a whole line. All whole lines are the text.
    pub fn is_whole(self) -> bool {
        self != Self::Part
    }

    /// Whether it is short enough that what is on it belongs together. All these are the text, too.
    pub fn is_near(self) -> bool {
        self != Self::Long
    }
}

/// The lines of a text, in order, each followed by its parts.
pub fn lines<'t>(text: &'t str) -> Vec<Line<'t>> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let spaced = |c: char| if c.is_whitespace() { ' ' } else { c };
        let mut push = |text: &'t str, extent| {
            found.push(Line {
                number,
                text,
                normal: text.to_lowercase().chars().map(spaced).collect(),
                extent,
            });
        };
        if line.len() > LONGEST {
            push(line, Extent::Long);
            windows(line).for_each(|window| push(window, Extent::Part));
        } else {
            push(line, Extent::Line);
        }
        if line.contains(ENDS) {
            let parts = line.split(ENDS).flat_map(windows);
            parts.for_each(|part| push(part, Extent::Part));
        }
    }
    found
}

/// Overlapping windows that cover a line.
fn windows(line: &str) -> impl Iterator<Item = &str> {
    let starts = (0..line.len().saturating_sub(OVERLAP).max(1)).step_by(LONGEST - OVERLAP);
    starts.map(|start| {
        let end = line.floor_char_boundary(start + LONGEST);
        &line[line.floor_char_boundary(start)..end]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, keep: fn(Extent) -> bool) -> Vec<&str> {
        let lines = lines(text).into_iter().filter(|line| keep(line.extent));
        lines.map(|line| line.text).collect()
    }

    #[test]
    fn a_line_ends_where_some_reader_ends_it() {
        assert_eq!(of("a\r\nb\n\nc", |_| true), ["a", "b", "", "c"]);
        for end in ENDS {
            let text = format!("a{end}b");
            assert_eq!(of(&text, |_| true), [&*text, "a", "b"]);
        }
    }

    #[test]
    fn all_of_a_long_line_is_in_the_windows() {
        for (letter, size) in [
            ("a", LONGEST),
            ("a", LONGEST + 1),
            ("é", LONGEST),
            ("€", LONGEST),
        ] {
            let line = letter.repeat(size);
            let mut covered = 0;
            let near = of(&line, Extent::is_near);
            for window in &near {
                let start = window.as_ptr() as usize - line.as_ptr() as usize;
                assert!(
                    start == 0 || start + OVERLAP < covered + letter.len(),
                    "{letter} {start}"
                );
                assert!(window.len() <= LONGEST + letter.len());
                covered = start + window.len();
            }
            assert_eq!(covered, line.len());
            assert_eq!(near.len() > 1, line.len() > LONGEST);
            assert_eq!(of(&line, Extent::is_whole), [&*line]);
        }
    }
}
