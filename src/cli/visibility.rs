//! `enable` and `disable`: change in the configuration who sees a skill.

use super::config::set;
use super::named;
use crate::catalog::Layer;
use crate::error::{Error, Result};
use crate::run_context::RunContext;

/// Shows a skill to the model, or only its name.
pub fn enable(app: &RunContext, name: &str, name_only: bool) -> Result<String> {
    choose(app, name, if name_only { "name-only" } else { "on" })
}

/// Hides a skill from everybody, or only from the model.
pub fn disable(app: &RunContext, name: &str, user: bool) -> Result<String> {
    choose(app, name, if user { "user" } else { "off" })
}

fn choose(app: &RunContext, written: &str, visibility: &str) -> Result<String> {
    let catalog = app.catalog_naming(written);
    let entry = named::installed(app, &catalog, written)?;
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
    set(app, &["visibility", &name], visibility)?;
    Ok(format!(
        "`{name}` is {visibility} from the next start of chibi on\n"
    ))
}
