//! A skill's own tool: hands over its instructions.

use crate::app::App;
use crate::app::snapshot;
use crate::app::suggestion;
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
    let catalog = app.catalog();
    let skill = catalog.by_tool(tool).ok_or_else(|| {
        let text = format!("there is no tool `{}`", tool.escape_debug());
        Error::new(text).hint(suggestion(&catalog, tool))
    })?;
    let (store, session) = (app.store(), app.session());
    let snapshot = snapshot(skill, tool);
    let before = store.session(&session);
    let in_force = before
        .as_ref()
        .ok()
        .and_then(|before| before.activated.last());
    if in_force != Some(&snapshot) {
        let harmless =
            !snapshot.is_restricted() && before.is_ok_and(|before| !before.is_restricted());
        match store.activate(&session, snapshot) {
            // With nothing to enforce, a state that cannot be written is no reason to refuse.
            Err(error) if harmless => eprintln!("agent-skills: {error}"),
            result => {
                result?;
            }
        }
        app.record_activation(skill);
    }
    let listing = Listing::of(&skill.dir, limits::LISTED_RESOURCES);
    let notes = notes(app, skill, &listing);
    Ok(Activation {
        skill,
        listing: &listing,
        arguments,
        notes: &notes,
    }
    .render())
}

/// How to go on with this skill on this host.
fn notes(app: &App, skill: &Skill, listing: &Listing) -> Vec<String> {
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
    notes.extend(mentions::mapping_line(&skill.body, older));
    notes
}
