//! `disable`: the opposite of `enable`.

use super::enable::set_visibility;
use crate::error::Result;
use crate::run_context::RunContext;

/// Hide a skill from the model and from people
#[derive(Debug, clap::Args)]
pub struct Disable {
    /// The skill's name
    pub name: String,
    /// Hide it from the model only
    #[arg(long)]
    pub user: bool,
}

impl Disable {
    /// Hides the skill from everybody, or only from the model.
    pub fn run(&self, ctx: &RunContext) -> Result<String> {
        let visibility = if self.user { "user" } else { "off" };
        set_visibility(ctx, &self.name, visibility)
    }
}
