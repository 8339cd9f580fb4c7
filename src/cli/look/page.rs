//! `audit --summary --html`: the summary as one page of tables that needs nothing else: no network, no
//! script, no font, no image. Names in it are strangers' and are escaped; should one slip through, the
//! page forbids everything but its own style.

use std::cmp::Reverse;
use std::fmt::Write as _;

use super::figures::Tally;
use super::figures::{DAY, Figures, Summary};
use crate::skill::shown_name;
use crate::sys::Moment;
use crate::sys::text::count;

const STYLE: &str = include_str!("page.css");
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Rows of a table, those with most first.
const ROWS: usize = 100;

/// A row of a table: what it is about, and its figures.
type Row = (String, Vec<String>);

/// The page.
pub fn page(summary: &Summary) -> String {
    let period = match summary.period {
        Some((first, last)) => format!("{} to {}", first.local(), last.local()),
        None => "No events are recorded".to_owned(),
    };
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Use of skills</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <h1>Use of skills</h1>\n<p>{period}. Events: {}; delivered again and not counted again: {}.</p>\n",
        summary.events, summary.repeated
    );
    let all = [("All", &summary.all)].into_iter();
    text += &table("In all", &FIGURES, &all.map(figures).collect::<Vec<_>>());
    text += &of_each("Skill", &summary.skills);
    let rules = summary.rules.rows();
    let mut rules: Vec<_> = rules.map(|(name, times)| (name, *times)).collect();
    rules.sort_by_key(|(_, times)| Reverse(*times));
    let rules = rules.into_iter();
    let rules = rules.map(|(name, times)| (name.to_owned(), vec![times.to_string()]));
    text += &table("Refused by", &["Times"], &rules.collect::<Vec<_>>());
    let unused = summary.never_used();
    let unused: Vec<Row> = unused.map(|name| (name.to_owned(), Vec::new())).collect();
    text += &table("Installed here and never used", &[], &unused);
    text += &of_each("Machine", &summary.machines);
    text += &of_each("Agent", &summary.hosts);
    text += &of_each("Model", &summary.models);
    let days = summary.days.iter().rev().map(|(day, of)| {
        let cells = [of.activations, of.refusals].map(|number| number.to_string());
        (date(*day), cells.to_vec())
    });
    text += &table(
        "Day",
        &["Activations", "Refusals"],
        &days.collect::<Vec<_>>(),
    );
    let _ = write!(
        text,
        "<p>Written by agent-skills {} on {} from the audit log. Days are those of UTC; tokens are \
         estimated.</p>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        Moment::now().local()
    );
    text
}

/// The headings of [`figures`].
const FIGURES: [&str; 8] = [
    "Activations",
    "Refusals",
    "Of paths",
    "Scripts",
    "Succeeded",
    "Scripts read",
    "Tokens",
    "Last used",
];

fn figures((name, one): (&str, &Figures)) -> Row {
    let numbers = [
        one.activations,
        one.refusals,
        one.path_refusals,
        one.scripts,
        one.scripts_succeeded,
        one.script_reads,
        one.tokens,
    ];
    let mut cells: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    cells.push(
        one.last_used
            .map_or_else(String::new, |last| date(last.0 / DAY)),
    );
    (name.to_owned(), cells)
}

fn of_each(title: &str, tally: &Tally<Figures>) -> String {
    let rows = tally.rows();
    let mut used: Vec<_> = rows.filter(|(_, one)| one.last_used.is_some()).collect();
    used.sort_by_key(|(_, one)| Reverse(one.activations + one.refusals));
    table(
        title,
        &FIGURES,
        &used.into_iter().map(figures).collect::<Vec<_>>(),
    )
}

/// The rows under a heading for each column; nothing without rows.
fn table(title: &str, columns: &[&str], rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("<table>\n<tr><th>{title}</th>");
    for column in columns {
        let _ = write!(text, "<th>{column}</th>");
    }
    text += "</tr>\n";
    for (name, cells) in rows.iter().take(ROWS) {
        let _ = write!(text, "<tr><td><bdi>{}</bdi></td>", escaped(name));
        for cell in cells {
            let _ = write!(text, "<td>{cell}</td>");
        }
        text += "</tr>\n";
    }
    text += "</table>\n";
    if rows.len() > ROWS {
        let more = count(rows.len() - ROWS, "row");
        let _ = writeln!(text, "<p>{more} more, not shown.</p>");
    }
    text
}

fn date(day: u64) -> String {
    Moment(day.saturating_mul(DAY)).to_string()[..10].to_owned()
}

/// Text of others between tags.
fn escaped(text: &str) -> String {
    let text = shown_name(text).replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_stays_text() {
        let safe = escaped("</style><script>\u{202e}x\u{0}&");
        assert!(!safe.contains(['<', '>', '\u{202e}', '\u{0}']), "{safe}");
        assert!(safe.starts_with("&lt;/style&gt;"), "{safe}");
    }
}
