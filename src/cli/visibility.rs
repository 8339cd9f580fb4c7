//! `enable` and `disable`: who sees a skill, written into the configuration.

use super::config::set;
use super::named;
use crate::app::App;
use crate::error::Result;

/// Shows a skill to the model, or only its name.
pub fn enable(app: &App, name: &str, name_only: bool) -> Result<String> {
    choose(app, name, if name_only { "name-only" } else { "on" })
}

/// Hides a skill, or only from the model.
pub fn disable(app: &App, name: &str, user: bool) -> Result<String> {
    choose(app, name, if user { "user" } else { "off" })
}

fn choose(app: &App, written: &str, visibility: &str) -> Result<String> {
    let catalog = app.catalog_naming(written);
    let entry = named::installed(app, &catalog, written)?;
    let name = entry.name();
    set(app, &["visibility", &name], visibility)?;
    Ok(format!(
        "`{name}` is {visibility} from the next start of chibi on\n"
    ))
}
