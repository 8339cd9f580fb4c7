//! `audit --summary --html`: the summary as one page that needs nothing else: no network, no script,
//! no font, no image. Names in it are strangers' and are escaped; should one slip through, the page
//! forbids everything but its own style.

use std::fmt::Write as _;

use super::chart::{Column, bar, columns, escaped, grouped, over_time};
use super::figures::{DAY, DURATIONS, Figures, Summary};
use super::tally::Tally;
use crate::sys::Moment;
use crate::sys::text::count;

const STYLE: &str = include_str!("page.css");
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Rows of a table, those with most first.
const ROWS: usize = 100;
/// Names of skills that were never used.
const UNUSED: usize = 300;

/// The page.
pub fn page(summary: &Summary) -> String {
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Use of skills</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    );
    text += &head(summary);
    text += "<main>\n";
    text += &tiles(summary);
    text += &time(summary);
    text += &of_each("Skills", "Skill", "", &summary.skills);
    text += "<div class=\"pair\">\n";
    text += &counted(
        "Refusals by rule",
        "What refused a call: an entry with its source, or why there was none.",
        "Rule",
        "no",
        &summary.rules,
    );
    text += &durations(summary);
    text += "</div>\n<div class=\"pair\">\n";
    text += &counted("How scripts ended", "", "End", "use", &summary.exits);
    text += &never_used(summary);
    text += "</div>\n";
    let later = [
        ("Machines", "Machine", "", &summary.machines),
        ("Agents", "Agent", "", &summary.hosts),
        (
            "Models",
            "Model",
            "Of those events whose agent tells the model.",
            &summary.models,
        ),
    ];
    for (title, column, note, tally) in later {
        if tally.rows().next().is_some() {
            text += &of_each(title, column, note, tally);
        }
    }
    text += "</main>\n";
    let _ = write!(
        text,
        "<footer>Written by agent-skills {} on {} from the audit log. Days are those of UTC; \
         tokens are estimated.</footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        Moment::now().local()
    );
    text
}

fn head(summary: &Summary) -> String {
    let period = match summary.period {
        Some((first, last)) => format!("{} to {}", first.local(), last.local()),
        None => "No events are recorded".to_owned(),
    };
    let machines = summary.machines.rows().count();
    let mut text = format!(
        "<header>\n<h1>Use of skills</h1>\n<p>{period} · {} · {}",
        plural(summary.events, "event"),
        count(machines, "machine")
    );
    if summary.repeated > 0 {
        let again = plural(summary.repeated, "event");
        let _ = write!(text, " · {again} delivered again, not counted again");
    }
    text + "</p>\n</header>\n"
}

fn plural(number: u64, thing: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {thing}{s}", grouped(number))
}

fn tiles(summary: &Summary) -> String {
    let all = &summary.all;
    let rows = summary.skills.rows();
    let used = rows.filter(|(_, one)| one.last_used.is_some()).count();
    let failed = all.scripts.saturating_sub(all.scripts_succeeded);
    let unused = summary.never_used().count();
    let tiles = [
        (
            "activations",
            grouped(all.activations),
            plural(used as u64, "skill"),
        ),
        (
            "refusals",
            grouped(all.refusals),
            format!("{} of paths", grouped(all.path_refusals)),
        ),
        (
            "scripts run",
            grouped(all.scripts),
            format!("{} did not succeed", grouped(failed)),
        ),
        (
            "scripts read",
            grouped(all.script_reads),
            "instead of run".to_owned(),
        ),
        (
            "tokens handed over",
            rounded(all.tokens),
            "estimated".to_owned(),
        ),
        (
            "never used",
            grouped(unused as u64),
            "of what is installed here".to_owned(),
        ),
    ];
    let mut text = String::from("<dl class=\"tiles\">\n");
    for (name, number, note) in tiles {
        let _ = writeln!(
            text,
            "<div><dt>{name}</dt><dd>{number}</dd><small>{note}</small></div>"
        );
    }
    text + "</dl>\n"
}

/// Three digits are what an estimate has.
fn rounded(number: u64) -> String {
    let units = [(1_000_000_000, "G"), (1_000_000, "M"), (10_000, "k")];
    let Some((unit, name)) = units.into_iter().find(|(unit, _)| number >= *unit) else {
        return grouped(number);
    };
    let unit = if name == "k" { 1000 } else { unit };
    let (whole, tenth) = (number / unit, number % unit * 10 / unit);
    if whole < 100 {
        format!("{whole}.{tenth} {name}")
    } else {
        format!("{} {name}", grouped(whole))
    }
}

fn section(title: &str, note: &str, class: &str, content: &str) -> String {
    let note = if note.is_empty() {
        String::new()
    } else {
        format!("<p>{note}</p>\n")
    };
    format!("<section class=\"{class}\">\n<h2>{title}</h2>\n{note}{content}</section>\n")
}

fn date(day: u64) -> String {
    Moment(day.saturating_mul(DAY)).to_string()[..10].to_owned()
}

fn time(summary: &Summary) -> String {
    let columns = columns(&summary.days, Moment::now().0 / DAY + 1);
    let (Some(first), Some(last)) = (columns.first(), columns.last()) else {
        return section("Over time", "Nothing was activated or refused.", "", "");
    };
    let (first, until) = (date(first.first), date(last.last));
    let of = |get: fn(&Column) -> u64| columns.iter().map(get).sum::<u64>();
    let (uses, refusals) = (of(|one| one.sum.activations), of(|one| one.sum.refusals));
    let both = format!(
        "{} and {}",
        plural(uses, "activation"),
        plural(refusals, "refusal")
    );
    let highest = columns
        .iter()
        .map(|one| one.sum.activations + one.sum.refusals)
        .max();
    let mut text = String::from("<ul class=\"key\">");
    for (class, name) in [("use", "activations"), ("no", "refusals")] {
        let _ = write!(
            text,
            "<li><svg viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect class=\"{class}\" width=\"1\" \
             height=\"1\"/></svg>{name}</li>"
        );
    }
    let _ = writeln!(
        text,
        "<li>highest: {}</li></ul>",
        grouped(highest.unwrap_or(0))
    );
    let told = format!(
        "{both} from {first} to {until}, in {}",
        count(columns.len(), "column")
    );
    text += &over_time(&columns, "Activations and refusals over time", &told);
    let _ = write!(
        text,
        "\n<div class=\"axis\"><span>{first}</span><span>{until}</span></div>\n\
         <details><summary>The same as a table</summary>\n"
    );
    let rows = columns
        .iter()
        .filter(|one| one.sum.activations + one.sum.refusals > 0);
    let rows = rows.map(|one| {
        let days = if one.first == one.last {
            date(one.first)
        } else {
            format!("{} to {}", date(one.first), date(one.last))
        };
        let cells = [one.sum.activations, one.sum.refusals].map(grouped);
        (days, cells.to_vec())
    });
    text += &table(&["Days", "Activations", "Refusals"], "", rows);
    let left = (summary.all.activations + summary.all.refusals).saturating_sub(uses + refusals);
    let note = if left == 0 {
        String::new()
    } else {
        format!(
            "{} at other times, of which some may be a clock’s fault, not shown.",
            grouped(left)
        )
    };
    section("Over time", &note, "", &(text + "</details>\n"))
}

/// A table with a heading for each column, of rows whose first cell is HTML already. On a phone a
/// `wide` one puts each row below its name, which costs browsers the table's meaning unless it is
/// said as roles.
fn table(
    columns: &[&str],
    class: &str,
    rows: impl Iterator<Item = (String, Vec<String>)>,
) -> String {
    let mut text = format!(
        "<table role=\"table\" class=\"{class}\">\n<thead role=\"rowgroup\"><tr role=\"row\">"
    );
    for column in columns {
        let _ = write!(
            text,
            "<th role=\"columnheader\" scope=\"col\">{column}</th>"
        );
    }
    text += "</tr></thead>\n<tbody role=\"rowgroup\">\n";
    for (name, cells) in rows {
        let _ = write!(
            text,
            "<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">{name}</th>"
        );
        for (cell, column) in cells.iter().zip(&columns[1..]) {
            let _ = write!(text, "<td role=\"cell\" data-of=\"{column}\">{cell}</td>");
        }
        text += "</tr>\n";
    }
    text + "</tbody>\n</table>\n"
}

fn named(name: &str, bar: &str) -> String {
    format!("<bdi>{}</bdi>{bar}", escaped(name))
}

fn more(shown: usize, all: usize) -> String {
    if all > shown {
        format!(
            "<p>The {} with fewer are not shown.</p>\n",
            count(all - shown, "row")
        )
    } else {
        String::new()
    }
}

fn of_each(title: &str, column: &str, note: &str, tally: &Tally<Figures>) -> String {
    let mut all: Vec<_> = tally
        .rows()
        .filter(|(_, one)| one.last_used.is_some())
        .collect();
    all.sort_by_key(|(_, one)| std::cmp::Reverse(one.activations + one.refusals));
    let most = all
        .iter()
        .map(|(_, one)| one.activations + one.refusals)
        .max();
    if all.is_empty() {
        return section(title, "None was used.", "", "");
    }
    let rows = all.iter().take(ROWS).map(|(name, one)| {
        let parts = [(one.activations, "use"), (one.refusals, "no")];
        let succeeded = (one.scripts_succeeded * 100).checked_div(one.scripts);
        let cells = vec![
            grouped(one.activations),
            grouped(one.refusals),
            grouped(one.scripts),
            succeeded.map_or_else(|| "–".to_owned(), |share| format!("{share} %")),
            rounded(one.tokens),
            one.last_used
                .map(|last| date(last.0 / DAY))
                .unwrap_or_default(),
        ];
        (named(name, &bar(&parts, most.unwrap_or(0))), cells)
    });
    let columns = [
        column,
        "Activations",
        "Refusals",
        "Scripts",
        "Succeeded",
        "Tokens",
        "Last used",
    ];
    let text = table(&columns, "wide", rows) + &more(ROWS, all.len());
    section(title, note, "long", &text)
}

fn counted(title: &str, note: &str, column: &str, class: &str, tally: &Tally<u64>) -> String {
    let mut all: Vec<_> = tally.rows().collect();
    all.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
    let most = all.first().map_or(0, |(_, times)| **times);
    if all.is_empty() {
        return section(title, "None.", "", "");
    }
    let rows = all.iter().take(ROWS).map(|(name, times)| {
        let bar = bar(&[(**times, class)], most);
        (named(name, &bar), vec![grouped(**times)])
    });
    let text = table(&[column, "Times"], "", rows) + &more(ROWS, all.len());
    section(title, note, "long", &text)
}

fn durations(summary: &Summary) -> String {
    let each = || summary.durations.iter().zip(DURATIONS);
    let most = each().map(|((good, bad), _)| good + bad).max().unwrap_or(0);
    if most == 0 {
        return section("Scripts by duration", "None has run.", "", "");
    }
    let rows = each().map(|(&(good, bad), (_, name))| {
        let bar = bar(&[(good, "ok"), (bad, "no")], most);
        (named(name, &bar), vec![grouped(good), grouped(bad)])
    });
    section(
        "Scripts by duration",
        "",
        "",
        &table(&["Duration", "Succeeded", "Failed"], "", rows),
    )
}

fn never_used(summary: &Summary) -> String {
    let unused: Vec<&str> = summary.never_used().collect();
    if unused.is_empty() {
        return section("Never used", "Every installed skill was used.", "", "");
    }
    let mut text = String::from("<ul class=\"names\">");
    for name in unused.iter().take(UNUSED) {
        let _ = write!(text, "<li><bdi>{}</bdi></li>", escaped(name));
    }
    text += "</ul>\n";
    let note = "Installed here, without an event in these logs.";
    section(
        "Never used",
        note,
        "long",
        &(text + &more(UNUSED, unused.len())),
    )
}
