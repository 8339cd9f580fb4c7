//! `enable` and `disable`: who sees a skill, in the configuration.

use crate::catalog::Layer;
use crate::cli::named::installed;
use crate::cli::set_up::config::set;
use crate::error::{Error, Result};
use crate::run_context::RunContext;

/// Show a skill to the model
#[derive(Debug, clap::Args)]
pub struct Enable {
    /// The skill's name
    pub name: String,
    /// Show only its name
    #[arg(long)]
    pub name_only: bool,
}

impl Enable {
    /// Shows the skill to the model, or only its name.
    pub fn run(&self, ctx: &RunContext) -> Result<String> {
        let visibility = if self.name_only { "name-only" } else { "on" };
        set_visibility(ctx, &self.name, visibility)
    }
}

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

/// Sets the visibility of the skill `written`.
///
/// # Errors
/// When there is none, or it is the administrator's.
fn set_visibility(ctx: &RunContext, written: &str, visibility: &str) -> Result<String> {
    let catalog = ctx.catalog_naming(written);
    let entry = installed(ctx, &catalog, written)?;
    let name = entry.name();
    let mut same_name = catalog.rivals(entry).chain([entry]);
    if same_name.any(|entry| entry.layer == Layer::Enterprise) {
        let text = format!(
            "`{name}` is the administrator's, and a configuration hides or shows it to nobody"
        );
        return Err(Error::new(text).hint("ask the administrator of this machine"));
    }
    set(ctx, &["visibility", &name], visibility)?;
    Ok(format!(
        "`{name}` is {visibility} from the next start of chibi on\n"
    ))
}
