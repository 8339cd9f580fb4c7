//! A skill's own tool: hands over its instructions.

use crate::app::App;
use crate::app::put_in_force;
use crate::app::{quoted, suggestion};
use crate::error::{Error, Result};
use crate::response::Response;

/// Activates the skill behind `tool`. `pre_tool` has done so already, unless the host has no
/// hooks or this is a direct call; doing it again changes nothing.
pub fn activate(app: &App, tool: &str, arguments: Option<&str>) -> Response {
    try_activate(app, tool, arguments).map_or_else(|e| Response::failure(&e), Response::text)
}

fn try_activate(app: &App, tool: &str, arguments: Option<&str>) -> Result<String> {
    let catalog = app.catalog();
    let skill = catalog.by_tool(tool).ok_or_else(|| {
        let text = format!("there is no tool `{}`", quoted(tool));
        Error::new(text).hint(suggestion(&catalog, tool))
    })?;
    put_in_force(app, skill, tool)?;
    Ok(App::instructions(skill, arguments, app.protocol))
}
