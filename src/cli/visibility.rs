//! `enable` and `disable`: change in the configuration who sees a skill.

use super::config::set;
use super::named;
use crate::catalog::Layer;
use crate::error::{Error, Result};
use crate::run_context::RunContext;

/// Shows a skill to the model, or only its name.
pub fn enable(ctx: &RunContext, name: &str, name_only: bool) -> Result<String> {
    choose(ctx, name, if name_only { "name-only" } else { "on" })
}

/// Hides a skill from everybody, or only from the model.
pub fn disable(ctx: &RunContext, name: &str, user: bool) -> Result<String> {
    choose(ctx, name, if user { "user" } else { "off" })
}

fn choose(ctx: &RunContext, written: &str, visibility: &str) -> Result<String> {
    let catalog = ctx.catalog_naming(written);
    let entry = named::installed(ctx, &catalog, written)?;
    let name = entry.name();
    let same_name = catalog.rivals(entry).chain([entry]);
    if same_name
        .into_iter()
        .any(|entry| entry.layer == Layer::Enterprise)
    {
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
