//! The charts of the page, as SVG without script. Their texts stand beside them as HTML, which does
//! not shrink with them on a phone.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::figures::Day;
use crate::skill::shown_name;

/// The most columns of a chart over time: beyond it, several days share one.
const COLUMNS: u64 = 62;
/// The most days of a chart over time.
pub const SHOWN: u64 = 366;
const HEIGHT: u64 = 100;

/// Text of others between tags or in a quoted attribute.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in shown_name(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A bar whose parts are shares of `whole`, each in a colour of the style sheet. Its figures stand
/// beside it, so it is left out where a page is read aloud.
pub fn bar(parts: &[(u64, &str)], whole: u64) -> String {
    let mut text = String::from(
        "<svg class=\"bar\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
    );
    let mut x = 0;
    for (value, class) in parts.iter().filter(|(value, _)| *value > 0) {
        // What happened at all is visible.
        let width = share(*value, whole.max(1), 1000).max(6);
        let _ = write!(
            text,
            "<rect class=\"{class}\" x=\"{x}\" width=\"{width}\" height=\"10\"/>"
        );
        x += width;
    }
    text + "</svg>"
}

fn share(value: u64, whole: u64, of: u64) -> u64 {
    let share = u128::from(value) * u128::from(of) / u128::from(whole);
    share.try_into().unwrap_or(of)
}

/// One column of a chart over time: some days, by their numbers, and what happened in them.
#[derive(Debug)]
pub struct Column {
    pub first: u64,
    pub last: u64,
    pub sum: Day,
}

/// The last [`SHOWN`] days until `today` as columns of one or more days each. A wrong clock may have
/// written others.
pub fn columns(days: &BTreeMap<u64, Day>, today: u64) -> Vec<Column> {
    let mut until = days.range(..=today);
    let Some((&last, _)) = until.next_back() else {
        return Vec::new();
    };
    let earliest = last.saturating_sub(SHOWN - 1);
    let first = days.range(earliest..).next().map_or(last, |(day, _)| *day);
    let each = (last - first + 1).div_ceil(COLUMNS);
    let mut columns = Vec::new();
    let mut from = first;
    while from <= last {
        let to = (from + each - 1).min(last);
        let mut sum = Day::default();
        for day in days.range(from..=to).map(|(_, day)| day) {
            sum.activations += day.activations;
            sum.refusals += day.refusals;
        }
        columns.push(Column {
            first: from,
            last: to,
            sum,
        });
        from += each;
    }
    columns
}

/// Activations upon refusals, a column for each of `columns`; `title` and `description` are read
/// aloud.
pub fn over_time(columns: &[Column], title: &str, description: &str) -> String {
    let highest = columns
        .iter()
        .map(|one| one.sum.activations + one.sum.refusals);
    let highest = highest.max().unwrap_or(0).max(1);
    let width = columns.len().max(7) * 10;
    let mut text = format!(
        "<svg class=\"days\" role=\"img\" aria-labelledby=\"t1 d1\" viewBox=\"0 0 {width} {HEIGHT}\" \
         preserveAspectRatio=\"none\"><title id=\"t1\">{}</title><desc id=\"d1\">{}</desc>",
        escaped(title),
        escaped(description)
    );
    for (at, Column { sum: day, .. }) in columns.iter().enumerate() {
        let x = at * 10 + 1;
        let mut top = HEIGHT;
        for (value, class) in [(day.refusals, "no"), (day.activations, "use")] {
            if value > 0 {
                let height = share(value, highest, HEIGHT - 2).max(1);
                top = top.saturating_sub(height);
                let _ = write!(
                    text,
                    "<rect class=\"{class}\" x=\"{x}\" y=\"{top}\" width=\"8\" height=\"{height}\"/>"
                );
            }
        }
    }
    text + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_stays_text() {
        let hostile = "</style><script>\u{202e}x\u{0}'\"&";
        let safe = escaped(hostile);
        assert!(
            !safe.contains(['<', '>', '"', '\'', '\u{202e}', '\u{0}']),
            "{safe}"
        );
        assert!(safe.starts_with("&lt;/style&gt;"), "{safe}");
    }

    #[test]
    fn many_days_share_columns_and_none_is_lost() {
        let day = |activations| Day {
            activations,
            refusals: 1,
        };
        for days in [1, 7, 62, 63, 300] {
            let all: BTreeMap<_, _> = (1..=days)
                .filter(|day| day % 3 == 1)
                .map(|at| (at, day(2)))
                .collect();
            let columns = columns(&all, 1000);
            assert!(columns.len() <= 62, "{}", columns.len());
            let sum: u64 = columns.iter().map(|one| one.sum.activations).sum();
            assert_eq!(sum, 2 * all.len() as u64);
        }
        // A wrong clock costs neither memory nor the view of the others.
        let wrong = [0, 20_000, 20_001, 4_000_000].map(|at| (at, day(1)));
        assert_eq!(columns(&BTreeMap::from(wrong), 20_010).len(), 2);
        assert!(columns(&BTreeMap::new(), 1).is_empty());
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(123), "123");
    }
}
