//! `list` and `search`: installable skills.

use super::json;
use super::options::{Catalogue, SortAvailable};
use super::screen::{Paint, Screen};
use super::shop::{Shop, note};
use super::table::{Cell, Column, Table};
use crate::error::Result;
use crate::marketplace::Listed;
use crate::run_context::RunContext;
use crate::skill::{brief, one_line};

/// The length of a description that is enough for a model to choose.
const HOST_CHARS: usize = 100;

/// All installable skills.
pub fn list(ctx: &RunContext, catalogue: &Catalogue, screen: Screen) -> Result<String> {
    let shop = Shop::of_user(ctx).offline(catalogue.offline);
    let listed = shop.market(ctx).list(&mut note)?;
    show(listed, catalogue, screen, "The sources have no skills.\n")
}

/// The installable skills that match some words.
pub fn search(
    ctx: &RunContext,
    words: &[String],
    catalogue: &Catalogue,
    screen: Screen,
) -> Result<String> {
    let shop = Shop::of_user(ctx).offline(catalogue.offline);
    let listed = shop.market(ctx).search(words, &mut note)?;
    let none = format!(
        "No skill matches `{}`. `list` shows all.\n",
        one_line(&words.join(" "))
    );
    show(listed, catalogue, screen, &none)
}

fn show(
    mut listed: Vec<Listed>,
    catalogue: &Catalogue,
    screen: Screen,
    none: &str,
) -> Result<String> {
    match catalogue.sort {
        None => {}
        Some(SortAvailable::Name) => listed.sort_by(|a, b| a.name.cmp(&b.name)),
        Some(SortAvailable::Source) => {
            listed.sort_by(|a, b| (&a.source, &a.name).cmp(&(&b.source, &b.name)));
        }
    }
    if catalogue.json {
        return json::list("skills", &listed);
    }
    if listed.is_empty() {
        return Ok(none.to_owned());
    }
    let mut table = Table::new(
        vec![
            // It is the argument of `install`, so it must not be shortened.
            Column::new("SKILL"),
            Column::new("DESCRIPTION").least(12),
        ],
        &["DESCRIPTION"],
    );
    for skill in &listed {
        let description = if screen.is_host() {
            brief(&skill.description, HOST_CHARS)
        } else {
            one_line(&skill.description)
        };
        let reference = one_line(&skill.reference);
        let source = Cell::new(one_line(&skill.source)).paint(Paint::Dim);
        if catalogue.long {
            table.row(
                vec![Cell::new(reference), Cell::default()],
                vec![Cell::new(description), source],
            );
        } else {
            table.row(
                vec![Cell::new(reference), Cell::new(description)],
                Vec::new(),
            );
        }
    }
    Ok(table.render(screen))
}
