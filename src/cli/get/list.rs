//! `list`: what is installed; `search`: what can be.

use crate::cli::look::bill::bill;
use crate::cli::look::list_installed::{Order, list_installed};
use crate::cli::prelude::*;

/// The length of a description that is enough for a model to choose.
const HOST_CHARS: usize = 100;

/// List the installed skills and their problems
#[derive(Debug, clap::Args)]
pub struct List {
    /// The order
    #[arg(long, value_enum)]
    pub sort: Option<Order>,
    /// Show descriptions, directories, sources and problems in full
    #[arg(long, short)]
    pub long: bool,
    /// Print what is installed as a software bill, in JSON
    #[arg(long, conflicts_with_all = ["sort", "long"])]
    pub sbom: bool,
}

impl List {
    /// What is installed.
    pub fn run(&self, call: Call) -> Answer {
        if self.sbom {
            // Clap overlooks a common option that stands before the verb.
            if call.common.json {
                let text = "error: `--json` and `--sbom` are two formats: leave one of them out\n";
                return Err(Failure::Misused(text.to_owned()));
            }
            return Ok(bill(call.facts)?);
        }
        Ok(list_installed(call, self.sort, self.long)?)
    }
}

/// Search the skills that can be installed
#[derive(Debug, clap::Args)]
pub struct Search {
    /// Words to look for; all skills if omitted
    pub words: Vec<String>,
    /// Use cached data, without the network
    #[arg(long)]
    pub offline: bool,
    /// Show whole descriptions and sources
    #[arg(long, short)]
    pub long: bool,
}

impl Search {
    /// The matching skills in a table.
    pub fn run(&self, call: Call) -> Result<String> {
        let base = Layer::Plugin.base(call.facts);
        let market = market(call.facts, &base, self.offline);
        let listed = market.search(&self.words, &mut note)?;
        if call.common.json {
            return json::list("skills", &listed);
        }
        if listed.is_empty() && self.words.is_empty() {
            return Ok("The sources have no skills.\n".to_owned());
        }
        if listed.is_empty() {
            let words = one_line(&self.words.join(" "));
            return Ok(format!("No skill matches `{words}`. `search` shows all.\n"));
        }
        // The first is the argument of `install`, so it must not be shortened.
        let columns = vec![Column::new("SKILL", 0), Column::new("DESCRIPTION", 12)];
        let mut table = Table::new(columns, &["DESCRIPTION"]);
        for skill in &listed {
            let description = if call.screen.is_host {
                brief(&skill.description, HOST_CHARS)
            } else {
                one_line(&skill.description)
            };
            let mark = if skill.installed { "(installed) " } else { "" };
            let description = Cell::new(format!("{mark}{description}"));
            let reference = Cell::new(one_line(&skill.reference));
            if self.long || call.common.verbose {
                let source = Cell::new(one_line(&skill.source)).paint(Paint::Dim);
                table.row(vec![reference, Cell::default()], vec![description, source]);
            } else {
                table.row(vec![reference, description], Vec::new());
            }
        }
        Ok(table.render(call.screen))
    }
}
