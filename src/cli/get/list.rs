//! `list` and `search`: the skills that can be installed.

use clap::ValueEnum;

use crate::cli::market::{market, note};
use crate::cli::table::{Cell, Column, Table};
use crate::cli::{Paint, Screen, json};
use crate::error::Result;
use crate::marketplace::Listed;
use crate::run_context::RunContext;
use crate::skill::{brief, one_line};

/// The length of a description that is enough for a model to choose.
const HOST_CHARS: usize = 100;

/// List the skills that can be installed
#[derive(Debug, clap::Args)]
pub struct List {
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
    /// The order
    #[arg(long, value_enum)]
    pub sort: Option<Order>,
    /// Show whole descriptions and sources
    #[arg(long, short)]
    pub long: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The order of installable skills; by default that of the sources.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Order {
    /// By name
    Name,
    /// By source, then name
    Source,
}

impl List {
    /// All installable skills.
    pub fn run(&self, ctx: &RunContext, screen: Screen) -> Result<String> {
        let base = ctx.base(&ctx.dirs.plugin);
        let listed = market(ctx, &base, self.offline).list(&mut note)?;
        self.show(listed, screen, "The sources have no skills.\n")
    }

    /// The skills in a table, or `none` if there are none.
    fn show(&self, mut listed: Vec<Listed>, screen: Screen, none: &str) -> Result<String> {
        match self.sort {
            None => {}
            Some(Order::Name) => listed.sort_by(|a, b| a.name.cmp(&b.name)),
            Some(Order::Source) => {
                listed.sort_by(|a, b| (&a.source, &a.name).cmp(&(&b.source, &b.name)));
            }
        }
        if self.json {
            return json::list("skills", &listed);
        }
        if listed.is_empty() {
            return Ok(none.to_owned());
        }
        // The first is the argument of `install`, so it must not be shortened.
        let columns = vec![Column::new("SKILL", 0), Column::new("DESCRIPTION", 12)];
        let mut table = Table::new(columns, &["DESCRIPTION"]);
        for skill in &listed {
            let description = Cell::new(if screen.is_host {
                brief(&skill.description, HOST_CHARS)
            } else {
                one_line(&skill.description)
            });
            let reference = Cell::new(one_line(&skill.reference));
            if self.long {
                let source = Cell::new(one_line(&skill.source)).paint(Paint::Dim);
                table.row(vec![reference, Cell::default()], vec![description, source]);
            } else {
                table.row(vec![reference, description], Vec::new());
            }
        }
        Ok(table.render(screen))
    }
}

/// Search the skills that can be installed
#[derive(Debug, clap::Args)]
pub struct Search {
    /// Words to look for
    #[arg(required = true)]
    pub words: Vec<String>,
    #[command(flatten)]
    pub list: List,
}

impl Search {
    /// The matching skills.
    pub fn run(&self, ctx: &RunContext, screen: Screen) -> Result<String> {
        let base = ctx.base(&ctx.dirs.plugin);
        let listed = market(ctx, &base, self.list.offline).search(&self.words, &mut note)?;
        let words = one_line(&self.words.join(" "));
        let none = format!("No skill matches `{words}`. `list` shows all.\n");
        self.list.show(listed, screen, &none)
    }
}
