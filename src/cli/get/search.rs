//! `search`: the installable skills that match some words.

use super::list::List;
use crate::cli::Screen;
use crate::cli::market::{market, note};
use crate::error::Result;
use crate::run_context::RunContext;
use crate::skill::one_line;

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
