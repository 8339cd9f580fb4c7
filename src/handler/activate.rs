//! A skill's own tool: hands over its instructions.

use crate::app::App;
use crate::app::put_in_force;
use crate::app::{quoted, suggestion};
use crate::error::{Error, Result};
use crate::host::{mentions, ours};
use crate::request::Protocol;
use crate::response::Response;
use crate::script;
use crate::skill::{Activation, Listing, Skill};
use crate::sys::limits;

/// Activates the skill behind `tool`. `pre_tool` has done so already, unless the host has no
/// hooks or this is a direct call; doing it again changes nothing.
pub fn activate(app: &App, tool: &str, arguments: Option<&str>) -> Response {
    try_activate(app, tool, arguments).map_or_else(|e| Response::failure(&e), Response::text)
}

fn try_activate(app: &App, tool: &str, arguments: Option<&str>) -> Result<String> {
    let catalog = app.catalog_for(tool).unwrap_or_else(|| app.catalog());
    let skill = catalog.by_tool(tool).ok_or_else(|| {
        let text = format!("there is no tool `{}`", quoted(tool));
        Error::new(text).hint(suggestion(&catalog, tool))
    })?;
    put_in_force(app, skill, tool)?;
    let listing = Listing::of(&skill.dir, limits::LISTED_RESOURCES);
    let instructions = skill.instructions();
    let instructions = instructions.map_err(|why| Error::new(why.message))?;
    let notes = notes(app, skill, &instructions, &listing);
    Ok(Activation {
        skill,
        instructions: &instructions,
        listing: &listing,
        arguments,
        notes: &notes,
    }
    .render())
}

/// How to go on with this skill on this host.
fn notes(app: &App, skill: &Skill, instructions: &str, listing: &Listing) -> Vec<String> {
    let name = &skill.name;
    let mut notes = Vec::new();
    let paths = || {
        listing
            .resources
            .iter()
            .map(|resource| resource.path.as_path())
    };
    if let Some(path) = paths().find(|path| !script::is_script(path)) {
        let call = serde_json::json!({"skill": name, "path": path.display().to_string()});
        notes.push(format!(
            "To read one of its files: {} {call}",
            ours::READ_FILE
        ));
    }
    if let Some(path) = paths().find(|path| script::is_script(path)) {
        let call =
            serde_json::json!({"skill": name, "script": path.display().to_string(), "args": []});
        notes.push(format!(
            "To run one of its scripts: {} {call}",
            ours::RUN_SCRIPT
        ));
    }
    let older = app.protocol == Some(Protocol::Environment);
    notes.extend(mentions::mapping_line(instructions, older));
    notes
}
