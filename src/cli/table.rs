//! Aligned tables. On a terminal each row fits on one line: columns are first shortened, then left
//! out, always in the same order. Elsewhere columns have their full width and there are no headings
//! unless requested, because programs may count lines.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::screen::{Paint, Screen};

/// One column.
#[derive(Debug, Clone, Copy)]
struct Column {
    title: &'static str,
    /// The minimum width; 0 for a column that is never shortened.
    least: usize,
    right: bool,
}

/// The content of one cell, on one line.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    paint: Paint,
}

/// Rows below headings, each with optional lines of its own.
#[derive(Debug)]
pub struct Table {
    columns: Vec<Column>,
    /// The columns to leave out, in this order, with commas between them.
    leave_out: &'static str,
    rows: Vec<(Vec<Cell>, Vec<Cell>)>,
    /// Whether there are headings on every device, as for figures that mean nothing without them.
    pub headed: bool,
}

const GAP: usize = 2;
/// The indentation of the lines below a row.
const INDENT: usize = 4;

impl Cell {
    /// Text without line breaks.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            paint: Paint::Plain,
        }
    }

    /// The same with emphasis.
    #[must_use]
    pub fn paint(self, paint: Paint) -> Self {
        Self { paint, ..self }
    }
}

impl Table {
    /// An empty table with these columns, each with its minimum width. If space is short, columns are left
    /// out in the order of `leave_out`.
    pub fn new(columns: &[(&'static str, usize)], leave_out: &'static str) -> Self {
        let column = |&(title, least): &(&'static str, usize)| Column {
            title,
            least,
            right: false,
        };
        Self {
            columns: columns.iter().map(column).collect(),
            leave_out,
            rows: Vec::new(),
            headed: false,
        }
    }

    /// The same with right-aligned numbers in these columns.
    #[must_use]
    pub fn numbers(mut self, titles: &[&str]) -> Self {
        for column in &mut self.columns {
            column.right |= titles.contains(&column.title);
        }
        self
    }

    /// Adds a row and the lines below it.
    pub fn row(&mut self, cells: Vec<Cell>, below: Vec<Cell>) {
        self.rows.push((cells, below));
    }

    /// The table with a line end after every line.
    pub fn render(&self, screen: Screen) -> String {
        let columns = self.layout(screen.width);
        let mut text = String::new();
        if self.headed || screen.is_terminal() {
            let titles = self.columns.iter();
            let titles = titles.map(|column| Cell::new(column.title).paint(Paint::Bold));
            text += &self.line(&columns, &titles.collect::<Vec<_>>(), screen);
        }
        for (cells, below) in &self.rows {
            text += &self.line(&columns, cells, screen);
            for cell in below {
                let lines = screen.less(INDENT).hanging("", &cell.text, 0);
                for line in lines.lines() {
                    text.push_str(&" ".repeat(INDENT));
                    text.push_str(&screen.paint(line, cell.paint));
                    text.push('\n');
                }
            }
        }
        text
    }

    fn layout(&self, width: Option<usize>) -> Vec<(usize, usize)> {
        let is_titled = self.headed || width.is_some();
        let natural = |at: usize| {
            let cells = self.rows.iter().map(|(cells, _)| cells[at].text.width());
            // Empty columns are left out.
            let wide = cells.max().filter(|wide| *wide > 0)?;
            let title = self.columns[at].title.width();
            Some((at, if is_titled { wide.max(title) } else { wide }))
        };
        let mut columns: Vec<(usize, usize)> =
            (0..self.columns.len()).filter_map(natural).collect();
        let Some(width) = width else {
            return columns;
        };
        let least = |&(at, wide): &(usize, usize)| match self.columns[at].least {
            0 => wide,
            least => wide.min(least),
        };
        let gaps = |columns: &[(usize, usize)]| GAP * columns.len().saturating_sub(1);
        for title in self.leave_out.split(", ") {
            if columns.iter().map(least).sum::<usize>() + gaps(&columns) <= width {
                break;
            }
            columns.retain(|(at, _)| self.columns[*at].title != title);
        }
        let mut over = (columns.iter().map(|(_, wide)| wide).sum::<usize>() + gaps(&columns))
            .saturating_sub(width);
        // Shorten the widest first, so that short ones stay whole.
        while over > 0 {
            let spare = columns.iter_mut().filter(|column| column.1 > least(column));
            let Some(widest) = spare.max_by_key(|(at, wide)| (*wide, usize::MAX - at)) else {
                break;
            };
            widest.1 -= 1;
            over -= 1;
        }
        // Only the first column is left: cut it as well.
        if over > 0
            && let Some(first) = columns.first_mut()
        {
            first.1 = first.1.saturating_sub(over).max(1);
        }
        columns
    }

    fn line(&self, columns: &[(usize, usize)], cells: &[Cell], screen: Screen) -> String {
        let shown = columns.iter().map(|&(at, wide)| {
            let text = shortened(&cells[at].text, wide);
            let pad = " ".repeat(wide.saturating_sub(text.width()));
            let text = screen.paint(&text, cells[at].paint);
            if self.columns[at].right {
                pad + &text
            } else {
                text + &pad
            }
        });
        let line = shown.collect::<Vec<_>>().join(&" ".repeat(GAP));
        line.trim_end().to_owned() + "\n"
    }
}

/// The text cut to at most `room` columns.
pub fn shortened(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut left = room.saturating_sub(1);
    let fits = |c: &char| {
        let wide = c.width().unwrap_or(0);
        let fits = wide <= left;
        left = left.saturating_sub(wide);
        fits
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    loop {
        kept.truncate(kept.trim_end().len());
        let shown = format!("{kept}…");
        // Characters can be wider together than one by one: `*` and a variation selector form an
        // emoji.
        if shown.width() <= room || kept.pop().is_none() {
            return shown;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(rows: &[[&str; 3]]) -> Table {
        let columns = [("NAME", 8), ("TOKENS", 0), ("PROBLEMS", 8)];
        let mut table = Table::new(&columns, "TOKENS, PROBLEMS").numbers(&["TOKENS"]);
        for row in rows {
            table.row(
                row.iter().map(|text| Cell::new(*text)).collect(),
                Vec::new(),
            );
        }
        table
    }

    #[test]
    fn columns_are_aligned_also_where_characters_are_wide() {
        let table = table(&[
            ["pdf", "12", "a"],
            ["技能", "3456", "b"],
            ["cafe\u{301}", "1", "c"],
        ]);
        assert_eq!(
            table.render(Screen::pipe()),
            "pdf     12  a\n技能  3456  b\ncafe\u{301}     1  c\n"
        );
    }

    #[test]
    fn a_narrow_terminal_shortens_then_leaves_out_and_never_wraps() {
        let table = table(&[["a-skill-with-a-name", "1234", "hidden-untrusted"]]);
        for (width, expected) in [
            (
                80,
                "NAME                 TOKENS  PROBLEMS\na-skill-with-a-name    1234  hidden-untrusted\n",
            ),
            (
                40,
                "NAME             TOKENS  PROBLEMS\na-skill-with-a…    1234  hidden-untrust…\n",
            ),
            (20, "NAME       PROBLEMS\na-skill-…  hidden-u…\n"),
            (10, "NAME\na-skill-w…\n"),
            (3, "NA…\na-…\n"),
        ] {
            assert_eq!(table.render(Screen::wide(width)), expected, "{width}");
        }
    }

    #[test]
    fn characters_wider_together_than_alone_are_cut_in_time() {
        let rows = [
            ["", "", "ￚ0𝒩aAொA*\u{fe0f}  A𞸻0a"],
            [" 𐒰𑌪🌀 𑐀0 a  ল a", "0", ""],
        ];
        for line in table(&rows).render(Screen::wide(19)).lines() {
            assert!(line.width() <= 19, "{line:?}");
        }
        // Each of the three is two columns wide, but its characters have widths one and zero.
        assert_eq!(shortened("*\u{fe0f}*\u{fe0f}*\u{fe0f}", 4), "*\u{fe0f}*…");
        assert_eq!(shortened("*\u{fe0f}*\u{fe0f}", 1), "…");
    }

    #[test]
    fn what_is_empty_everywhere_is_no_column() {
        assert_eq!(table(&[["a", "", "x"]]).render(Screen::pipe()), "a  x\n");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            rows in proptest::collection::vec(["\\PC{0,40}", "[0-9]{0,6}", "\\PC{0,40}"], 1..6),
            width in 1usize..120,
        ) {
            let rows: Vec<[&str; 3]> = rows.iter().map(|r| [&*r[0], &*r[1], &*r[2]]).collect();
            for line in table(&rows).render(Screen::wide(width)).lines() {
                prop_assert!(line.width() <= width, "{line:?} in {width}");
            }
        }
    }
}
